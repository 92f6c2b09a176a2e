"""Cross-validation on training rows, as the papers choose their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold


def cross_validated_error(machine: Any, X: NDArray[Any], y: NDArray[Any], n_folds: int = 5, seed: int = 0) -> float:
    """Return the mean error in percent of copies of ``machine`` on the folds they did not see."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    errors = [np.mean(clone(machine).fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in folds.split(X, y)]
    return 100.0 * float(np.mean(errors))
