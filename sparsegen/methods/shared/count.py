"""How many expansion vectors to use: a number, a share of the reference SVM's support vectors, or the default."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import OptionError

DEFAULT_VECTORS = 16


def count_vectors(n_vectors: int | None, ratio: float | None, Y: Array, svm_coef: Callable[[], Array]) -> int:
    """Return the number of vectors for signs ``Y`` (n, n_outputs).

    ``svm_coef`` gives the reference SVM's coefficients (n_outputs, n); it is called only where ``ratio`` needs them.
    """
    if n_vectors is not None and ratio is not None:
        raise OptionError("n_vectors and ratio exclude each other; give one of them")
    if ratio is not None:
        support = np.count_nonzero(svm_coef().any(axis=0))
        return max(1, int(np.ceil(ratio * support - 1e-9)))
    return asked_or_default(n_vectors, Y)


def asked_or_default(n_vectors: int | None, Y: Array) -> int:
    """Return the number that was asked for, which the rows must allow, or the default for signs ``Y``."""
    n, n_outputs = len(Y), int(Y.shape[1])
    if n_vectors is None:
        return min(n, max(DEFAULT_VECTORS, 3 * n_outputs))
    if n_vectors > n:
        raise OptionError(f"{n_vectors} vectors were asked for, but there are only {n} rows to train on")
    return int(n_vectors)
