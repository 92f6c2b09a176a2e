"""W(Z, P), the objective of SLMC [W05, eq. 10] with the inner problem solved exactly, and its gradient.

Symbols: as in :mod:`sparsegen.methods.slmc`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, solve_triangular

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel, GramBlock
from sparsegen.methods.shared.estimator import Expansion, warn_unsolved
from sparsegen.methods.shared.feature_map import map_gradient, map_rows, smallest
from sparsegen.methods.shared.ridge import weights_with_ridge, with_ridge
from sparsegen.solvers.blocks import RowBlocks, rows_per_block
from sparsegen.solvers.descent import lbfgs
from sparsegen.solvers.newton import Loss, Solution, solve

EXACT_COEFFICIENTS = "beta = Kz^-1 Kzx Y alpha_z [W05, eq. 33]"
ARRAYS_PER_BLOCK = 6  # n x m arrays alive while a block is in use: base, kernel, slope, Phi, weights, a temporary
FEATURE_BYTES = 1 << 27  # of the features Phi that are kept where no gradient is needed
STEP_BYTES = 1 << 24  # of the rows that are mapped at once there


class Inner(Protocol):
    """What a solution of the inner problem tells, wherever its rows are."""

    @property
    def b(self) -> Array:
        """The biases."""

    @property
    def objective(self) -> float:
        """The optimum."""

    @property
    def solved(self) -> bool:
        """Whether it was reached."""


class SlmcSearch(ABC):
    """The descent on W(Z, P), wherever the rows are."""

    def __init__(self, kernel: BoundKernel, P0: Array | None, rho: float, offset: Array | None) -> None:
        self.kernel, self.P0, self.rho, self.offset = kernel, P0, rho, offset

    @abstractmethod
    def start_from(self, beta: Array, b: Array) -> None:
        """Let the next inner problem start from these coefficients."""

    @abstractmethod
    def __call__(self, Z: Array, P: Array | None) -> tuple[float, Array]:
        """Return W and its gradient in (Z, P), flattened."""

    @abstractmethod
    def _coefficients(self, Z: Array, P: Array | None) -> tuple[Array, Inner]:
        """Return beta at (Z, P), and the solution that it comes from."""

    def descend(
        self, Z: Array, P: Array | None, unit: float, *, max_iter: int, tol: float, title: str
    ) -> tuple[Array, Array | None, int]:
        """Return where a descent from (Z, P) ends, and its iterations; Z is counted in units, P has no dimension."""

        def unpack(theta: Array) -> tuple[Array, Array | None]:
            return theta[: Z.size].reshape(Z.shape), None if P is None else theta[Z.size :].reshape(P.shape)

        start, units, lower = Z.ravel(), np.full(Z.size, unit), None
        if P is not None:
            start, units = np.append(start, P), np.append(units, np.ones(P.size))
            lower = np.append(np.full(Z.size, -np.inf), np.full(P.size, smallest(P)))
        with progress.task(title, max_iter) as advance:
            found = lbfgs(
                lambda at: self(*unpack(at)), start, units, max_iter=max_iter, tol=tol, advance=advance, lower=lower
            )
        return *unpack(found.x), found.iterations

    def expansion(self, Z: Array, P: Array | None, iterations: int) -> Expansion:
        """Return the classifier at (Z, P)."""
        beta, solution = self._coefficients(Z, P)
        if not solution.solved:
            warn_unsolved()
        facts = {"iterations": iterations, "objective": self._objective(solution, P)}
        projection, scale = (None, P) if P is None or P.ndim == 1 else (P, None)
        return Expansion(Z.copy(), beta, solution.b, projection, scale=scale, facts=facts)

    def _objective(self, solution: Inner, P: Array | None) -> float:
        held = 0.0 if P is None or self.P0 is None else 0.5 * self.rho * float(((P - self.P0) ** 2).sum())
        return solution.objective + held

    def _factor(self, Z: Array) -> tuple[GramBlock, Array]:
        """Return K(Z, Z) and its Cholesky factor."""
        block = self.kernel.block(Z, Z)
        return block, np.tril(cho_factor(with_ridge(block.value), lower=True)[0])


class SlmcObjective(SlmcSearch):
    """W(Z, P) and its gradient, as a sum over blocks of rows; remembers the last inner optimum to start from."""

    def __init__(
        self,
        X: NDArray[Any],
        Y: Array,
        kernel: BoundKernel,
        loss: Loss,
        P0: Array | None = None,
        rho: float = 0.0,
        block_rows: int | None = None,
        offset: Array | None = None,
    ) -> None:
        super().__init__(kernel, P0, rho, offset)
        self.X, self.Y, self.loss = X, Y, loss
        self.block_rows = block_rows
        self._last: tuple[Array, Solution] | None = None

    def start_from(self, beta: Array, b: Array) -> None:
        """Let the next inner problem start from these coefficients."""
        self._last = (beta, Solution(beta, b, np.zeros_like(self.Y), np.inf))

    def __call__(self, Z: Array, P: Array | None) -> tuple[float, Array]:
        """Return W and its gradient in (Z, P), flattened."""
        blocks, block_z, beta, solution = self._inner(Z, P)
        gradient_Z = block_z.gradient(weights_with_ridge(beta, 1.0))
        gradient_P = None if P is None or self.P0 is None else self.rho * (P - self.P0)
        for rows, block in blocks:
            weights = -(solution.alpha[rows] * self.Y[rows]) @ beta
            gradient_Z += block.gradient(weights)
            if P is not None and gradient_P is not None:
                gradient_P += map_gradient(P, block.gradient_left(weights), self._rows(rows))
        parts = [gradient_Z.ravel()] if gradient_P is None else [gradient_Z.ravel(), gradient_P.ravel()]
        return self._objective(solution, P), np.concatenate(parts)

    def _coefficients(self, Z: Array, P: Array | None) -> tuple[Array, Solution]:
        _, L = self._factor(Z)

        def features(rows: slice) -> Array:
            return whitened(L, self.kernel.gram(map_rows(P, self._rows(rows)), Z))

        return self._solve(self._feature_blocks(features, len(Z)), L)

    def gram_blocks(self, Z: Array, P: Array | None) -> RowBlocks[GramBlock]:
        """Return the blocks of ``K(X, Z)``, with the rows mapped by P if there is one."""

        def block(rows: slice) -> GramBlock:
            return self.kernel.block(map_rows(P, self._rows(rows)), Z)

        if self.block_rows is not None:
            return RowBlocks(len(self.X), self.block_rows, block)
        return RowBlocks.within(len(self.X), rows_per_block(len(Z), ARRAYS_PER_BLOCK), block)

    def _feature_blocks(self, features: Callable[[slice], Array], m: int) -> RowBlocks[Array]:
        """Return small blocks: the rows, in float64 and mapped, are larger than the features that are kept."""
        step = self.block_rows or rows_per_block(max(m, self.X.shape[1]), n_bytes=STEP_BYTES)
        return RowBlocks(len(self.X), step, features, 0 if self.block_rows else FEATURE_BYTES // (8 * m * step))

    def _inner(self, Z: Array, P: Array | None) -> tuple[RowBlocks[GramBlock], GramBlock, Array, Solution]:
        """Return the blocks of K(X, Z), K(Z, Z), beta, and the solution that beta comes from."""
        block_z, L = self._factor(Z)
        blocks = self.gram_blocks(Z, P)
        beta, solution = self._solve(blocks.then(lambda block: whitened(L, block.value)), L)
        return blocks, block_z, beta, solution

    def _solve(self, features: RowBlocks[Array], L: Array) -> tuple[Array, Solution]:
        """Return beta and the solution that it comes from, starting from the last."""
        start = None
        if self._last is not None:
            beta, last = self._last
            start = replace(last, V=beta @ L)
        solution = self._optimum(features, len(L), start)
        beta = solve_triangular(L, solution.V.T, lower=True, trans="T").T  # [W05, eq. 33]
        self._last = (beta, solution)
        return beta, solution

    def _optimum(self, features: RowBlocks[Array], n_features: int, start: Solution | None) -> Solution:
        """Return the optimum of the inner problem on whitened features; ``alpha Y`` is what each row pulls."""
        return solve(features, self.Y, n_features, self.loss, start)

    def _rows(self, rows: slice) -> Array:
        X = np.asarray(self.X[rows], np.float64)
        return X if self.offset is None else X - self.offset


def whitened(L: Array, K: Array) -> Array:
    """Return Phi = K L^-T [W05, eq. 29]."""
    return np.ascontiguousarray(solve_triangular(L, K.T, lower=True).T)
