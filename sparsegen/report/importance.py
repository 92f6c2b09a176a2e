"""Which features matter: how far the scores move, and how many labels are lost, where one feature is shuffled.

Permutation importance (L. Breiman, Random forests, Machine Learning 45, 2001) on the tested rows. Every feature in turn
gets the values of other rows. Lost labels are what counts in the end, but few rows are near another label, so they say
little of single features of many: the movement of the scores tells these apart, and is measured on the same shuffles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering.locate_data import thinned
from sparsegen.model import SparseModel
from sparsegen.model.decision import DECISIONS, class_indices
from sparsegen.report.tested import Indices

REPEATS = 5
MOST_ROWS, LEAST_ROWS = 512, 48
MOST_WORK = 4e9
"""Products that all shuffles together may take: a few seconds."""


@dataclass(frozen=True, eq=False)
class Importance:
    """What shuffling does, by feature and by shuffle."""

    moved: Array
    """(d, repeats) mean over rows of the largest change of a score, relative to ``unit``."""
    lost: Array | None
    """(d, repeats) points of accuracy lost; ``None`` for a model without classes."""
    unit: float
    """The mean lead of the rows, or the spread of the scores where a model has no classes."""
    rows: int


def importance(model: SparseModel, X: Array, wanted: Indices | None, *, seed: int = 0) -> Importance:
    """Return what shuffling each feature among (some of) the rows does to the real-valued model."""
    d = model.n_features
    each = d * REPEATS * (model.n_vectors + d) * model.transform.n_projected
    n = int(min(MOST_ROWS, max(LEAST_ROWS, MOST_WORK // each), len(X)))
    kept = thinned(np.arange(len(X)), n)
    rows, scores = X[kept], model.scores(X[kept])
    unit, right = float(scores.std()), 0
    if wanted is not None:
        unit = float(DECISIONS[model.decision].leads(scores).mean())
        right = int(np.count_nonzero(class_indices(scores, model.decision) == wanted[kept]))
    rng = np.random.RandomState(seed)
    orders = [rng.permutation(n) for _ in range(REPEATS)]
    moved, lost = np.zeros((d, REPEATS)), np.zeros((d, REPEATS))
    for j in range(d):
        for k, order in enumerate(orders):
            changed = rows.copy()
            changed[:, j] = rows[order, j]
            found = model.scores(changed)
            moved[j, k] = np.abs(found - scores).max(axis=1).mean() / (unit or 1.0)
            if wanted is not None:
                kept_right = np.count_nonzero(class_indices(found, model.decision) == wanted[kept])
                lost[j, k] = 100 * (right - kept_right) / n
    return Importance(moved, None if wanted is None else lost, unit, n)
