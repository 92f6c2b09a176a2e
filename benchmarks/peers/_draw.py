"""The pictures: accuracy against flash and against the cost of a prediction, one file per problem and device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers._row import Row


@dataclass(frozen=True)
class Series:
    """Rows that are drawn as one line: the code and words that their settings hold."""

    title: str
    code: str
    words: str
    marker: str
    color: str


SERIES = (
    Series("sparsegen, q7", "sparsegen", "q7", "o", "tab:blue"),
    Series("sparsegen, float32", "sparsegen", "f32,", "s", "tab:cyan"),
    Series("emlearn forest, inline", "emlearn-forest", "inline", "^", "tab:green"),
    Series("emlearn forest, loadable", "emlearn-forest", "loadable", "v", "tab:olive"),
    Series("emlearn MLP", "emlearn-mlp", "MLP", "D", "tab:orange"),
    Series("micromlgen SVC", "micromlgen", "SVC", "P", "tab:red"),
    Series("m2cgen SVC", "m2cgen", "SVC", "X", "tab:purple"),
    Series("LIBSVM", "libsvm", "SVC", "*", "tab:brown"),
)
LOWEST = 0.9
"""Models below this accuracy would squeeze the others together."""


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write the pictures and return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for problem, device in dict.fromkeys((row.problem, row.device) for row in rows if row.unit):
        own = [row for row in rows if (row.problem, row.device) == (problem, device) and row.flash is not None]
        own = [row for row in own if row.ram is not None and (row.accuracy or 0.0) >= LOWEST]
        if own:
            paths.append(folder / f"{problem}-{device}.png")
            _picture(own, problem, device, paths[-1])
    return paths


def _picture(rows: Sequence[Row], problem: str, device: str, path: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    figure = Figure(figsize=(11.0, 4.8), dpi=110, layout="constrained")
    panels: Any = figure.subplots(1, 2, sharey=True)
    unit = next(row.unit for row in rows if row.unit)
    for axes, field, label in ((panels[0], "flash", "flash"), (panels[1], "cost", f"{unit} per prediction")):
        for series in SERIES:
            own = [row for row in rows if row.code == series.code and series.words in row.setting]
            own = sorted((row for row in own if getattr(row, field)), key=lambda row: float(getattr(row, field)))
            if own:
                _line(axes, own, series, field, sizes=field == "flash")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(EngFormatter("B" if field == "flash" else ""))
        axes.margins(x=0.1, y=0.1)
        axes.set_xlabel(label)
        axes.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("test accuracy, %")
    title = (
        f"{problem} on {device} (numbers: vectors, trees or hidden units; ringed: the size that cross-validation chose)"
    )
    figure.suptitle(title, fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)
    figure.savefig(path, metadata={"Software": None})


def _line(axes: Any, rows: Sequence[Row], series: Series, field: str, *, sizes: bool) -> None:
    """Draw one line; with ``sizes``, the size of its first and its last model stands beside them."""
    points = [(float(getattr(row, field)), 100 * (row.accuracy or 0.0)) for row in rows]
    style = {"marker": series.marker, "color": series.color, "linewidth": 1, "alpha": 0.85}
    axes.plot(*zip(*points, strict=True), label=series.title, **style)
    for row, point in zip(rows, points, strict=True):
        if "(chosen)" in row.setting:
            axes.plot(*point, marker="o", markersize=15, markerfacecolor="none", markeredgecolor=series.color)
    text = {"textcoords": "offset points", "fontsize": 8, "color": series.color}
    if sizes:
        axes.annotate(_size(rows[-1]), points[-1], xytext=(6, -10), **text)
    if sizes and len(rows) > 1:
        axes.annotate(_size(rows[0]), points[0], xytext=(-6, -10), ha="right", **text)


def _size(row: Row) -> str:
    """Return the number that tells models of one line apart: vectors, trees or hidden units."""
    return next(word for word in row.setting.replace(",", "").split() if word.isdigit())
