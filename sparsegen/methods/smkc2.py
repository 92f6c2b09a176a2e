"""SMKC2, the sparse classifier on a convex combination of "equivalent" kernels [H09, IV-B].

The equivalent kernel of K_k and vectors Z is ``K*_k(x, x') = psi_k(x)' Kz_k^-1 psi_k(x')`` [H09, eq. 23], and

    min_{mu, Z} max_alpha  sum_i alpha_i - 1/2 sum_ij a_i a_j sum_k mu_k K*_k(x_i, x_j),   mu >= 0, sum_k mu_k = 1

with ``0 <= alpha <= C``, ``sum_i a_i = 0`` [H09, eq. 26]. For fixed Z it is convex in mu: weights are found by linear
programs or by gradient projection [H09, eq. 27]; they descend together with the vectors from several starts, see
shared.mixture_search. Every kernel has its own ``beta_k = Kz_k^-1 sum_i a_i psi_k(x_i)``, so for the same vectors SMKC2
fits more than SMKC1, at the same cost on a device.

Symbols: L_k the Cholesky factor of Kz_k, Phi = [sqrt(mu_k) psi_k(X)' L_k^-T]_k the features (n, number of active
kernels times m) whose inner products are ``sum_k mu_k K*_k``; the others as in shared.multiple_kernels.

Note: several classes share vectors and weights; W is the sum over the outputs. The squared hinge is ours as well.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from sparsegen.arrays import Array
from sparsegen.methods import METHODS
from sparsegen.methods.shared.mixture_search import SparseMixture, WeightSearch
from sparsegen.methods.shared.multiple_kernels import WEIGHT_SOLVER, MixtureFeatures, MixtureObjective
from sparsegen.solvers.simplex import cut, descend


class OwnFeatures(MixtureFeatures):
    """Whitened features of every kernel that has a weight, side by side [H09, eq. 22]."""

    needs_pull = True

    def __init__(self, Kz: Array, mu: Array) -> None:
        super().__init__(Kz, mu)
        self.active = np.flatnonzero(mu)
        self.n_features = len(self.active) * Kz.shape[1]
        self.Kz = Kz
        self.L = np.linalg.cholesky(Kz)

    def whiten(self, values: Array) -> Array:
        """Return the features of every kernel that has a weight."""
        return np.hstack(
            [np.sqrt(self.mu[k]) * solve_triangular(self.L[k], values[k].T, lower=True).T for k in self.active]
        )

    def weights_of(self, B: Array) -> Array:
        """Return V of the beta_k that have a weight."""
        return np.hstack([np.sqrt(self.mu[k]) * (B[k] @ self.L[k]) for k in self.active])

    def betas(self, V: Array, pulled: Array | None) -> tuple[Array, Array]:
        """Return the coefficients from V, and every beta_k from alpha, so that a kernel without weight has one too."""
        if pulled is None:
            raise AssertionError("the pull is needed")
        n_outputs, m = len(V), self.Kz.shape[1]
        coef = np.zeros((n_outputs, len(self.mu), m))
        V = V.reshape(n_outputs, len(self.active), m)
        for i, k in enumerate(self.active):
            coef[:, k] = np.sqrt(self.mu[k]) * solve_triangular(self.L[k], V[:, i].T, lower=True, trans="T").T
        B: Array = np.linalg.solve(self.Kz, pulled.transpose(0, 2, 1)).transpose(0, 2, 1).astype(np.float64)
        return coef, B


class Smkc2Objective(MixtureObjective):
    """W of [H09, eq. 26]."""

    features = OwnFeatures


@METHODS.register("smkc2")
class SMKC2(SparseMixture):
    """Sparse multiple-kernel classifier with its own coefficients for each kernel."""

    method = "smkc2"
    summary = "sparse multiple-kernel classifier: few vectors, own coefficients for each kernel [H09, IV-B]"
    coefficient_formula = "mu_k beta_k for kernel k, beta_k = Kz_k^-1 Kzx_k Y alpha [H09, IV-B]"
    objective = Smkc2Objective

    solver: str = WEIGHT_SOLVER

    def _weight_search(self) -> WeightSearch:
        return cut if self.solver == "lp" else descend
