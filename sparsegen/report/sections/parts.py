"""What each part of the C costs: bars of instructions and of flash for each device, and a table of the main one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparsegen.errors import SparsegenError
from sparsegen.report.axis import place
from sparsegen.report.figures import plural, whole
from sparsegen.report.html import fill
from sparsegen.report.parts_of_code import PARTS, CodeParts, code_parts, why_not
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

MOST_DEVICES = 4
WIDTH = 600.0
HELPERS = "helpers"
MEANING = {**PARTS, HELPERS: "software floating point, which the parts share"}
COLOURS = {name: f"c{k}" for k, name in enumerate(MEANING)}


@dataclass(frozen=True)
class Piece:
    """One part in a bar."""

    colour: str
    x: str
    width: str
    told: str


@dataclass(frozen=True)
class PartBar:
    """All parts of a prediction side by side."""

    device: str
    what: str
    total: str
    pieces: list[Piece]
    told: str


@dataclass(frozen=True)
class PartLine:
    """One part in the table."""

    name: str
    colour: str
    meaning: str
    instructions: str
    share: str
    code: str
    tables: str


def section(subject: Subject) -> Section | None:
    """Return the bars and the table; ``None`` where no device here can tell its parts."""
    main = subject.main_cost
    if main is None:
        return None
    names = [main.device, *(cost.device for cost in subject.costs if cost.device != main.device)]
    able = [name for name in names if why_not(name) is None][:MOST_DEVICES]
    try:
        found = [code_parts(subject.lowered, name, subject.tested.X, name=subject.name) for name in able]
    except SparsegenError:  # it does not fit, or cannot be built: the table of costs has said so
        return None
    if not found:
        return None
    html = fill(
        "parts.html.j2",
        bars=[bar for one in found for bar in _bars(one)],
        keys=[(COLOURS[name], name) for name in MEANING if any(_has(one, name) for one in found)],
        device=found[0].device,
        rows=plural(found[0].rows, "row"),
        lines=_lines(found[0]),
        total=whole(sum(found[0].instructions.values())),
        code=whole(sum(found[0].code.values())),
        tables=whole(sum(found[0].tables.values())),
    )
    return Section("parts", "Where the time and the bytes go", html)


def _has(found: CodeParts, name: str) -> bool:
    return bool(found.counted.get(name) or found.bytes.get(name))


def _bars(found: CodeParts) -> list[PartBar]:
    return [
        _bar(found.device, "instructions", found.instructions),
        _bar(found.device, "bytes of flash", found.bytes),
    ]


def _bar(device: str, what: str, amounts: Mapping[str, float]) -> PartBar:
    total, left, pieces = sum(amounts.values()) or 1.0, 0.0, []
    for name in MEANING:
        width = WIDTH * amounts.get(name, 0) / total
        if width > 0:
            told = f"{name}: {whole(amounts[name])} {what}, {100 * amounts[name] / total:.1f} %"
            pieces.append(Piece(COLOURS[name], place(left), place(width), told))
        left += width
    told = f"{what} on {device}: " + ", ".join(piece.told for piece in pieces)
    return PartBar(device, what, whole(total), pieces, told)


def _lines(found: CodeParts) -> list[PartLine]:
    instructions, total = found.instructions, sum(found.instructions.values()) or 1.0
    return [
        PartLine(
            name,
            COLOURS[name],
            meaning,
            whole(instructions.get(name, 0)),
            f"{100 * instructions.get(name, 0) / total:.1f} %",
            whole(found.code.get(name, 0)),
            whole(found.tables.get(name, 0)),
        )
        for name, meaning in MEANING.items()
        if _has(found, name)
    ]
