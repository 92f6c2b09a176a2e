"""The generated C, as it would be exported: coloured, folded, and to be copied."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.devices import DEVICES
from sparsegen.report.c_colours import Block, blocks
from sparsegen.report.html import fill, text_of
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject
from sparsegen.targets import PORTABLE

MOST_BYTES = 1 << 20
"""Source beyond which a page would be slow to open."""


@dataclass(frozen=True)
class File:
    """One file of the export."""

    name: str
    identifier: str
    size: str
    blocks: list[Block] | None
    """``None`` where it is too large to show."""
    is_open: bool


def section(subject: Subject) -> Section:
    """Return the header and the source, with the inner loops for the main device."""
    cost = subject.main_cost
    loops = PORTABLE if cost is None else DEVICES[cost.device].loops
    export = subject.exports[loops]
    names = [f"{subject.name}.h", f"{subject.name}.c"]
    files = [_file(name, export.files[name].decode()) for name in names]
    html = fill(
        "code.html.j2", files=files, loops=loops, device=None if cost is None else cost.device, usage=export.usage
    )
    return Section("code", "The C", html, scripts=(text_of("copy.js"),))


def _file(name: str, text: str) -> File:
    shown = blocks(text) if len(text) <= MOST_BYTES else None
    return File(name, f"file-{name.replace('.', '-')}", f"{len(text):,} bytes", shown, name.endswith(".h"))
