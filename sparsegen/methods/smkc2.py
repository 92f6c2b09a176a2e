"""SMKC2, the sparse classifier on a convex combination of "equivalent" kernels [H09, IV-B].

The equivalent kernel of K_k and vectors Z is ``K*_k(x, x') = psi_k(x)' Kz_k^-1 psi_k(x')`` [H09, eq. 23], and

    min_{mu, Z} max_alpha  sum_i alpha_i - 1/2 sum_ij a_i a_j sum_k mu_k K*_k(x_i, x_j),   mu >= 0, sum_k mu_k = 1

with ``0 <= alpha <= C``, ``sum_i a_i = 0`` [H09, eq. 26]. For fixed Z it is convex in mu: weights are found by linear
programs or by gradient projection [H09, eq. 27], vectors by Algorithm 1. Every kernel has its own
``beta_k = Kz_k^-1 sum_i a_i psi_k(x_i)``, so for the same vectors SMKC2 fits more than SMKC1, at the same cost on a
device.

Symbols: L_k the Cholesky factor of Kz_k, Phi = [sqrt(mu_k) psi_k(X)' L_k^-T]_k the features (n, number of active
kernels times m) whose inner products are ``sum_k mu_k K*_k``; the others as in shared.multiple_kernels.

Note: several classes share vectors and weights; W is the sum over the outputs. The squared hinge is ours as well.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.utils._param_validation import StrOptions

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.mixture_search import SparseMixture, WeightSearch
from sparsegen.methods.shared.multiple_kernels import Features, MixtureObjective
from sparsegen.solvers.newton import Loss, Solution
from sparsegen.solvers.simplex import cut, descend


@METHODS.register("smkc2")
class SMKC2(SparseMixture):
    """Sparse multiple-kernel classifier with its own coefficients for each kernel.

    Args:
        n_vectors: number of expansion vectors; ``None`` means ``max(16, 3 * n_classes)``, at most one per row.
        ratio: instead of ``n_vectors``, a share of the support vectors of an SVM with ``gamma`` (0.1 = a tenth).
        C: weight of the loss.
        kernel: ``"rbf"`` or ``"laplacian"``.
        gamma: the middle one of the kernels' parameters, or ``"scale"`` for ``1 / (n_features * X.var())``.
        n_kernels: number of kernels; their gammas are a factor of 4 apart.
        gammas: instead of ``gamma`` and ``n_kernels``, the list of gammas. Powers of two apart are cheap on a device.
        loss: ``"squared_hinge"`` or ``"hinge"``.
        solver: how weights are found: ``"lp"`` (linear programs) or ``"gradient"`` (gradient projection).
        init: ``"kmeans"`` (centres within each class), ``"random"`` rows, or an array of vectors to start from.
        optimize: ``"vectors"`` moves the vectors; ``"coefficients"`` keeps them where they start [H09, V-A].
        max_iter: bound on the iterations on the vectors.
        tol: training stops when ten iterations together improve the objective by less than this share.
        block_rows: rows per block; ``None`` takes as many as fit in about 1 GiB.
        random_state: seed.
    """

    method = "smkc2"
    summary = "sparse multiple-kernel classifier: few vectors, own coefficients for each kernel [H09, IV-B]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseMixture._parameter_constraints,
        "solver": [StrOptions({"lp", "gradient"})],
    }

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
        solver: str = "lp",
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
        self.solver = solver
        self.init = init
        self.optimize = optimize
        self.max_iter = max_iter
        self.tol = tol
        self.block_rows = block_rows
        self.random_state = random_state

    def _objective(self, X: Array, Y: Array, kernels: tuple[BoundKernel, ...], loss: Loss) -> MixtureObjective:
        return Smkc2Objective(X, Y, kernels, loss, self.block_rows)

    def _weight_search(self) -> WeightSearch:
        return cut if self.solver == "lp" else descend


class OwnFeatures(Features):
    """Whitened features of every kernel that has a weight, side by side [H09, eq. 22]."""

    def __init__(self, objective: MixtureObjective, Z: Array, mu: Array) -> None:
        super().__init__(objective, Z, mu)
        self.active = np.flatnonzero(mu)
        self.n_features = len(self.active) * len(Z)
        self.Kz = objective.ridged(Z)
        self.L = np.linalg.cholesky(self.Kz)

    def _whiten(self, values: Array) -> Array:
        return np.hstack(
            [np.sqrt(self.mu[k]) * solve_triangular(self.L[k], values[k].T, lower=True).T for k in self.active]
        )

    def weights_of(self, B: Array) -> Array:
        """Return V of the beta_k that have a weight."""
        return np.hstack([np.sqrt(self.mu[k]) * (B[k] @ self.L[k]) for k in self.active])

    def betas(self, solution: Solution) -> tuple[Array, Array]:
        """Return the coefficients from V, and every beta_k from alpha, so that a kernel without weight has one too."""
        n_outputs, m = len(solution.V), len(self.Z)
        coef = np.zeros((n_outputs, len(self.mu), m))
        V = solution.V.reshape(n_outputs, len(self.active), m)
        for i, k in enumerate(self.active):
            coef[:, k] = np.sqrt(self.mu[k]) * solve_triangular(self.L[k], V[:, i].T, lower=True, trans="T").T
        pulled = self.objective.pull(self.Z, solution.alpha * self.objective.Y)
        B: Array = np.linalg.solve(self.Kz, pulled.transpose(0, 2, 1)).transpose(0, 2, 1).astype(np.float64)
        return coef, B


class Smkc2Objective(MixtureObjective):
    """W of [H09, eq. 26]."""

    features = OwnFeatures
