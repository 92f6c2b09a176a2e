"""Firmware around a model: generated, built, and run in an emulator or written to a real board.

How each family of boards is built, emulated and flashed is in the ``board.mk`` of firmware_demo/support, which the
demos use as well; a copy goes into the firmware's folder, which then needs sparsegen no more.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparsegen.arrays import Array
from sparsegen.devices import DEVICES, thin
from sparsegen.devices._toolchain import first_lines
from sparsegen.errors import FitError, OptionError, ToolError
from sparsegen.files import write_all
from sparsegen.firmware.boards import Board
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.selftest import make_selftest
from sparsegen.model import SparseModel
from sparsegen.targets import C_TYPES, Export
from sparsegen.targets._render import render
from sparsegen.verify import Exports, device_rows

MOST_EXAMPLES = 16
BUILD = "build"
MOST_SECONDS = 120
"""For any step, of which flashing over a serial line is the slowest."""
FRAMES = 192
"""Bytes of stack for return addresses, saved registers and local numbers."""
SHARED = ("board.h", "console.c", "rules.mk")
PORTS = ("ttyACM*", "ttyUSB*", "cu.usb*")
FEWER = "use fewer vectors or features, a projection, --dtype q7, or a larger board"
# What flashing tools say, and what it means.
SYMPTOMS = (
    (r"permission denied|access denied", "you may not open {where}: add yourself to its group (on Debian: dialout)"),
    (r"can't open device|no such file|resource busy", "{where} cannot be opened: is another program using it?"),
    (
        r"not in sync|not respond|timeout|timed out|no available debug probe|unable to find|no device found|not found",
        "it does not answer on {where}: check the cable, the port, and that it is this board",
    ),
)


@dataclass(frozen=True)
class Built:
    """Firmware on disk."""

    board: Board
    folder: Path
    flash: int
    """Bytes of code and constants, examples included."""
    ram: int
    """Bytes of static data, and of stack where the board reserves one."""


def support_folder() -> Path:
    """Return where the boards' own files are: inside an installed wheel, or in a checkout's firmware_demo."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_firmware"
    return installed if installed.is_dir() else package.parent / "firmware_demo" / "support"


def make_firmware(
    model: SparseModel, board: Board, numbers: Format = FLOAT32, rows: Array | None = None, name: str = "model"
) -> Mapping[str, bytes]:
    """Return the files of a complete program: model, examples (``rows``, or the model's own) and the board's files."""
    export = Exports(model, "c", name, numbers)[DEVICES[board.device].loops]
    examples = make_selftest(model).inputs if rows is None else thin(np.asarray(rows), MOST_EXAMPLES)
    inputs = device_rows(export, examples)
    values = {
        "name": name,
        "upper": name.upper(),
        "board": board.name,
        "family": board.family,
        "port_hint": " PORT=..." if board.serial_flash else "",
        "sources": export.sources,
        "input_type": C_TYPES[export.input_dtype.name],
        "examples": inputs.ravel(),
        "expected": _expected(model, export, examples),
        "stack_bytes": _stack_bytes(model, export),
    }
    support = support_folder()
    own = [f"{board.family}/{path.name}" for path in sorted((support / board.family).iterdir()) if path.is_file()]
    return {
        **{file: export.files[file] for file in (*export.sources, f"{name}.h")},
        "main.c": render("firmware/main.c.j2", **values),
        "Makefile": render("firmware/Makefile.j2", **values),
        **{f"support/{file}": (support / file).read_bytes() for file in (*SHARED, *own)},
    }


def _stack_bytes(model: SparseModel, export: Export) -> int:
    """Return the stack that the self-test needs at most: a row, what is read or scaled of it, projection, scores."""
    row = export.n_features * export.input_dtype.itemsize
    projected = 0 if model.transform.projection is None else 4 * len(model.transform.projection)
    return row + max(row, 2 * export.n_features) + projected + 8 * export.n_outputs + FRAMES


def _expected(model: SparseModel, export: Export, examples: Array) -> list[int]:
    if export.integer is None:
        return [int(index) for index in model.predict_index(examples)]
    return [int(index) for index in export.integer.predict_index(device_rows(export, examples))]


def build(files: Mapping[str, bytes], board: Board, folder: Path) -> Built:
    """Write the files into ``folder`` and build them there; an image that is too large is a FitError."""
    for part in dict.fromkeys(Path(name).parent for name in files):
        write_all(folder / part, {Path(n).name: content for n, content in files.items() if Path(n).parent == part})
    made = _make(board, folder, "firmware", "--always-make")
    if made.returncode != 0:
        raise _build_error(board, made.stderr.decode(errors="replace"), folder)
    size = _make(board, folder, "size").stdout.decode(errors="replace")
    text, data, bss = (int(number) for number in re.findall(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s", size, re.MULTILINE)[0])
    return Built(board, folder, text + data, data + bss)


def _build_error(board: Board, said: str, folder: Path) -> ToolError:
    excess = re.search(r"region [`'](?:FLASH|text)' overflowed by (\d+) bytes", said)
    if excess:
        need = f"it needs {int(excess[1]):,} bytes of flash more than the {board.flash_bytes:,} there are"
    elif re.search(r"region [`'](?:RAM|data)' overflowed|not within region [`'](?:RAM|data)'", said):
        need = f"its data and its stack need more than the {board.ram_bytes:,} bytes of RAM there are"
    elif re.search(r"size of array .* is too large", said):
        need = "it has a table of more than 32,767 bytes"
    else:
        return ToolError(f"the firmware does not build; the compiler says: {first_lines(said, folder)}")
    return FitError(f"the firmware is too large for board {board.name}: {need}; {FEWER}")


def emulate(built: Built) -> list[str]:
    """Return the lines that the firmware sends over the serial line in the emulator."""
    finished = _make(built.board, built.folder, "emulate")
    lines = [line.rstrip() for line in finished.stdout.decode(errors="replace").splitlines() if line.strip()]
    if finished.returncode != 0 or not any(" labels as in Python" in line for line in lines):
        said = first_lines(finished.stderr.decode(errors="replace") or "\n".join(lines), built.folder)
        raise ToolError(f"the firmware did not reach its end in {built.board.emulator}, which says: {said}")
    return lines


def succeeded(lines: Sequence[str]) -> bool:
    """Return whether the firmware passed its self-test and found every label that Python found."""
    same = re.findall(r"^(\d+) of (\d+) labels as in Python", "\n".join(lines), re.MULTILINE)
    return "self-test ok" in lines and [a for a, _ in same] == [b for _, b in same] != []


def flash(built: Built, port: str | None) -> None:
    """Write the firmware to a real board; whatever goes wrong there is a sentence."""
    board = built.board
    finished = _make(board, built.folder, "flash", *([] if port is None else [f"PORT={port}"]))
    if finished.returncode == 0:
        return
    said = (finished.stderr + finished.stdout).decode(errors="replace")
    where = f"port {port}" if port is not None else "USB"
    for pattern, meaning in SYMPTOMS:
        if re.search(pattern, said, re.IGNORECASE):
            told = meaning.format(where=where)
            raise ToolError(f"board {board.name} was not flashed: {told}; the tool says: {_telling(said, pattern)}")
    raise ToolError(f"board {board.name} was not flashed; the tool says: {first_lines(said, built.folder)}")


def _telling(said: str, pattern: str) -> str:
    return next(line.strip() for line in said.splitlines() if re.search(pattern, line, re.IGNORECASE))


def check_way(board: Board, port: str | None, *, emulated: bool) -> None:
    """Raise a sentence where the board cannot be reached in the way that was asked for, before anything is built."""
    if emulated:
        if port is not None:
            raise OptionError("--emulate needs no board and --port names one; give one of them")
    elif not board.flashers:
        raise OptionError(f"board {board.name} has no tool that flashes it; run the firmware with --emulate")
    elif board.serial_flash:
        _check_port(board, port)
    elif port is not None:
        raise OptionError(f"board {board.name} is flashed over its own USB debugger; leave --port out")
    reason = board.missing(emulate=emulated)
    if reason is not None:
        raise ToolError(f"board {board.name} cannot be {'emulated' if emulated else 'flashed'} here: {reason}")


def _check_port(board: Board, port: str | None) -> None:
    there = sorted(str(path) for pattern in PORTS for path in Path("/dev").glob(pattern))
    found = f"here: {', '.join(there)}" if there else "none is plugged in here"
    if port is None:
        raise OptionError(
            f"board {board.name} is flashed over a serial port; name it, such as --port /dev/ttyACM0 ({found}), or run "
            "the firmware with --emulate"
        )
    if not re.fullmatch(r"[A-Za-z0-9_./:-]+", port):
        raise OptionError(f"{port!r} is not the name of a serial port; one looks like /dev/ttyACM0 or COM3")
    if "/" in port and not Path(port).exists():
        raise OptionError(f"there is no port {port} ({found}); plug the board in, or run the firmware with --emulate")


def _make(board: Board, folder: Path, goal: str, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run make; where it does not end, what it has started ends with it."""
    command = ["make", "-s", goal, f"BOARD={board.name}", f"BUILD={BUILD}", "DEFINES=", *options]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},  # what the tools say is read
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=MOST_SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise ToolError(
                    f"board {board.name}: make {goal} did not end within {MOST_SECONDS} s; is the board connected, and "
                    "the model small enough?"
                ) from None
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
