"""Boards, one family per file: what builds firmware for them, emulates it, and writes it to a real one."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass

from sparsegen.registry import Registry


@dataclass(frozen=True)
class Board:
    """A board that ``sparsegen flash`` knows; how it is built, run and flashed is in its family's ``board.mk``."""

    name: str
    """As the family's ``board.mk`` calls it too."""
    description: str
    device: str
    """The device whose inner loops suit it."""
    family: str
    """Folder under firmware_demo/support."""
    compiler: str
    emulator: str
    flashers: tuple[str, ...]
    """Programs of which any one writes the firmware to the board; none where it can only be emulated."""
    packages: str
    """Debian's names of all of these."""
    flash_bytes: int
    ram_bytes: int
    """What there is for a program, its stack included."""
    serial_flash: bool = False
    """Whether it is flashed over a serial port, which has to be named."""

    def missing(self, *, emulate: bool = True) -> str | None:
        """Return what to install to build the firmware and to emulate (or flash) it, or ``None`` where all is there."""
        absent = _absent(["make", self.compiler, *([self.emulator] if emulate else [])])
        if not emulate and len(_absent(self.flashers)) == len(self.flashers):
            absent.append(" or ".join(self.flashers))
        if not absent:
            return None
        return f"{' and '.join(absent)} not found; install them (Debian: apt-get install {self.packages})"


def _absent(programs: Iterable[str]) -> list[str]:
    return [program for program in programs if shutil.which(program) is None]


BOARDS: Registry[Board] = Registry("board", __name__)
