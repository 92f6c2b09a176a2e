"""Minimal SVM [Z18]: an L_p norm on the slack, 0 < p <= 1, leaves fewer rows inside the margin.

    min_{w, b}  1/2 |w|^2 + C sum_i xi_i^p,   y_i (w . x_i + b) >= 1 - xi_i,   xi_i >= 0                [Z18, eq. 9]

Two solvers:

- ``"momentum"``: the paper's gradient descent on a smoothed slack [Z18, eq. 22-28, Algorithm 1];
- ``"reweighted"``: xi^p is concave, so its tangent lies above it. With slack xi at hand, a hinge machine with weights
  ``c_i = C p (xi_i + 1/s)^(p-1)`` can only lower ``1/2 |w|^2 + C sum_i (xi_i + 1/s)^p``; repeat. At the end
  alpha_i = c_i wherever xi_i > 0, which is the paper's condition ``xi_i (p C xi_i^(p-1) - alpha_i) = 0`` [Z18, eq. 18]
  with xi + 1/s for xi. The first machine has all weights C: the ordinary SVM.

The linear machine is stored as its weight vector. With another kernel ``w = sum_i alpha_i y_i phi(x_i)`` [Z18, eq. 11],
and the rows with alpha_i > 0 are the vectors of the model; equal rows are one vector.

Symbols: xi (n,) slack, alpha (n,) multipliers, c (n,) weights of the hinge, s sharpness, f (n,) outputs.

Note: the reweighted solver is ours. Its machines are solved by LIBSVM, which takes a weight per row, and the linear
ones, at which LIBSVM is slow for large C, by solvers/weighted_hinge.py.
Note: momentum leaves every row with a small coefficient; w is projected onto the rows at or inside the margin.
Note: the objective is not convex: both solvers end at a stationary point, not always the same one.
Note: momentum with a kernel, and a kernel that LIBSVM does not have, need the Gram matrix of the rows: they are
trained on ``n_candidates`` rows drawn at random, every class among them, where there are more.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.start import class_of
from sparsegen.solvers.lp_slack import LpSlack, momentum, shorten
from sparsegen.solvers.weighted_hinge import solve_weighted

LIBSVM_KERNELS = ("linear", "poly", "rbf")
LIBSVM_TOL = 1e-4
CACHE_MB = 500
POSITIVE = 1e-3  # slack above this is counted as positive


@METHODS.register("minimal")
class MinimalSVM(SparseClassifier):
    """SVM with the slack counted as ``xi^p``: fewer rows with slack, and outliers pull less.

    Args:
        C: weight of the loss.
        p: power of the slack, 0 < p <= 1; 1 is the ordinary SVM.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        solver: ``"reweighted"`` hinge machines, or the paper's ``"momentum"``.
        sharpness: how closely the smoothed slack follows the slack [Z18, eq. 23].
        momentum: share of the last step that is repeated (momentum solver).
        learning_rate: step length [Z18, eq. 27]; ``None`` adapts it on the way (momentum solver).
        n_candidates: rows used, at most, where their Gram matrix is needed.
        max_iter: bound on machines (reweighted) or steps (momentum); ``None`` means 30 and 2000.
        max_seconds: bound on the time; a result that it cut short depends on the machine.
        tol: stop when the objective improves by less than this share (momentum: in ten steps together).
        random_state: seed of the draw of candidates.
    """

    method = "minimal"
    summary = "SVM with an L_p norm on the slack, 0 < p <= 1 [Z18]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "p": [Interval(Real, 0.0, 1.0, closed="right")],
        "solver": [StrOptions({"reweighted", "momentum"})],
        "sharpness": [Interval(Real, 0.0, None, closed="neither")],
        "momentum": [Interval(Real, 0.0, 1.0, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither"), None],
        "n_candidates": [Interval(Integral, 2, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "max_seconds": [Interval(Real, 0.0, None, closed="neither"), None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        p: float = 0.5,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        solver: str = "reweighted",
        sharpness: float = 100.0,
        momentum: float = 0.9,
        learning_rate: float | None = None,
        n_candidates: int = 2000,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.p = p
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.solver = solver
        self.sharpness = sharpness
        self.momentum = momentum
        self.learning_rate = learning_rate
        self.n_candidates = n_candidates
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        is_linear = kernel.name == "linear"
        needs_gram = not is_linear if self.solver == "momentum" else kernel.name not in LIBSVM_KERNELS
        if needs_gram and len(X) > self.n_candidates:
            rows = draw_rows(class_of(Y), int(self.n_candidates), rng)
            X, Y = X[rows], Y[rows]
        K = kernel.gram(X, X) if needs_gram else None
        end = np.inf if self.max_seconds is None else time.monotonic() + self.max_seconds
        loss = LpSlack(float(self.C), float(self.p), float(self.sharpness))
        solve = self._descend if self.solver == "momentum" else self._reweight
        machines = []
        with progress.task("training minimal svm", Y.shape[1]) as advance:
            for k in range(Y.shape[1]):
                machines.append(solve(X, K, Y[:, k], kernel, loss, lambda: time.monotonic() < end))
                advance(f"machine {k + 1} of {Y.shape[1]}, objective {machines[-1].objective:.5g}")
        facts = {
            "iterations": max(machine.iterations for machine in machines),
            "objective": sum(machine.objective for machine in machines),
            "rows_with_slack": int(np.any([machine.slack > POSITIVE for machine in machines], axis=0).sum()),
        }
        coef, b = np.array([machine.coef for machine in machines]), np.array([machine.b for machine in machines])
        if is_linear:
            return Expansion(coef, np.eye(len(coef)), b, facts=facts)
        return expand(X, merge_equal_rows(X, coef), b, facts)

    def _reweight(
        self, X: Array, K: Array | None, y: Array, kernel: BoundKernel, loss: LpSlack, go_on: Callable[[], bool]
    ) -> Machine:
        """Return the machine at which the weights of the hinge no longer change the objective."""
        rows, options = (X, libsvm_options(kernel)) if K is None else (K, {"kernel": "precomputed"})
        linear = None
        shift = 1.0 / loss.s
        weights = np.full(len(y), loss.C)
        best, best_value = None, np.inf
        for iteration in range(1, (self.max_iter or 30) + 1):
            if kernel.name == "linear":
                linear = solve_weighted(X, y, weights, linear)
                coef, b = linear.v, linear.b
                f = X @ coef + b
                half_norm = 0.5 * float(coef @ coef)
            else:
                svc = SVC(C=1.0, tol=LIBSVM_TOL, cache_size=CACHE_MB, **options).fit(rows, y, sample_weight=weights)
                coef, b, f = np.zeros(len(y)), float(svc.intercept_[0]), svc.decision_function(rows)
                coef[svc.support_] = svc.dual_coef_[0]
                half_norm = 0.5 * float(coef @ (f - b))
            slack = np.maximum(0.0, 1.0 - y * f)
            value = half_norm + loss.C * float(((slack + shift) ** loss.p).sum())
            gain = best_value - value
            if gain > 0.0:
                best_value = value
                best = Machine(coef, b, slack, half_norm + loss.value(y * f), iteration)
            last, weights = weights, loss.C * loss.p * (slack + shift) ** (loss.p - 1.0)
            if gain <= self.tol * value or np.array_equal(last, weights) or not go_on():
                break
        if best is None:
            raise OptionError("the objective is not finite; scale the features or lower C")
        return best

    def _descend(
        self, X: Array, K: Array | None, y: Array, kernel: BoundKernel, loss: LpSlack, go_on: Callable[[], bool]
    ) -> Machine:
        """Return where the descent of [Z18, Algorithm 1] ends."""
        A = X if K is None else K
        found = momentum(
            A,
            y,
            loss,
            is_gram=K is not None,
            epsilon=float(self.momentum),
            eta=self.learning_rate,
            max_iter=int(self.max_iter or 2000),
            tol=float(self.tol),
            go_on=go_on,
        )
        if self.learning_rate is not None and not found.converged:
            warnings.warn(
                "the descent did not settle; lower learning_rate, raise max_iter, or leave learning_rate to be adapted",
                ConvergenceWarning,
                stacklevel=2,
            )
        coef = found.a if K is None else shorten(K, y, found.a, found.b, loss)
        outputs = A @ coef
        half_norm = 0.5 * float(coef @ (coef if K is None else outputs))
        margins = y * (outputs + found.b)
        objective = half_norm + loss.value(margins)
        return Machine(coef, found.b, np.maximum(0.0, 1.0 - margins), objective, len(found.objectives))


@dataclass(frozen=True)
class Machine:
    """One output: coefficients of rows (or the weight vector), bias, slack of the rows, objective [Z18, eq. 22]."""

    coef: Array
    b: float
    slack: Array
    objective: float
    iterations: int


def libsvm_options(kernel: BoundKernel) -> dict[str, Any]:
    """Return LIBSVM's words for a kernel it has."""
    options: dict[str, Any] = {"kernel": kernel.name, **dict(kernel.params)}
    if "degree" in options:
        options["degree"] = int(options["degree"])
    return options


def merge_equal_rows(X: Array, coef: Array) -> Array:
    """Return coefficients of the same machines with the sum on the first of the used rows that are equal."""
    used = np.flatnonzero(coef.any(axis=0))
    merged = np.zeros_like(coef)
    if len(used):
        _, first, group = np.unique(X[used], axis=0, return_index=True, return_inverse=True)
        np.add.at(merged.T, used[first[group.ravel()]], coef[:, used].T)
    return merged


def draw_rows(owner: NDArray[np.intp], n: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return n rows drawn at random, in row order, with at least one row of every class."""
    shuffled = rng.permutation(len(owner))
    _, first = np.unique(owner[shuffled], return_index=True)
    if len(first) > n:
        raise OptionError(f"n_candidates is {n}, but there are {len(first)} classes; raise it")
    rest = np.delete(shuffled, first)
    return np.sort(np.concatenate([shuffled[first], rest[: n - len(first)]]))
