"""Folds of rows that have no classes whose shares would have to be kept; groups stay together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsegen.training.choose import MAX_FOLDS, Groups, Splits

MIN_GROUPS = 2


def too_few(n_rows: int, groups: Groups | None) -> str | None:
    """Return what cross-validation lacks: four rows, or two groups where rows have groups."""
    if groups is not None:
        return None if len(np.unique(groups)) >= MIN_GROUPS else f"{MIN_GROUPS} groups of training rows"
    return None if n_rows >= 2 * MIN_GROUPS else f"{2 * MIN_GROUPS} training rows"


def plain_folds(n: int, groups: Groups | None, seed: int) -> Splits:
    """Return the places of training and test rows of each fold."""
    from sklearn.model_selection import GroupKFold, KFold

    def places(found: object) -> NDArray[np.intp]:
        return np.asarray(found, dtype=np.intp)

    if groups is None:
        splits = KFold(min(MAX_FOLDS, n // 2), shuffle=True, random_state=seed).split(np.empty(n))
    else:
        splits = GroupKFold(min(MAX_FOLDS, len(np.unique(groups)))).split(np.empty(n), groups=groups)
    return [(places(train), places(test)) for train, test in splits]
