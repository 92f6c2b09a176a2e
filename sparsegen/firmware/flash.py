"""Writing firmware to a real board: over which port, and what a tool's failure means."""

from __future__ import annotations

import re
from pathlib import Path

from sparsegen.devices._toolchain import first_lines
from sparsegen.errors import OptionError, ToolError
from sparsegen.firmware.boards import Board
from sparsegen.firmware.build import Firmware
from sparsegen.firmware.make import run_make

SERIAL_PORTS = ("ttyACM*", "ttyUSB*", "cu.usb*")
# What flashing tools say, and what it means.
SYMPTOMS = (
    (r"permission denied|access denied", "you may not open {where}: add yourself to its group (on Debian: dialout)"),
    (r"can't open device|no such file|resource busy", "{where} cannot be opened: is another program using it?"),
    (
        r"not in sync|not respond|timeout|timed out|no available debug probe|unable to find|no device found|not found",
        "it does not answer on {where}: check the cable, the port, and that it is this board",
    ),
)


def flash(firmware: Firmware, port: str | None) -> None:
    """Write the firmware to a real board; whatever goes wrong there is a sentence."""
    board = firmware.board
    finished = run_make(board, firmware.folder, "flash", *([] if port is None else [f"PORT={port}"]))
    if finished.returncode == 0:
        return
    said = (finished.stderr + finished.stdout).decode(errors="replace")
    where = f"port {port}" if port is not None else "USB"
    for pattern, meaning in SYMPTOMS:
        telling = [line.strip() for line in said.splitlines() if re.search(pattern, line, re.IGNORECASE)]
        if telling:
            told = meaning.format(where=where)
            raise ToolError(f"board {board.name} was not flashed: {told}; the tool says: {telling[0]}")
    raise ToolError(f"board {board.name} was not flashed; the tool says: {first_lines(said, firmware.folder)}")


def check_access(board: Board, port: str | None, *, emulated: bool) -> None:
    """Raise an error where the board cannot be emulated, or flashed over this port, before anything is built."""
    if emulated:
        if port is not None:
            raise OptionError("an emulated board has no port; leave the port out", change={"port": ""})
    elif not board.flashers:
        raise OptionError(
            f"board {board.name} has no tool that flashes it; run the firmware in its emulator",
            change={"emulated": ""},
        )
    elif board.serial_flash:
        _check_port(board, port)
    elif port is not None:
        raise OptionError(
            f"board {board.name} is flashed over its own USB debugger; leave the port out", change={"port": ""}
        )
    reason = board.missing(emulate=emulated)
    if reason is not None:
        raise ToolError(f"board {board.name} cannot be {'emulated' if emulated else 'flashed'} here: {reason}")


def _check_port(board: Board, port: str | None) -> None:
    there = sorted(str(path) for pattern in SERIAL_PORTS for path in Path("/dev").glob(pattern))
    found = f"here: {', '.join(there)}" if there else "none is plugged in here"
    if port is None:
        raise OptionError(
            f"board {board.name} is flashed over a serial port; name it ({found}), or run the firmware in the emulator",
            change={"port": "/dev/ttyACM0", "emulated": ""},
        )
    if not re.fullmatch(r"[A-Za-z0-9_./:-]+", port):
        raise OptionError(f"{port!r} is not the name of a serial port; one looks like /dev/ttyACM0 or COM3")
    if "/" in port and not Path(port).exists():
        raise OptionError(
            f"there is no port {port} ({found}); plug the board in, or run the firmware in the emulator",
            change={"emulated": ""},
        )
