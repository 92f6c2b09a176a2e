"""Building firmware: its files on disk, make, and how large the result is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparsegen.devices._toolchain import first_lines
from sparsegen.errors import FitError, ToolError
from sparsegen.files import write_all
from sparsegen.firmware.boards import Board
from sparsegen.firmware.make import run_make
from sparsegen.firmware.program import GATE


@dataclass(frozen=True)
class Firmware:
    """Firmware that was built in a folder."""

    board: Board
    folder: Path
    flash: int
    """Bytes of code and constants, examples included."""
    ram: int
    """Bytes of static data, and of stack where the board reserves one."""


def build(files: Mapping[str, bytes], board: Board, folder: Path, *, force: bool = False) -> Firmware:
    """Return the firmware made of ``files`` in ``folder``; an image that is too large is a FitError."""
    write_all(folder, files, gate=GATE, force=force)
    made = run_make(board, folder, "firmware", "--always-make")
    if made.returncode != 0:
        raise _build_error(board, made.stderr.decode(errors="replace"), folder)
    size = run_make(board, folder, "size").stdout.decode(errors="replace")
    text, data, bss = (int(number) for number in re.findall(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s", size, re.MULTILINE)[0])
    return Firmware(board, folder, text + data, data + bss)


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
    return FitError(
        f"the firmware is too large for board {board.name}: {need}; use fewer vectors or features, a projection, 8-bit "
        "integers, or a larger board",
        change={"dtype": "q7"},
    )
