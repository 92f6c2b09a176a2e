"""The rows that a visitor can choose: clear and close ones of every class, and some that the program gets wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.agreement import label_indices
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
    kept = thinned(np.arange(len(X)), LOOKED_AT)
    X, y = X[kept], None if y is None else np.asarray(y)[kept]
    reference = lowered.reference(X)
    given = reference.labels
    wanted = given if y is None else label_indices(lowered.model, y)
    leads = DECISIONS[lowered.model.decision].leads(reference.scores)
    most = max(2, min(MOST, MOST_NUMBERS // lowered.n_features))
    wrong = np.flatnonzero(given != wanted)
    wrong = wrong[np.argsort(-leads[wrong], kind="stable")][: min(WRONG, most // 2)]
    classes = np.unique(wanted[given == wanted])
    per_class = max(1, min(PER_CLASS, (most - len(wrong)) // max(1, len(classes))))
    chosen: list[int] = []
    for index in classes:
        own = np.flatnonzero((wanted == index) & (given == wanted))
        order = own[np.argsort(-leads[own], kind="stable")]
        places = np.linspace(0, len(order) - 1, per_class + 1)[:per_class]  # the surest first, never the least sure
        chosen += list(dict.fromkeys(int(order[int(place)]) for place in places))
    chosen = chosen[: most - len(wrong)] + [int(i) for i in wrong]
    return [Example(X[i], None if y is None else int(wanted[i]), int(given[i])) for i in chosen]
