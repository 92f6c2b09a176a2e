"""What an error of a score is compared with: the scores of a classifier, the spread of a regression's values."""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.model import SparseModel

TOLERANCE = 1e-4
"""What a device's float32 scores may be off, relative to this size."""
ROUNDINGS = 0.005
"""Of the largest value, which float32 cannot hold better than to six or seven digits, however little values differ: a
tolerance of 1e-4 then leaves room for four of its roundings."""


def score_size(model: SparseModel, scores: Array) -> float:
    """Return what errors of a model's scores are relative to, given its (n, n_outputs) scores of some rows.

    The largest of a classifier's scores, at least 1: its machines are trained to reach 1. A regression's values may lie
    anywhere, close to each other: how far they come from the intercept, or the deviation of the training targets.
    """
    if model.has_classes:
        return max(1.0, float(np.abs(scores).max()))
    spread = float(np.abs(scores - model.intercept).max())
    target = model.card.get("target")
    deviation = 0.0 if target is None else float(target["deviation"])
    return max(spread, deviation) + ROUNDINGS * float(np.abs(scores).max()) or 1.0
