"""Boards, one family per file: the tools that build firmware for them, emulate it, and write it to a real one."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass

from sparsegen.devices import Profile
from sparsegen.registry import Registry


@dataclass(frozen=True)
class Board:
    """A board to build firmware for; how it is built, run and flashed is in its family's ``board.mk``."""

    name: str
    """The family's ``board.mk`` uses the same name."""
    description: str
    device: str
    """The device whose inner loops its model gets."""
    family: str
    """Folder under firmware_demo/support."""
    compiler: str
    emulator: str
    flashers: tuple[str, ...]
    """Programs that write firmware to the board, any one of which will do; empty where it can only be emulated."""
    packages: str
    """Debian's packages of all these tools."""
    part: Profile
    """Its microcontroller: clock, flash and RAM."""
    boot_loader_bytes: int = 0
    """Flash that a boot loader occupies."""
    serial_flash: bool = False
    """Whether it is flashed over a serial port, which has to be named."""

    @property
    def flash_bytes(self) -> int:
        """Flash that a program may use."""
        return self.part.flash_bytes - self.boot_loader_bytes

    @property
    def ram_bytes(self) -> int:
        """RAM that a program may use, its stack included."""
        return self.part.ram_bytes

    def missing(self, *, emulate: bool = True) -> str | None:
        """Return what to install to build firmware and emulate (or flash) it, or ``None`` where nothing is missing."""
        absent = _absent(["make", self.compiler, *([self.emulator] if emulate else [])])
        if not emulate and len(_absent(self.flashers)) == len(self.flashers):
            absent.append(" or ".join(self.flashers))
        if not absent:
            return None
        return f"{' and '.join(absent)} not found; install them (Debian: apt-get install {self.packages})"


def _absent(programs: Iterable[str]) -> list[str]:
    return [program for program in programs if shutil.which(program) is None]


BOARDS: Registry[Board] = Registry("board", __name__)
