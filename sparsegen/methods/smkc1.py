"""SMKC1, the sparse classifier on a convex combination of kernels [H09, IV-A].

SLMC with the kernel ``K = sum_k mu_k K_k``, whose weights are learnt with the vectors:

    min_{mu, Z, beta, b}  1/2 beta' Kz beta + sum_i loss(y_i (beta . psi(x_i) + b)),   mu >= 0, sum_k mu_k = 1  [eq. 15]
    psi(x) = sum_k mu_k K_k(Z, x),   Kz = sum_k mu_k K_k(Z, Z)

W is not convex in mu. Weights are found by gradient projection [H09, eq. 19-20] and descend together with the vectors
from several starts, see shared.mixture_search.

Symbols: Phi = psi(X)' L^-T whitened features with L the Cholesky factor of Kz; the others as in
shared.multiple_kernels.

Note: several classes share vectors and weights; W is the sum over the outputs. The squared hinge is ours as well.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from sparsegen.arrays import Array
from sparsegen.methods import METHODS
from sparsegen.methods.shared.mixture_search import SparseMixture, WeightSearch
from sparsegen.methods.shared.multiple_kernels import MixtureFeatures, MixtureObjective
from sparsegen.solvers.simplex import descend


class SumFeatures(MixtureFeatures):
    """Whitened features of the summed kernel [H09, eq. 17]."""

    def __init__(self, Kz: Array, mu: Array) -> None:
        super().__init__(Kz, mu)
        self.n_features = Kz.shape[1]
        self.L = cholesky(np.tensordot(mu, Kz, axes=1), lower=True)

    def whiten(self, values: Array) -> Array:
        """Return the features of the summed kernel."""
        return np.asarray(solve_triangular(self.L, np.tensordot(self.mu, values, axes=1).T, lower=True).T)

    def weights_of(self, B: Array) -> Array:
        """Return V of the one beta."""
        return np.asarray(B[0] @ self.L)

    def betas(self, V: Array, pulled: Array | None) -> tuple[Array, Array]:
        """Return the one beta, for every kernel."""
        beta = solve_triangular(self.L, V.T, lower=True, trans="T").T
        return self.mu[:, None] * beta[:, None, :], np.broadcast_to(beta, (len(self.mu), *beta.shape))


class Smkc1Objective(MixtureObjective):
    """W of [H09, eq. 18]."""

    features = SumFeatures


@METHODS.register("smkc1")
class SMKC1(SparseMixture):
    """Sparse multiple-kernel classifier on a weighted sum of kernels."""

    method = "smkc1"
    summary = "sparse multiple-kernel classifier: few vectors, a learnt sum of kernels [H09, IV-A]"
    coefficient_formula = "mu_k beta for kernel k, beta = (sum_k mu_k Kz_k)^-1 (sum_k mu_k Kzx_k) Y alpha [H09, IV-A]"
    objective = Smkc1Objective

    def _weight_search(self) -> WeightSearch:
        return descend
