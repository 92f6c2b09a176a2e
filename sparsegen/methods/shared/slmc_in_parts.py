"""W(Z, P) of SLMC for rows in parts: blocks on the workers of a cluster, or of a file that is larger than memory.

A part maps its rows, whitens their kernel values and returns sums: see :mod:`sparsegen.solvers.newton_in_parts` for
those of the inner problem. The gradient in (Z, P) is one more sum, for which alpha is worked out where the rows are.

Symbols: as in :mod:`sparsegen.methods.slmc`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import CodedRows, LabelledParts
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.estimator import sign_matrix
from sparsegen.methods.shared.feature_map import map_gradient, map_rows
from sparsegen.methods.shared.kernel_features import weights_of
from sparsegen.methods.shared.ridge import weights_with_ridge
from sparsegen.methods.shared.slmc_objective import ARRAYS_PER_BLOCK, STEP_BYTES, SlmcSearch, whitened
from sparsegen.solvers.blocks import row_slices, rows_per_block
from sparsegen.solvers.newton_in_parts import MarginRows, PartsLoss, PartsSolution, multipliers, solve_in_parts


@dataclass(frozen=True, eq=False)
class WeighedParts:
    """Rows in parts, and what their losses weigh."""

    rows: LabelledParts
    loss: str
    C: Array
    """(n_classes,) the weight of a row's loss, by its class"""

    @property
    def n_outputs(self) -> int:
        """One for two classes, otherwise one for each."""
        return 1 if len(self.C) == 2 else len(self.C)

    def parts_loss(self) -> PartsLoss:
        """Return the loss with the mean weight over all rows."""
        of_class = self.rows.of_class
        return PartsLoss(self.loss, float(self.C @ of_class / of_class.sum()), self.rows.n_rows)


@dataclass(frozen=True, eq=False)
class Point:
    """Where W is asked for: all that a part needs to know."""

    kernel: BoundKernel
    Z: Array
    P: Array | None
    offset: Array | None
    L: Array
    C: Array

    def margin_rows(self, X: NDArray[Any], index: NDArray[np.intp]) -> MarginRows:
        """Return rows as the inner problem sees them."""
        Phi = np.empty((len(X), len(self.Z)))
        for rows in row_slices(len(X), rows_per_block(len(self.Z), ARRAYS_PER_BLOCK, STEP_BYTES)):
            Phi[rows] = whitened(self.L, self.kernel.gram(map_rows(self.P, self.shifted(X[rows])), self.Z))
        return MarginRows(Phi, sign_matrix(index, len(self.C)), weights_of(index, self.C))

    def shifted(self, X: NDArray[Any]) -> Array:
        """Return rows in float64, without their offset."""
        rows = np.asarray(X, np.float64)
        return rows if self.offset is None else rows - self.offset


def features_part(part: CodedRows, at: Point) -> MarginRows:
    """Return a part's rows as the inner problem sees them."""
    return at.margin_rows(part.X, part.index)


def gradient_part(part: CodedRows, at: Point, loss: PartsLoss, found: PartsSolution, beta: Array) -> tuple[Array, ...]:
    """Return a part's share of the gradients in Z and, where there is one, in P."""
    gradient_Z = np.zeros_like(at.Z)
    gradient_P = None if at.P is None else np.zeros_like(at.P)
    for rows in row_slices(len(part.X), rows_per_block(len(at.Z), ARRAYS_PER_BLOCK, STEP_BYTES)):
        X = at.shifted(part.X[rows])
        block = at.kernel.block(map_rows(at.P, X), at.Z)
        here = replace(at.margin_rows(part.X[:0], part.index[rows]), Phi=whitened(at.L, block.value))
        weights = -(multipliers(here, loss, found) * here.Y) @ beta
        gradient_Z += block.gradient(weights)
        if at.P is not None and gradient_P is not None:
            gradient_P += map_gradient(at.P, block.gradient_left(weights), X)
    return (gradient_Z,) if gradient_P is None else (gradient_Z, gradient_P)


class SlmcInParts(SlmcSearch):
    """W(Z, P) and its gradient as sums over parts; remembers the last inner optimum to start from."""

    def __init__(
        self, given: WeighedParts, kernel: BoundKernel, P0: Array | None, rho: float, offset: Array | None
    ) -> None:
        super().__init__(kernel, P0, rho, offset)
        self.given, self._loss = given, given.parts_loss()
        self._last: tuple[Array, Array] | None = None

    def start_from(self, beta: Array, b: Array) -> None:
        """Let the next inner problem start from these coefficients."""
        self._last = (beta, b)

    def __call__(self, Z: Array, P: Array | None) -> tuple[float, Array]:
        """Return W and its gradient in (Z, P), flattened."""
        at = self._point(Z, P)
        beta, solution = self._solve(at)
        of_rows = self.given.rows.rows.sums(gradient_part, at, self._loss, solution, beta)
        gradient = [self._factor(Z)[0].gradient(weights_with_ridge(beta, 1.0)) + of_rows[0]]
        if P is not None and self.P0 is not None:
            gradient.append(self.rho * (P - self.P0) + of_rows[1])
        return self._objective(solution, P), np.concatenate([one.ravel() for one in gradient])

    def _coefficients(self, Z: Array, P: Array | None) -> tuple[Array, PartsSolution]:
        return self._solve(self._point(Z, P))

    def _point(self, Z: Array, P: Array | None) -> Point:
        return Point(self.kernel, Z, P, self.offset, self._factor(Z)[1], self.given.C)

    def _solve(self, at: Point) -> tuple[Array, PartsSolution]:
        """Return beta and the solution that it comes from, starting from the last."""
        start = None
        if self._last is not None:
            beta, b = self._last
            start = PartsSolution(beta @ at.L, b, np.inf)
        features = self.given.rows.rows.then(features_part, at)
        solution = solve_in_parts(features, self.given.n_outputs, len(at.Z), self._loss, start)
        beta = solve_triangular(at.L, solution.V.T, lower=True, trans="T").T  # [W05, eq. 33]
        self._last = (beta, solution.b)
        return beta, solution
