"""The tables: one per device."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import _report
from benchmarks.peers._row import Row

HEADER = ("problem", "code", "model", "accuracy %", "agrees %", "flash", "RAM", "cost", "x flash", "x cost", "remark")


def table(rows: Sequence[Row]) -> list[str]:
    """Return one Markdown table per device, below its name and the unit of its costs."""
    parts = []
    for device in dict.fromkeys(row.device for row in rows):
        own = [row for row in rows if row.device == device]
        unit = next((row.unit for row in own if row.unit), "")
        bases = {row.problem: row for row in own if row.is_base}
        cells = [_cells(row, bases.get(row.problem)) for row in own]
        parts += [f"{device} (cost in {unit})", _report.markdown(HEADER, cells, text=3)]
    return parts


def ratio(row: Row, base: Row | None, figure: str) -> float | None:
    """Return how many times the base's a figure is."""
    if base is None or getattr(row, figure) is None or not getattr(base, figure):
        return None
    return float(getattr(row, figure) / getattr(base, figure))


def _cells(row: Row, base: Row | None) -> list[str]:
    return [
        row.problem,
        row.code,
        row.setting,
        _percent(row.accuracy),
        _percent(row.agreement),
        _count(row.flash),
        _count(row.ram),
        _count(row.cost),
        _times(ratio(row, base, "flash")),
        _times(ratio(row, base, "cost")),
        row.remark.replace("|", "/"),
    ]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}"


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def _times(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}" if number >= 10 else f"{number:.2f}"
