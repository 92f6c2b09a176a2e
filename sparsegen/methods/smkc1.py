"""SMKC1, the sparse classifier on a convex combination of kernels [H09, IV-A].

SLMC with the kernel ``K = sum_k mu_k K_k``, whose weights are learnt with the vectors:

    min_{mu, Z, beta, b}  1/2 beta' Kz beta + sum_i loss(y_i (beta . psi(x_i) + b)),   mu >= 0, sum_k mu_k = 1  [eq. 15]
    psi(x) = sum_k mu_k K_k(Z, x),   Kz = sum_k mu_k K_k(Z, Z)

W is not convex in mu; weights are found by gradient projection [H09, eq. 19-20], vectors by Algorithm 1.

Symbols: Phi = psi(X)' L^-T whitened features with L the Cholesky factor of Kz; the others as in
shared.multiple_kernels.

Note: several classes share vectors and weights; W is the sum over the outputs. The squared hinge is ours as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.mixture_search import SparseMixture, WeightSearch
from sparsegen.methods.shared.multiple_kernels import Features, MixtureObjective
from sparsegen.solvers.newton import Loss, Solution
from sparsegen.solvers.simplex import descend


@METHODS.register("smkc1")
class SMKC1(SparseMixture):
    """Sparse multiple-kernel classifier on a weighted sum of kernels.

    Args:
        n_vectors: number of expansion vectors; ``None`` means ``max(16, 3 * n_classes)``, at most one per row.
        ratio: instead of ``n_vectors``, a share of the support vectors of an SVM with ``gamma`` (0.1 = a tenth).
        C: weight of the loss.
        kernel: ``"rbf"`` or ``"laplacian"``.
        gamma: the middle one of the kernels' parameters, or ``"scale"`` for ``1 / (n_features * X.var())``.
        n_kernels: number of kernels; their gammas are a factor of 4 apart.
        gammas: instead of ``gamma`` and ``n_kernels``, the list of gammas. Powers of two apart are cheap on a device.
        loss: ``"squared_hinge"`` or ``"hinge"``.
        init: ``"kmeans"`` (centres within each class), ``"random"`` rows, or an array of vectors to start from.
        optimize: ``"vectors"`` moves the vectors; ``"coefficients"`` keeps them where they start [H09, V-A].
        max_iter: bound on the iterations on the vectors.
        tol: training stops when ten iterations together improve the objective by less than this share.
        block_rows: rows per block; ``None`` takes as many as fit in about 1 GiB.
        random_state: seed.
    """

    method = "smkc1"
    summary = "sparse multiple-kernel classifier: few vectors, a learnt sum of kernels [H09, IV-A]"

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        ratio: float | None = None,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        n_kernels: int = 5,
        gammas: ArrayLike | None = None,
        loss: str = "squared_hinge",
        init: str | ArrayLike = "kmeans",
        optimize: str = "vectors",
        max_iter: int = 100,
        tol: float = 1e-3,
        block_rows: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.ratio = ratio
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_kernels = n_kernels
        self.gammas = gammas
        self.loss = loss
        self.init = init
        self.optimize = optimize
        self.max_iter = max_iter
        self.tol = tol
        self.block_rows = block_rows
        self.random_state = random_state

    def _objective(self, X: Array, Y: Array, kernels: tuple[BoundKernel, ...], loss: Loss) -> MixtureObjective:
        return Smkc1Objective(X, Y, kernels, loss, self.block_rows)

    def _weight_search(self) -> WeightSearch:
        return descend


class SumFeatures(Features):
    """Whitened features of the summed kernel [H09, eq. 17]."""

    def __init__(self, objective: MixtureObjective, Z: Array, mu: Array) -> None:
        super().__init__(objective, Z, mu)
        self.n_features = len(Z)
        self.L = cholesky(np.tensordot(mu, objective.ridged(Z), axes=1), lower=True)

    def _whiten(self, values: Array) -> Array:
        return np.asarray(solve_triangular(self.L, np.tensordot(self.mu, values, axes=1).T, lower=True).T)

    def weights_of(self, B: Array) -> Array:
        """Return V of the one beta."""
        return np.asarray(B[0] @ self.L)

    def betas(self, solution: Solution) -> tuple[Array, Array]:
        """Return the one beta, for every kernel."""
        beta = solve_triangular(self.L, solution.V.T, lower=True, trans="T").T
        return self.mu[:, None] * beta[:, None, :], np.broadcast_to(beta, (len(self.mu), *beta.shape))


class Smkc1Objective(MixtureObjective):
    """W of [H09, eq. 18]."""

    features = SumFeatures
