"""MK-SVM, the support vector machine on a learnt convex combination of kernels [H09, II]; every support vector is kept.

    min_mu max_alpha  sum_i alpha_i - 1/2 sum_k mu_k a' K_k a,   a_i = alpha_i y_i,   mu >= 0, sum_k mu_k = 1

with ``0 <= alpha <= C`` and ``sum_i a_i = 0``: the dual of [H09, eq. 2] and [eq. 5] alike. W(mu), the maximum, is
convex, and its gradient is ``dW/dmu_k = -1/2 a' K_k a`` at the alpha of an SVM on ``sum_k mu_k K_k``; weights are found
by linear programs or by gradient projection, as in SMKC2.

It is the reference that SMKC1 and SMKC2 are compared with, and builds n x n matrices.

Symbols: D (n, n) distances, from which every K_k is computed; W the dual objective summed over the outputs.

Note: several classes are one-vs-rest with shared weights.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.kernels.bases import BASES
from sparsegen.kernels.expression import base_of, evaluate
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.libsvm import PRECOMPUTED, train_svc
from sparsegen.methods.shared.mixture_search import drop_negligible
from sparsegen.methods.shared.multiple_kernels import WEIGHT_SOLVER, MixtureClassifier, base_kernels
from sparsegen.methods.shared.parameters import POSITIVE, parameter, whole
from sparsegen.methods.shared.row_weights import RowWeights
from sparsegen.solvers.simplex import cut, descend

SVM_TOL = 0.1  # of LIBSVM, relative to ours: W must be known better than the weights


@METHODS.register("mksvm")
class MKSVM(MixtureClassifier):
    """Multiple-kernel support vector machine."""

    method = "mksvm"
    summary = "multiple-kernel SVM as reference; a learnt sum of kernels, all support vectors [H09, II]"

    solver: str = WEIGHT_SOLVER
    max_iter: int = parameter(50, "most SVMs trained per output to find the weights", whole(1))
    tol: float = parameter(1e-3, "training stops when the objective is within this share of its minimum", POSITIVE)

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        kernels = base_kernels(kernel, self.n_kernels, self.gammas)
        mu = np.full(len(kernels), 1.0 / len(kernels))
        with progress.task("training mksvm", self.max_iter) as advance:
            dual = _Dual(X, Y, kernels, float(self.C), SVM_TOL * self.tol, advance, weights)
            if len(kernels) > 1:
                find = cut if self.solver == "lp" else descend
                mu = drop_negligible(find(dual.value_and_gradient, mu, float(self.tol), int(self.max_iter)))
            value, coef, intercept = dual.train(mu)
        active = np.flatnonzero(mu)
        facts = {
            "iterations": dual.n_trained,
            "objective": value,
            "kernel_weights": [float(weight) for weight in mu[active]],
        }
        one = expand(X, coef, intercept, facts)
        mixed = mu[active][:, None] * one.coef[:, None, :]
        return replace(one, coef=mixed, kernels=tuple(kernels[k] for k in active))


class _Dual:
    """W(mu) and its gradient, by one SVM per output."""

    def __init__(
        self,
        X: Array,
        Y: Array,
        kernels: tuple[BoundKernel, ...],
        C: float,
        tol: float,
        advance: progress.Advance,
        weights: RowWeights | None = None,
    ) -> None:
        self.Y, self.kernels, self.C, self.tol, self.advance = Y, kernels, C, tol, advance
        self.weights = None if weights is None else weights.loss
        self.D = BASES[base_of(kernels[0].expression).name].block(X, X)
        self.n_trained = 0

    def value_and_gradient(self, mu: Array) -> tuple[float, Array]:
        value, coef, _ = self.train(mu)
        used = np.flatnonzero(coef.any(axis=0))
        a, D = coef[:, used], self.D[np.ix_(used, used)]
        quadratic = [float(np.einsum("oi,ij,oj->", a, _gram(k, D), a, optimize=True)) for k in self.kernels]
        return value, -0.5 * np.array(quadratic)

    def train(self, mu: Array) -> tuple[float, Array, Array]:
        """Return W, a (n_outputs, n) and the biases."""
        K = sum(mu[k] * _gram(self.kernels[k], self.D) for k in np.flatnonzero(mu))
        n, n_outputs = self.Y.shape
        coef, intercept = np.zeros((n_outputs, n)), np.zeros(n_outputs)
        for o in range(n_outputs):
            _, coef[o], intercept[o] = train_svc(K, self.Y[:, o], PRECOMPUTED, self.C, self.tol, self.weights)
        value = float(np.abs(coef).sum() - 0.5 * np.einsum("oi,oi->", coef @ K, coef))
        self.n_trained += 1
        self.advance(f"objective {value:.5g}")
        return value, coef, intercept


def _gram(kernel: BoundKernel, D: Array) -> Array:
    return np.asarray(evaluate(kernel.expression, D))
