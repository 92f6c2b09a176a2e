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
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.svm import SVC
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.kernels.bases import BASES
from sparsegen.kernels.expression import base_of, evaluate
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.mixture_search import drop_negligible
from sparsegen.methods.shared.multiple_kernels import base_kernels
from sparsegen.methods.svm import CACHE_MB
from sparsegen.solvers.simplex import cut, descend

SVM_TOL = 0.1  # of LIBSVM, relative to ours: W must be known better than the weights


@METHODS.register("mksvm")
class MKSVM(SparseClassifier):
    """Multiple-kernel support vector machine.

    Args:
        C: weight of the hinge loss.
        kernel: ``"rbf"`` or ``"laplacian"``.
        gamma: the middle one of the kernels' parameters, or ``"scale"`` for ``1 / (n_features * X.var())``.
        n_kernels: number of kernels; their gammas are a factor of 4 apart.
        gammas: instead of ``gamma`` and ``n_kernels``, the list of gammas. Powers of two apart are cheap on a device.
        solver: how weights are found: ``"lp"`` (linear programs) or ``"gradient"`` (gradient projection).
        max_iter: bound on the number of SVMs that are trained per output to find the weights.
        tol: training stops when the objective is within this share of its minimum.
        random_state: unused, accepted so that methods can be exchanged.
    """

    method = "mksvm"
    summary = "multiple-kernel SVM as reference; a learnt sum of kernels, all support vectors [H09, II]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in SparseClassifier._parameter_constraints.items() if k not in ("coef0", "degree")},
        "kernel": [StrOptions({"rbf", "laplacian"})],
        "n_kernels": [Interval(Integral, 1, None, closed="left")],
        "gammas": ["array-like", None],
        "solver": [StrOptions({"lp", "gradient"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        n_kernels: int = 5,
        gammas: ArrayLike | None = None,
        solver: str = "lp",
        max_iter: int = 50,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_kernels = n_kernels
        self.gammas = gammas
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        kernels = base_kernels(kernel, self.n_kernels, self.gammas)
        mu = np.full(len(kernels), 1.0 / len(kernels))
        with progress.task("training mksvm", self.max_iter) as advance:
            dual = _Dual(X, Y, kernels, float(self.C), SVM_TOL * self.tol, advance)
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
    ) -> None:
        self.Y, self.kernels, self.C, self.tol, self.advance = Y, kernels, C, tol, advance
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
            machine = SVC(C=self.C, tol=self.tol, kernel="precomputed", cache_size=CACHE_MB).fit(K, self.Y[:, o])
            coef[o, machine.support_] = machine.dual_coef_[0]
            intercept[o] = machine.intercept_[0]
        value = float(np.abs(coef).sum() - 0.5 * np.einsum("oi,oi->", coef @ K, coef))
        self.n_trained += 1
        self.advance(f"objective {value:.5g}")
        return value, coef, intercept


def _gram(kernel: BoundKernel, D: Array) -> Array:
    return np.asarray(evaluate(kernel.expression, D))
