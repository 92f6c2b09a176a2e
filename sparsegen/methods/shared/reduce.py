"""The reduced empirical feature space [I08]: training rows that are linearly independent in the kernel's feature space.

    h(x) = (K(x_i1, x), ..., K(x_im, x))'                                                          [I08, eq. 8]

The choice does not look at labels, so all outputs share it, and a model holds m vectors whatever its classes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.solvers.cholesky import IncrementalCholesky

DIAGONAL_ROWS = 64  # rows per small Gram block of which only the diagonal is kept

CONSTRAINTS: dict[str, list[Any]] = {
    "n_vectors": [Interval(Integral, 1, None, closed="left"), None],
    "eta": [Interval(Real, 0.0, None, closed="left")],
    "order": [StrOptions({"rows", "pivoted"})],
    "basis": [StrOptions({"rows", "axes"})],
    "max_seconds": [Interval(Real, 0.0, None, closed="neither"), None],
}


@dataclass(frozen=True)
class Reduction:
    """How vectors are chosen; the fields are the parameters of the estimators that share it."""

    n_vectors: int | None
    eta: float
    order: str
    basis: str
    max_seconds: float | None

    def vectors(self, X: Array, kernel: BoundKernel) -> Array:
        """Return the vectors whose kernel values are the coordinates of the reduced space."""
        if self.basis == "axes":
            return self._axes(X, kernel)
        n = len(X)
        if self.n_vectors is not None and self.n_vectors > n:
            raise OptionError(f"{self.n_vectors} vectors were asked for, but there are only {n} rows to train on")
        diagonal = gram_diagonal(X, kernel)
        largest = float(diagonal.max())
        if 0.0 < largest <= self.eta:
            raise OptionError(f"eta is {self.eta:g}, but K(x, x) is at most {largest:g}: no row is left; lower eta")
        bound = int(self.n_vectors or n)
        end = np.inf if self.max_seconds is None else time.monotonic() + self.max_seconds
        chosen = IncrementalCholesky(diagonal, self.eta, pivoted=self.order == "pivoted")
        with progress.task("choosing independent rows", bound) as advance:
            while len(chosen.rows) < bound and (row := chosen.next_row()) is not None:
                chosen.add(row, kernel.gram(X, X[row : row + 1])[:, 0])
                advance(f"largest residual {chosen.residual.max():.3g}")
                if time.monotonic() >= end:
                    break
        # Rows that are all zero to the kernel: any one of them keeps the model well-formed.
        return X[chosen.rows] if len(chosen.rows) else X[:1].copy()

    def _axes(self, X: Array, kernel: BoundKernel) -> Array:
        if kernel.name != "linear":
            raise OptionError(f"basis 'axes' needs the linear kernel, but the kernel is {kernel.name!r}")
        if self.n_vectors is not None:
            raise OptionError("basis 'axes' has one vector per feature; leave n_vectors out")
        return np.eye(X.shape[1])  # h(x) = x [I08, eq. 13]


def gram_diagonal(X: Array, kernel: BoundKernel) -> Array:
    """Return K(x, x) for every row, from small blocks."""
    parts = [X[first : first + DIAGONAL_ROWS] for first in range(0, len(X), DIAGONAL_ROWS)]
    return np.concatenate([np.diagonal(kernel.gram(part, part)) for part in parts])
