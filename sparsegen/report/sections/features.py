"""Which features matter: a map for images, otherwise bars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.report.axis import place
from sparsegen.report.figures import plural, signed
from sparsegen.report.html import fill
from sparsegen.report.importance import REPEATS, Importance, importance
from sparsegen.report.pixels import HEAT, levels, png
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

SHOWN, SHOWN_BESIDE_MAP = 20, 12
BAR = 300.0


@dataclass(frozen=True)
class FeatureLine:
    """One feature: a bar, and its figures."""

    name: str
    width: str
    low: str
    high: str
    moved: str
    lost: str | None


def section(subject: Subject) -> Section | None:
    """Return the map or the bars of which features matter."""
    tested = subject.tested
    found = importance(subject.model, tested.X, subject.answers.wanted if subject.has_classes else None)
    mean = found.moved.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    size = subject.image_size
    lines = _lines(subject, found, order[: SHOWN if size is None else SHOWN_BESIDE_MAP])
    html = fill(
        "features.html.j2",
        rows=plural(found.rows, "held-out row" if tested.is_held_out else "row"),
        repeats=REPEATS,
        unit=f"{found.unit:.3g}",
        has_classes=found.lost is not None,
        gives_values=not subject.has_classes,
        map=None if size is None else png(levels(mean.reshape(size), 0.0, float(mean.max())), HEAT),
        most=f"{mean.max():.2f}",
        strongest=subject.feature_names[order[0]],
        lines=lines,
        left_out=len(mean) - len(lines),
        idle=_idle(mean),
    )
    return Section("features", "Which features matter", html)


def _lines(subject: Subject, found: Importance, order: NDArray[np.intp]) -> list[FeatureLine]:
    mean, spread = found.moved.mean(axis=1), found.moved.std(axis=1)
    top = float((mean + spread).max()) or 1.0
    lines = []
    for j in order:
        lost = None
        if found.lost is not None:
            lost = f"{signed(found.lost[j].mean(), 1)} ± {found.lost[j].std():.1f}"
        low, high = (place(BAR * max(0.0, mean[j] + side * spread[j]) / top) for side in (-1, 1))
        moved = f"{mean[j]:.2f} ± {spread[j]:.2f}"
        lines.append(FeatureLine(subject.feature_names[j], place(BAR * mean[j] / top), low, high, moved, lost))
    return lines


def _idle(mean: Array) -> str | None:
    """Return how many features change nothing at all, if any."""
    idle = int(np.count_nonzero(mean == 0.0))
    return plural(idle, "feature") if idle else None
