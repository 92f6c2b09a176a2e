"""An emulated microcontroller: calls functions of an image, counts instructions, measures the stack."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices._image import FLASH, RAM, Image, Segment
from sparsegen.devices._instructions import OTHER, Instruction
from sparsegen.devices._trace import Trace
from sparsegen.errors import ToolError

STACK = 0x3000_0000
STACK_BYTES = 0x10_0000
INPUT = 0x6000_0000
OUTPUT = 0x7000_0000
PROBABILITIES = 0x6800_0000
EXIT = 0x1F00_0000
REGION = 0x1000_0000
PAGE = 0x1000
PAINT = 0xA5
FLOAT = np.dtype(np.float32)
CALL_SECONDS = 120.0
"""The longest one call may take before it counts as runaway."""


@dataclass(frozen=True)
class Registers:
    """Unicorn's numbers for the registers that a C call uses."""

    stack: int
    link: int
    """Holds the address to return to when a function is entered."""
    counter: int
    arguments: tuple[int, int]
    result: int


class Processor(ABC):
    """What the emulator must know about a processor."""

    entry_bit: int
    """Set in the address of a function to select its instruction set (1 for Thumb)."""

    @abstractmethod
    def start(self) -> Any:
        """Return a fresh unicorn engine of this processor."""

    @abstractmethod
    def registers(self) -> Registers:
        """Return the registers of the processor's calling convention."""

    @abstractmethod
    def instruction_bytes(self, half_word: int) -> int:
        """Return the length of the instruction that begins with ``half_word``."""

    @abstractmethod
    def decode(self, code: bytes) -> list[Instruction | None]:
        """Return the instructions that begin ``code``, and ``None`` where it goes on with something unknown."""

    def instructions(self, code: bytes) -> list[Instruction]:
        """Return every instruction of a block, the unknown ones as such."""
        known = self.decode(code)
        if None not in known:
            return [instruction for instruction in known if instruction is not None]
        at = count = 0
        while at < len(code):
            at += self.instruction_bytes(int.from_bytes(code[at : at + 2], "little"))
            count += 1
        found = [instruction for instruction in known if instruction is not None]
        return found + [Instruction(OTHER, may_leave=True)] * (count - len(found))


def unicorn(module: str = "") -> Any:
    """Return the emulator's package or one of its modules, imported only once a device runs."""
    return importlib.import_module(f"unicorn{module}")


class Watcher(Protocol):
    """Is told what runs."""

    def enter(self, address: int, size: int) -> None:
        """Note that a block of instructions begins."""

    def end(self) -> None:
        """Note that a call has returned."""


class EmulatedProcessor:
    """One image loaded into one emulated processor.

    The row and the scores end exactly where their mapped pages end, so a function that reads or writes past either is
    stopped instead of computing with whatever lies there.
    """

    def __init__(
        self,
        processor: Processor,
        image: Image,
        row_bytes: int,
        n_outputs: int,
        score_dtype: np.dtype[Any] = FLOAT,
        *,
        probability_row: np.dtype[Any] | None = None,
        seconds: float = CALL_SECONDS,
    ) -> None:
        self._processor = processor
        self._registers = processor.registers()
        self._image = image
        self._seconds = seconds
        self._n_outputs = n_outputs
        self._score_dtype = score_dtype.newbyteorder("<")
        self._uc = processor.start()
        self.trace = Trace(lambda address, size: processor.instructions(bytes(self._uc.mem_read(address, size))))
        self._watchers: list[Watcher] = []
        read, write, execute = (getattr(unicorn(), f"UC_PROT_{right}") for right in ("READ", "WRITE", "EXEC"))
        for base, rights in ((FLASH, read | execute), (RAM, read | write)):
            self._load([part for part in image.segments if base <= part.address < base + REGION], base, rights)
        self._uc.mem_map(EXIT, PAGE, read | execute)
        self._uc.mem_map(STACK, STACK_BYTES, read | write)
        self._row = self._map_to_the_end(INPUT, row_bytes, read)
        self._scores = self._map_to_the_end(OUTPUT, 4 * n_outputs, read | write)
        self._probability_row = np.dtype((FLOAT, (0,))) if probability_row is None else probability_row
        self._probabilities = self._map_to_the_end(PROBABILITIES, self._probability_row.itemsize, read | write)

    def _load(self, segments: Sequence[Segment], base: int, rights: int) -> None:
        end = max((part.address + part.size for part in segments), default=base)
        self._uc.mem_map(base, pages(end - base), rights)
        for part in segments:
            self._uc.mem_write(part.address, part.content)

    def _map_to_the_end(self, base: int, size: int, rights: int) -> int:
        self._uc.mem_map(base, pages(size), rights)
        return base + pages(size) - size

    def write_row(self, row: NDArray[Any]) -> None:
        """Put one row where the next call reads it."""
        self._uc.mem_write(self._row, row.tobytes())

    def scores(self, function: str) -> NDArray[Any]:
        """Return what ``function(row, scores)`` writes."""
        self._call(function, (self._row, self._scores))
        return np.frombuffer(bytes(self._uc.mem_read(self._scores, 4 * self._n_outputs)), dtype=self._score_dtype)

    def probabilities(self, function: str) -> NDArray[Any]:
        """Return what ``function(row, probabilities)`` writes."""
        self._call(function, (self._row, self._probabilities))
        written = bytes(self._uc.mem_read(self._probabilities, self._probability_row.itemsize))
        return np.frombuffer(written, dtype=self._probability_row.base.newbyteorder("<"))

    def predict(self, function: str) -> int:
        """Return the result of ``function(row)``."""
        return self._call(function, (self._row,))

    def count_instructions(self) -> None:
        """Have ``trace`` count the blocks of instructions of every later call.

        An instruction that a Thumb IT skips is counted: the processor issues it, and it takes a cycle there too.
        """
        self.watch(self.trace)

    def watch(self, watcher: Watcher) -> None:
        """Tell ``watcher`` of every block of instructions that later calls enter, and of the end of each call."""

        def entered(uc: Any, address: int, size: int, _: Any) -> None:
            watcher.enter(address, size)

        self._uc.hook_add(unicorn().UC_HOOK_BLOCK, entered)
        self._watchers.append(watcher)

    def addresses(self, address: int, size: int) -> list[int]:
        """Return where each instruction of a block begins."""
        code, at, found = bytes(self._uc.mem_read(address, size)), 0, []
        while at < size:
            found.append(address + at)
            at += self._processor.instruction_bytes(int.from_bytes(code[at : at + 2], "little"))
        return found

    def paint_stack(self) -> None:
        """Fill the stack with a pattern that ``stack_used`` looks for later."""
        self._uc.mem_write(STACK, bytes([PAINT]) * STACK_BYTES)

    def stack_used(self) -> int:
        """Return the bytes between the top of the stack and the deepest byte written since it was painted."""
        stack = np.frombuffer(bytes(self._uc.mem_read(STACK, STACK_BYTES)), dtype=np.uint8)
        written = np.flatnonzero(stack != PAINT)
        return STACK_BYTES - int(written[0]) if len(written) else 0

    def _call(self, function: str, arguments: Sequence[int]) -> int:
        uc, registers, entry_bit = self._uc, self._registers, self._processor.entry_bit
        uc.reg_write(registers.stack, STACK + STACK_BYTES)
        uc.reg_write(registers.link, EXIT | entry_bit)
        for register, value in zip(registers.arguments, arguments, strict=False):
            uc.reg_write(register, value)
        begin = self._image.symbols[function] | entry_bit
        try:
            uc.emu_start(begin, EXIT, timeout=int(self._seconds * 1e6))
        except unicorn().UcError as error:
            where = uc.reg_read(registers.counter)
            raise ToolError(
                f"{function} crashed in the emulator at {where:#010x}: {error}; the generated code reads or writes "
                "outside its arrays, or uses an instruction the processor does not have"
            ) from error
        if uc.reg_read(registers.counter) & ~1 != EXIT:
            raise ToolError(f"{function} did not return within {self._seconds:g} s of emulation; try a smaller model")
        for watcher in self._watchers:
            watcher.end()
        result: int = uc.reg_read(registers.result)
        return result - (1 << 32) if result >> 31 else result


def pages(size: int) -> int:
    """Return ``size`` rounded up to whole pages, at least one."""
    return max(1, -(-size // PAGE)) * PAGE
