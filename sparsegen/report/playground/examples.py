"""The rows that a visitor can choose: clear and close ones of every class, and some that the program gets wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.agreement import NO_CLASS, label_indices
from sparsegen.lowering.locate_data import thinned
from sparsegen.lowering.lowered import Lowered
from sparsegen.model.decision import DECISIONS

LOOKED_AT = 4000
"""The most rows that examples are chosen from."""
MOST_NUMBERS = 60_000
"""The most numbers that all examples together have, so that the page stays small."""
MOST, WRONG, PER_CLASS = 40, 8, 2


@dataclass(frozen=True)
class Example:
    """One row to choose."""

    row: Array
    """Raw features."""
    label: int | None
    """Index of its class, where it is known."""
    given: int
    """Index of the class that the program gives."""


def choose_examples(lowered: Lowered, X: Array, y: NDArray[np.generic] | None) -> list[Example]:
    """Return examples, class by class, then wrong ones: those the program is surest of first."""
    wanted = None if y is None else label_indices(lowered.model, np.asarray(y))
    kept = thinned(np.arange(len(X)), LOOKED_AT)
    X, wanted = X[kept], None if wanted is None else wanted[kept]
    reference = lowered.reference(X)
    given, leads = reference.labels, DECISIONS[lowered.model.decision].leads(reference.scores)
    is_wrong = np.zeros(len(X), dtype=bool) if wanted is None else (given != wanted) & (wanted != NO_CLASS)
    is_right = np.ones(len(X), dtype=bool) if wanted is None else given == wanted
    most = max(2, min(MOST, MOST_NUMBERS // lowered.n_features))
    wrong = _surest_first(np.flatnonzero(is_wrong), leads)[: min(WRONG, most // 2)]
    classes = np.unique(given[is_right])
    per_class = max(1, min(PER_CLASS, (most - len(wrong)) // max(1, len(classes))))
    right: list[int] = []
    for index in classes:
        own = _surest_first(np.flatnonzero(is_right & (given == index)), leads)
        places = np.linspace(0, len(own) - 1, per_class + 1)[:per_class].astype(int)  # never the least sure
        right += own[np.unique(places)].tolist()
    chosen = [*right[: most - len(wrong)], *wrong.tolist()]
    return [Example(X[i], None if wanted is None else int(wanted[i]), int(given[i])) for i in chosen]


def _surest_first(rows: NDArray[np.intp], leads: Array) -> NDArray[np.intp]:
    return rows[np.argsort(-leads[rows], kind="stable")]
