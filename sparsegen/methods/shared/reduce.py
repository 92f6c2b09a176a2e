"""The reduced empirical feature space [I08]: training rows that are linearly independent in the kernel's feature space.

    h(x) = (K(x_i1, x), ..., K(x_im, x))'                                                          [I08, eq. 8]

The choice does not look at labels, so all outputs share it, and a model holds m vectors whatever its classes.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import solve_triangular

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import CodedRows, LabelledParts
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.count import check_n_vectors
from sparsegen.methods.shared.diagonal import gram_diagonal
from sparsegen.methods.shared.estimator import SingleKernelClassifier
from sparsegen.methods.shared.parameters import (
    MAX_SECONDS,
    NOT_NEGATIVE,
    POSITIVE,
    one_of,
    parameter,
    positional,
    whole,
)
from sparsegen.solvers.cholesky import IncrementalCholesky
from sparsegen.solvers.factor import cholesky_with_ridge


class ReducedSpaceClassifier(SingleKernelClassifier):
    """A machine on the kernel values of linearly independent training rows."""

    n_vectors: int | None = positional(
        default=None,
        meaning="choose at most this many rows; ``None`` leaves it to ``eta``. Memory and time grow as O(n m) and "
        "O(n m^2) with the number m chosen: bound it where rows are many and lie far apart",
        allowed=(whole(1),),
        kw_only=False,
    )
    eta: float = parameter(
        0.1,
        "a row is chosen if its squared distance, in the feature space, to the span of the rows chosen so far is "
        "larger than this. Larger is sparser; a Gaussian kernel has K(x, x) = 1, so 0 <= eta < 1 there",
        NOT_NEGATIVE,
    )
    order: str = parameter(
        "rows",
        '``"rows"`` looks at rows in the order given [I08]; ``"pivoted"`` takes the most distant row each time',
        one_of("rows", "pivoted"),
    )
    basis: str = parameter(
        "rows",
        '``"rows"`` chooses training rows; ``"axes"``, for the linear kernel only, takes the unit vectors (OSV)',
        one_of("rows", "axes"),
    )
    C: float = parameter(1.0, "weight of the loss: ``C xi`` for the hinge, ``C/2 xi^2`` for squared errors", POSITIVE)
    max_seconds: float | None = MAX_SECONDS

    def _vectors(self, X: Array, kernel: BoundKernel) -> Array:
        """Return the vectors whose kernel values are the coordinates of the reduced space."""
        if self.basis == "axes":
            return self._axes(X.shape[1], kernel)
        pivoted = self.order == "pivoted"
        return independent_rows(X, kernel, self.eta, self.n_vectors, pivoted=pivoted, max_seconds=self.max_seconds)

    def _vectors_in_parts(self, rows: LabelledParts, kernel: BoundKernel) -> Array:
        """Return the same for rows in parts."""
        if self.basis == "axes":
            return self._axes(rows.n_features, kernel)
        if self.order == "pivoted" or self.max_seconds is not None:
            raise OptionError(
                "independent rows of parts are chosen in row order and without a limit of time; leave order and "
                "max_seconds as they are, and set n_vectors to bound the work"
            )
        return independent_rows_of_parts(rows, kernel, self.eta, self.n_vectors)

    def _axes(self, n_features: int, kernel: BoundKernel) -> Array:
        if not kernel.is_linear:
            raise OptionError(f"basis 'axes' needs the linear kernel, but the kernel is {kernel.name!r}")
        if self.n_vectors is not None:
            raise OptionError("basis 'axes' has one vector per feature; leave n_vectors out")
        return np.eye(n_features)  # h(x) = x [I08, eq. 13]


def independent_rows(
    X: Array,
    kernel: BoundKernel,
    eta: float,
    n_vectors: int | None = None,
    *,
    pivoted: bool = False,
    max_seconds: float | None = None,
) -> Array:
    """Return the rows of X that are linearly independent in the feature space up to ``eta`` [I08, eq. 9-12]."""
    n = len(X)
    check_n_vectors(n_vectors or 0, n)
    diagonal = gram_diagonal(X, kernel)
    _check_eta(eta, float(diagonal.max()))
    bound = int(n_vectors or n)
    end = np.inf if max_seconds is None else time.monotonic() + max_seconds
    chosen = IncrementalCholesky(diagonal, eta, pivoted=pivoted)
    with progress.task("choosing independent rows", bound) as advance:
        while len(chosen.rows) < bound and (row := chosen.next_row()) is not None:
            chosen.add(row, kernel.gram(X, X[row : row + 1])[:, 0])
            advance(f"largest residual {chosen.residual.max():.3g}")
            if time.monotonic() >= end:
                break
    # Where every row is zero to the kernel, any one of them keeps the model well-formed.
    return X[chosen.rows] if len(chosen.rows) else X[:1].copy()


def independent_rows_of_parts(rows: LabelledParts, kernel: BoundKernel, eta: float, n_vectors: int | None) -> Array:
    """Return the rows that `independent_rows` chooses, in row order, part after part: only these travel."""
    check_n_vectors(n_vectors or 0, rows.n_rows)
    _check_eta(eta, max(rows.rows.each(_largest_diagonal, kernel)))
    none = np.empty((0, rows.n_features))
    chosen = rows.rows.in_turn(_more_rows, none, kernel, eta, int(n_vectors or rows.n_rows))
    return chosen if len(chosen) else rows.at(np.array([0]))


def _largest_diagonal(part: CodedRows, kernel: BoundKernel) -> float:
    return float(gram_diagonal(np.asarray(part.X, np.float64), kernel).max())


def _more_rows(part: CodedRows, Z: Array, kernel: BoundKernel, eta: float, bound: int) -> Array:
    """Return the rows chosen before and those of a part that are independent of them."""
    if len(Z) >= bound:
        return Z
    X = np.asarray(part.X, np.float64)
    known = None
    if len(Z):
        L = cholesky_with_ridge(kernel.gram(Z, Z))
        known = np.ascontiguousarray(solve_triangular(L, kernel.gram(X, Z).T, lower=True).T)  # [I08, eq. 10]
    chosen = IncrementalCholesky(gram_diagonal(X, kernel), eta, pivoted=False, known=known)
    while len(Z) + len(chosen.rows) < bound and (row := chosen.next_row()) is not None:
        chosen.add(row, kernel.gram(X, X[row : row + 1])[:, 0])
    return np.vstack([Z, X[chosen.rows]])


def _check_eta(eta: float, largest: float) -> None:
    """Raise an error where every row counts as dependent."""
    if 0.0 < largest <= eta:
        raise OptionError(f"eta is {eta:g}, but K(x, x) is at most {largest:g}: no row is left; lower eta")
