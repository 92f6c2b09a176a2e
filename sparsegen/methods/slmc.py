"""SLMC, the sparse large margin classifier [W05]: an SVM whose weight vector is spanned by m vectors Z it may move.

    min_{Z, beta, b}  1/2 sum_k beta_k' Kz beta_k + sum_k sum_i loss(y_ik (beta_k . psi_z(x_i) + b_k))    [W05, eq. 16]

The inner problem in (beta, b) is solved exactly for given Z, W(Z) is its value [W05, eq. 10], and L-BFGS-B descends on
W. By the envelope theorem the gradient needs only ``K(Z, Z)`` and ``K(X, Z)`` with beta and alpha held fixed:

    dW/dz = 1/2 sum_k d(beta_k' Kz beta_k)/dz - sum_k sum_i alpha_ik y_ik beta_k . dpsi_z(x_i)/dz

which equals [W05, eq. 34] at the optimum, since beta = Kz^-1 Kzx Y alpha there [W05, eq. 33].

All classes share Z, so a device evaluates m kernels whatever the number of classes. With ``projection=p`` the kernels
see ``P (x - mean)``, and P is learnt together with Z; ``1/2 rho C |P - P0|^2`` holds it near the directions P0 it
starts from (left free, P stretches until the training rows are separated and the test rows are not).

Symbols: Z (m, p) vectors, Kz = K(Z, Z), L its Cholesky factor, Phi = Kxz L^-T whitened features [W05, eq. 29],
beta (n_outputs, m), P (p, d) projection, theta = (Z, P) flattened.

Note: [W05] uses the hinge loss and one set of vectors per class; the squared hinge and shared vectors are ours.
Note: Kz has a ridge, see ``shared.ridge``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, solve_triangular

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel, GramBlock
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import MovableVectors
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier, warn_unsolved
from sparsegen.methods.shared.parameters import N_INIT, NOT_NEGATIVE, parameter, whole
from sparsegen.methods.shared.ridge import weights_with_ridge, with_ridge
from sparsegen.methods.shared.start import start_projection, start_vectors
from sparsegen.solvers.blocks import RowBlocks, rows_per_block
from sparsegen.solvers.descent import lbfgs
from sparsegen.solvers.newton import Loss, Solution, solve

EXACT_COEFFICIENTS = "beta = Kz^-1 Kzx Y alpha_z [W05, eq. 33]"
ARRAYS_PER_BLOCK = 6  # n x m arrays alive while a block is in use: base, kernel, slope, Phi, weights, a temporary


@METHODS.register("slmc")
class SLMC(MovableVectors, SingleKernelClassifier):
    """Sparse large margin classifier: few vectors, placed where they help most."""

    method = "slmc"
    summary = "sparse large margin classifier: vectors placed by gradient descent [W05]"
    coefficient_formula = EXACT_COEFFICIENTS

    n_init: int = N_INIT
    projection: int | None = parameter(
        None, "learn a linear map to this many dimensions together with the vectors", whole(1)
    )
    projection_penalty: float = parameter(
        10.0, "how firmly the map is held near the directions it starts from, relative to ``C``", NOT_NEGATIVE
    )

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        P = start_projection(X, Y, self.projection)
        m = self._count_vectors(X, Y, kernel)
        offset = None if P is None else X.mean(axis=0)  # as for principal components; exports learn where the rows lie
        X = X if offset is None else X - offset
        seen = X if P is None else X @ P.T
        loss = Loss(self.loss, float(self.C))
        found = []
        for start in range(self.n_init):
            objective = SlmcObjective(X, Y, kernel, loss, P, self.projection_penalty * self.C, self.block_rows)
            Z = start_vectors(seen, Y, m, self.init, rng)
            if self.optimize == "vectors":
                title = "training slmc" + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
                unit = float(seen.std()) * np.sqrt(m) or 1.0  # the first step moves each vector by about one deviation
                end = objective.descend(Z, P, unit, max_iter=self.max_iter, tol=self.tol, title=title)
                found.append(objective.expansion(*end))
            else:
                found.append(objective.expansion(Z, P, iterations=0))
        best = min(found, key=lambda expansion: float(expansion.facts["objective"]))
        return replace(best, offset=offset)


class SlmcObjective:
    """W(Z, P) and its gradient, as a sum over blocks of rows; remembers the last inner optimum to start from."""

    def __init__(
        self,
        X: Array,
        Y: Array,
        kernel: BoundKernel,
        loss: Loss,
        P0: Array | None = None,
        rho: float = 0.0,
        block_rows: int | None = None,
    ) -> None:
        self.X, self.Y, self.kernel, self.loss = X, Y, kernel, loss
        self.P0, self.rho = P0, rho
        self.block_rows = block_rows
        self._last: tuple[Array, Solution] | None = None

    def __call__(self, Z: Array, P: Array | None) -> tuple[float, Array]:
        """Return W and its gradient in (Z, P), flattened."""
        blocks, block_z, beta, solution = self._inner(Z, P)
        gradient_Z = block_z.gradient(weights_with_ridge(beta, 1.0))
        gradient_P = None if P is None or self.P0 is None else self.rho * (P - self.P0)
        for rows, block in blocks:
            weights = -(solution.alpha[rows] * self.Y[rows]) @ beta
            gradient_Z += block.gradient(weights)
            if gradient_P is not None:
                gradient_P += block.gradient_left(weights).T @ self.X[rows]
        parts = [gradient_Z.ravel()] if gradient_P is None else [gradient_Z.ravel(), gradient_P.ravel()]
        return self._objective(solution, P), np.concatenate(parts)

    def descend(
        self, Z: Array, P: Array | None, unit: float, *, max_iter: int, tol: float, title: str
    ) -> tuple[Array, Array | None, int]:
        """Return where a descent from (Z, P) ends, and its iterations; Z is counted in units, P has no dimension."""

        def unpack(theta: Array) -> tuple[Array, Array | None]:
            return theta[: Z.size].reshape(Z.shape), None if P is None else theta[Z.size :].reshape(P.shape)

        start, units = Z.ravel(), np.full(Z.size, unit)
        if P is not None:
            start, units = np.append(start, P), np.append(units, np.ones(P.size))
        with progress.task(title, max_iter) as advance:
            found = lbfgs(lambda at: self(*unpack(at)), start, units, max_iter=max_iter, tol=tol, advance=advance)
        return *unpack(found.x), found.iterations

    def expansion(self, Z: Array, P: Array | None, iterations: int) -> Expansion:
        """Return the classifier at (Z, P)."""
        _, _, beta, solution = self._inner(Z, P)
        if not solution.solved:
            warn_unsolved()
        facts = {"iterations": iterations, "objective": self._objective(solution, P)}
        return Expansion(Z.copy(), beta, solution.b, None if P is None else P.copy(), facts=facts)

    def _objective(self, solution: Solution, P: Array | None) -> float:
        held = 0.0 if P is None or self.P0 is None else 0.5 * self.rho * float(((P - self.P0) ** 2).sum())
        return solution.objective + held

    def _inner(self, Z: Array, P: Array | None) -> tuple[RowBlocks[GramBlock], GramBlock, Array, Solution]:
        """Return the blocks of K(X, Z), K(Z, Z), beta, and the solution that beta comes from."""
        block_z = self.kernel.block(Z, Z)
        L = np.tril(cho_factor(with_ridge(block_z.value), lower=True)[0])
        blocks = self.gram_blocks(Z, P)
        features = blocks.then(lambda block: np.ascontiguousarray(solve_triangular(L, block.value.T, lower=True).T))
        start = None
        if self._last is not None:
            beta, last = self._last
            start = replace(last, V=beta @ L)
        solution = solve(features, self.Y, len(Z), self.loss, start)
        beta = solve_triangular(L, solution.V.T, lower=True, trans="T").T  # [W05, eq. 33]
        self._last = (beta, solution)
        return blocks, block_z, beta, solution

    def gram_blocks(self, Z: Array, P: Array | None) -> RowBlocks[GramBlock]:
        """Return the blocks of ``K(X, Z)``, with the rows projected by P if there is one."""

        def block(rows: slice) -> GramBlock:
            return self.kernel.block(self.X[rows] if P is None else self.X[rows] @ P.T, Z)

        return RowBlocks(len(self.X), self.block_rows or rows_per_block(len(Z), ARRAYS_PER_BLOCK), block)
