"""Machines that choose among the training rows, one per output, as one expansion with a shared vector table."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.methods.shared.estimator import Expansion


def expand(X: Array, coef: Array, intercept: Array, facts: dict[str, Any]) -> Expansion:
    """Return the expansion on the rows of ``X`` that any output uses; ``coef`` is (n_outputs, n), mostly zero.

    A row that several outputs use is stored, and later evaluated, once.
    """
    used = np.flatnonzero(coef.any(axis=0))
    if len(used) == 0:  # every machine is a constant; one vector keeps the model well-formed
        used = np.array([0])
    return Expansion(X[used], coef[:, used], intercept, facts=facts)
