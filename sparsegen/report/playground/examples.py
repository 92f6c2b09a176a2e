"""The rows that a visitor can choose: clear and close ones of every class, and some that the program gets wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.agreement import NO_CLASS, label_indices
from sparsegen.lowering.locate_data import thinned
from sparsegen.lowering.lowered import Lowered
from sparsegen.model.decision import DECISIONS
from sparsegen.report.tested import given_classes

LOOKED_AT = 4000
"""The most rows that examples are chosen from."""
MOST_NUMBERS = 60_000
"""The most numbers that all examples together have, so that the page stays small."""
MOST, WRONG, PER_CLASS = 40, 8, 2
VALUES = 10
"""Rows of a regression, from small to large values."""


@dataclass(frozen=True)
class Example:
    """One row to choose."""

    row: Array
    """Raw features."""
    label: float | None
    """Index of its class, or its value, where it is known."""
    given: float
    """Index of the class, or the value, that the program gives."""
    is_wrong: bool
    """Whether it is shown as a mistake."""


def choose_examples(lowered: Lowered, X: Array, y: NDArray[np.generic] | None) -> list[Example]:
    """Return examples, class by class, then wrong ones: those the program is surest of first.

    Those of a regression go from small to large values; the wrong ones are those that it is furthest off.
    """
    most = max(2, min(MOST, MOST_NUMBERS // lowered.n_features))
    if not lowered.model.classes:
        return _values(lowered, X, y, most)
    wanted = None if y is None else label_indices(lowered.model, np.asarray(y))
    kept = thinned(np.arange(len(X)), LOOKED_AT)
    X, wanted = X[kept], None if wanted is None else wanted[kept]
    reference = lowered.reference(X)
    given, leads = given_classes(lowered, X), DECISIONS[lowered.model.decision].leads(reference.scores)
    is_wrong = np.zeros(len(X), dtype=bool) if wanted is None else (given != wanted) & (wanted != NO_CLASS)
    is_right = np.ones(len(X), dtype=bool) if wanted is None else given == wanted
    wrong = _largest_first(np.flatnonzero(is_wrong), leads)[: min(WRONG, most // 2)]
    classes = np.unique(given[is_right])
    per_class = max(1, min(PER_CLASS, (most - len(wrong)) // max(1, len(classes))))
    right: list[int] = []
    for index in classes:
        own = _largest_first(np.flatnonzero(is_right & (given == index)), leads)
        places = np.linspace(0, len(own) - 1, per_class + 1)[:per_class].astype(int)  # never the least sure
        right += own[np.unique(places)].tolist()
    chosen = [*right[: most - len(wrong)], *wrong.tolist()]
    labels = [None if wanted is None else int(wanted[i]) for i in chosen]
    return [Example(X[i], label, int(given[i]), bool(is_wrong[i])) for i, label in zip(chosen, labels, strict=True)]


def _values(lowered: Lowered, X: Array, y: NDArray[Any] | None, most: int) -> list[Example]:
    kept = thinned(np.arange(len(X)), LOOKED_AT)
    X, wanted = X[kept], None if y is None else np.asarray(y, dtype=np.float64)[kept]
    reference = lowered.reference(X)
    given = reference.scores[:, 0] * reference.unit
    off = np.zeros(len(X)) if wanted is None else np.abs(given - wanted)
    wrong = _largest_first(np.flatnonzero(off > 0.0), off)[: min(WRONG, most // 2, len(X) // 2)]
    others = np.setdiff1d(np.arange(len(X)), wrong)
    others = others[np.argsort(given[others] if wanted is None else wanted[others], kind="stable")]
    chosen = [*thinned(others, min(VALUES, most - len(wrong))).tolist(), *wrong.tolist()]
    labels = [None if wanted is None else float(wanted[i]) for i in chosen]
    return [
        Example(X[i], label, float(given[i]), bool(np.isin(i, wrong))) for i, label in zip(chosen, labels, strict=True)
    ]


def _largest_first(rows: NDArray[np.intp], sizes: Array) -> NDArray[np.intp]:
    return rows[np.argsort(-sizes[rows], kind="stable")]
