"""Bare-metal images: an export linked at fixed addresses, and what its ELF file holds."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparsegen.devices._toolchain import SECTION_FLAGS, TOOL_SECONDS, compile_with, standard, write_files, zig
from sparsegen.errors import ToolError
from sparsegen.targets import Export

FLASH = 0x0800_0000
RAM = 0x2000_0000
OPTIMISE = "-Os"
"""What firmware is usually built with. ``-O2`` duplicates the model's outer loop: on a Cortex-M4F, 60 % more code for
5 % fewer instructions, and more of both on processors without an FPU."""
KEEP_SYMBOLS = "-g"  # zig strips an image built with -Os otherwise; debug sections are not loaded and not counted

# clang for Arm leaves a 16-byte .ARM.exidx ("cannot unwind") even without unwind tables; nothing reads it.
LINKER_SCRIPT = f"""
EXTERN(%(roots)s)
SECTIONS {{
  . = {FLASH:#x};
  .text : {{ *(.text .text.*) }}
  .rodata : {{ *(.rodata .rodata.* .srodata .srodata.*) }}
  . = {RAM:#x};
  .data : {{ *(.data .data.* .sdata .sdata.*) }}
  .bss : {{ *(.bss .bss.* .sbss .sbss.* COMMON) }}
  /DISCARD/ : {{ *(.ARM.exidx* .ARM.extab* .eh_frame* .note.*) }}
}}
"""


@dataclass(frozen=True)
class Segment:
    """Bytes to load at an address; ``size`` exceeds the bytes where zeros follow."""

    address: int
    content: bytes
    size: int


@dataclass(frozen=True)
class Image:
    """A linked program: what to load, where its functions are, and what it costs."""

    segments: tuple[Segment, ...]
    symbols: dict[str, int]
    flash: int
    static_ram: int


def build_image(
    export: Export, machine_flags: Sequence[str], roots: Sequence[str], seconds: float = TOOL_SECONDS
) -> Image:
    """Return ``export`` built with a processor's compiler flags; the linker keeps only what ``roots`` reach."""
    return read_image(build_elf(export, machine_flags, roots, seconds))


def build_elf(
    export: Export, machine_flags: Sequence[str], roots: Sequence[str], seconds: float = TOOL_SECONDS
) -> bytes:
    """Return the ELF file of such an image, with its symbols and the compiler's table of lines."""
    with tempfile.TemporaryDirectory(prefix="sparsegen-") as name:
        folder = Path(name)
        sources = write_files(export, folder)
        script, path = folder / "sparsegen_link.ld", folder / "sparsegen_image.elf"
        script.write_text(LINKER_SCRIPT % {"roots": " ".join(roots)})
        link = [f"-Wl,-e,{roots[0]}", "-Wl,--gc-sections", f"-Wl,-T,{script}"]
        flags = [standard(export), OPTIMISE, KEEP_SYMBOLS, "-ffreestanding", *SECTION_FLAGS, f"-I{folder}"]
        flags += machine_flags  # last, so that they may override the others
        arguments = [*flags, *sources, "-o", str(path), *link]
        compile_with(zig(), arguments, folder, f"{export.name} ({export.target})", seconds)
        elf = path.read_bytes()
    symbols = read_image(elf).symbols
    absent = [symbol for symbol in roots if symbol not in symbols]
    if absent:
        raise ToolError(f"{export.name} ({export.target}) does not define the C function {absent[0]}; export it again")
    return elf


def read_image(elf: bytes) -> Image:
    """Return what an ELF file loads, names and costs."""
    from elftools.elf.constants import SH_FLAGS
    from elftools.elf.elffile import ELFFile

    file = ELFFile(io.BytesIO(elf))
    segments = tuple(
        Segment(part["p_vaddr"], part.data(), part["p_memsz"])
        for part in file.iter_segments("PT_LOAD")
        if part["p_memsz"]
    )
    table: Any = file.get_section_by_name(".symtab")
    symbols = {
        symbol.name: symbol["st_value"]
        for symbol in (table.iter_symbols() if table else ())
        if symbol["st_shndx"] != "SHN_UNDEF"
    }
    flash = static_ram = 0
    for section in file.iter_sections():
        if not section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            continue
        if section["sh_type"] == "SHT_PROGBITS":  # not notes, hashes or unwind tables; .data costs flash and RAM
            flash += section["sh_size"]
        if section["sh_flags"] & SH_FLAGS.SHF_WRITE:
            static_ram += section["sh_size"]
    return Image(segments, symbols, flash, static_ram)
