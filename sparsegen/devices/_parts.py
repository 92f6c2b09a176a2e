"""What each part of a prediction costs: instructions by the compiler's table of lines, and bytes of flash."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import Any

from sparsegen.devices._image import FLASH
from sparsegen.targets import Export
from sparsegen.targets.c.parts import PARTS, REST, table_parts

HELPERS = "helpers"
"""Code that is not the model's: software floating point and such, which the compiler adds."""


@dataclass(frozen=True)
class CodeParts:
    """One device's cost of a prediction, by part: all parts together are exactly what ``bench`` measures."""

    device: str
    dtype: str
    rows: int
    """Over how many rows instructions were counted."""
    counted: Mapping[str, int]
    """Instructions of all these rows, by part; those of software floating point belong to the part that calls it."""
    in_helpers: Mapping[str, int]
    """How many of them are in software floating point and such, by the part that calls it."""
    code: Mapping[str, int]
    """Bytes of machine code, by part, and of ``helpers``: software floating point, which the parts share."""
    tables: Mapping[str, int]
    """Bytes of constants, by part, and of ``helpers``."""

    @property
    def instructions(self) -> dict[str, float]:
        """Mean instructions of a prediction, by part."""
        return {part: self.counted.get(part, 0) / self.rows for part in PARTS}

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes of flash, code and tables together, by part, and of ``helpers``."""
        return {part: self.code.get(part, 0) + self.tables.get(part, 0) for part in (*PARTS, HELPERS)}


class PartOf:
    """Tells the part of the code that an address of an image belongs to."""

    def __init__(self, elf: bytes, name: str) -> None:
        from elftools.elf.elffile import ELFFile

        self.file: Any = ELFFile(io.BytesIO(elf))
        ranges = sorted(_ranges(self.file, f"{name}.c"))
        self._starts = [start for start, _, _ in ranges]
        self._ranges = ranges

    def __call__(self, address: int) -> str | None:
        """Return the part, or ``None`` where the code is not the model's."""
        at = bisect_right(self._starts, address) - 1
        return self._ranges[at][2] if at >= 0 and address < self._ranges[at][1] else None


def _ranges(file: Any, source: str) -> Iterator[tuple[int, int, str]]:
    """Yield where code begins and ends and the part that it is; code that merges several parts is of none."""
    dwarf = file.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        path = unit.get_top_DIE().attributes["DW_AT_name"].value.decode(errors="replace")
        if PureWindowsPath(path).name != source:  # whichever slashes it has
            continue
        program = dwarf.line_program_for_CU(unit)
        first = 0 if program.header.version >= 5 else 1
        names = [entry.name.decode(errors="replace") for entry in program.header.file_entry]
        last = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if last is not None and FLASH <= last.address < state.address:  # below are functions that were dropped
                part = names[last.file - first] if last.line else REST
                yield last.address, state.address, part if part in PARTS else REST
            last = None if state.end_sequence else state


class OwnBlock:
    """A block of instructions of the model: how often it ran, and its instructions by part."""

    def __init__(self, parts: list[str]) -> None:
        self.times = 0
        self.parts = Counter(parts)
        self.last = parts[-1]
        """The part that calls what runs next, if that is a helper."""


class PartTrace:
    """Counts the instructions of every part as blocks run: those of a helper for the part that called it."""

    def __init__(self, part_of: PartOf, addresses: Callable[[int, int], list[int]]) -> None:
        self._part_of = part_of
        self._addresses = addresses
        self._blocks: dict[tuple[int, int], OwnBlock | int] = {}
        self._caller = REST
        self.in_helpers: Counter[str] = Counter()
        """Instructions of helpers, by the part that called them."""

    def enter(self, address: int, size: int) -> None:
        """Count the block that begins at an address."""
        block = self._blocks.get((address, size))
        if block is None:
            block = self._blocks[address, size] = self._learn(address, size)
        if isinstance(block, int):
            self.in_helpers[self._caller] += block
        else:
            block.times += 1
            self._caller = block.last

    def end(self) -> None:
        """Note the return from a call."""
        self._caller = REST

    def _learn(self, address: int, size: int) -> OwnBlock | int:
        """Return a block of the model; how many instructions it has, if it is a helper's."""
        parts = [self._part_of(at) for at in self._addresses(address, size)]
        return len(parts) if all(part is None for part in parts) else OwnBlock([part or REST for part in parts])

    @property
    def counted(self) -> Counter[str]:
        """All instructions, by part."""
        found = Counter(self.in_helpers)
        for block in self._blocks.values():
            if isinstance(block, OwnBlock):
                found.update({part: block.times * number for part, number in block.parts.items()})
        return found


def weigh(part_of: PartOf, export: Export) -> tuple[Counter[str], Counter[str]]:
    """Return the bytes of code and of tables of an image, by part; together they are its flash."""
    from elftools.elf.constants import SH_FLAGS

    code, tables = Counter[str](), Counter[str]()
    symbols = list(part_of.file.get_section_by_name(".symtab").iter_symbols())
    for section in part_of.file.iter_sections():
        if section["sh_type"] != "SHT_PROGBITS" or not section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            continue
        begin, size = section["sh_addr"], section["sh_size"]
        if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
            helpers = _functions(symbols)
            for address in range(begin, begin + size):
                part = part_of(address)
                code[part or (HELPERS if address in helpers else REST)] += 1
            continue
        own = {
            s["st_value"]: (s.name, s["st_size"])
            for s in symbols
            if s["st_info"]["type"] == "STT_OBJECT" and begin <= s["st_value"] < begin + size
        }
        for symbol, length in own.values():
            found = {HELPERS: length}
            if symbol.startswith(f"{export.name}_"):
                found = table_parts(export.program, symbol.removeprefix(f"{export.name}_"), length)
            tables.update(found)
        tables[REST] += size - sum(length for _, length in own.values())
    return code, tables


def _functions(symbols: list[Any]) -> set[int]:
    """Return every address that belongs to a function."""
    spans = (
        (s["st_value"] & ~1, s["st_size"])
        for s in symbols
        if s["st_info"]["type"] == "STT_FUNC" and s["st_shndx"] != "SHN_UNDEF"
    )
    return {address for start, size in spans for address in range(start, start + size)}
