"""Minimal SVM [Z18]: an L_p norm on the slack, 0 < p <= 1, leaves fewer rows inside the margin.

    min_{w, b}  1/2 |w|^2 + C sum_i xi_i^p,   y_i (w . x_i + b) >= 1 - xi_i,   xi_i >= 0                [Z18, eq. 9]

where rows with weights have a C of their own.

Two solvers:

- ``"momentum"``: the paper's gradient descent on a smoothed slack [Z18, eq. 22-28, Algorithm 1];
- ``"reweighted"``: xi^p is concave, so its tangent lies above it. Given the slack xi, a hinge machine with weights
  ``c_i = C p (xi_i + 1/s)^(p-1)`` can only lower ``1/2 |w|^2 + C sum_i (xi_i + 1/s)^p``; repeat. At the end
  alpha_i = c_i wherever xi_i > 0, which is the paper's condition ``xi_i (p C xi_i^(p-1) - alpha_i) = 0`` [Z18, eq. 18]
  with xi + 1/s for xi.

Both start from the ordinary SVM (``init="svm"``) or from w = 0 (``"zero"``), where all slack is 1. For the reweighted
solver that is a matter of the first weights: all C, which is the SVM, or all ``C p (1 + 1/s)^(p-1)``.

The linear machine is stored as its weight vector. With another kernel ``w = sum_i alpha_i y_i phi(x_i)`` [Z18, eq. 11],
and the rows with alpha_i > 0 are the vectors of the model; equal rows are one vector.

Symbols: xi (n,) slack, alpha (n,) multipliers, c (n,) weights of the hinge, s sharpness, f (n,) outputs.

Note: the reweighted solver is ours. Its machines are solved by LIBSVM, which takes a weight per row, and the linear
ones, at which LIBSVM is slow for large C, by solvers/newton.py.
Note: momentum leaves every row with a small coefficient; w is projected onto the rows at or inside the margin.
Note: the paper initialises w and b without saying how. Its w's are within seven degrees of the SVM's (Table 2) and its
descents take less than 50 steps (Figure 3), which speaks for the SVM.
Note: where no learning rate is given, momentum descends at growing sharpness, from s/16 to 64 s (solvers/lp_slack.py
says why); with one it is Algorithm 1 at s.
Note: the objective is not convex: both solvers end at a stationary point, not always the same one.
Note: momentum with a kernel, and kernels that LIBSVM does not have, need the Gram matrix of the rows. Where there are
more than ``n_candidates`` rows, as many are drawn at random, some of every class.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier, warn_unsolved
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.libsvm import PRECOMPUTED, libsvm_options, train_svc
from sparsegen.methods.shared.parameters import (
    LOSS_WEIGHT,
    MAX_SECONDS,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    SHARE_BELOW_ONE,
    one_of,
    parameter,
    whole,
)
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight
from sparsegen.methods.shared.start import class_of
from sparsegen.solvers.lp_slack import LpSlack, exact_objective, graduated, momentum, shorten
from sparsegen.solvers.newton import Loss, Solution, solve

LIBSVM_TOL = 1e-6  # slack below the tolerance is noise, but counts with its square root
COUNTED_SLACK = 1e-3  # rows with more slack than this are counted


@METHODS.register("minimal")
class MinimalSVM(SingleKernelClassifier):
    """SVM with the slack counted as ``xi^p``: fewer rows with slack, and outliers pull less."""

    method = "minimal"
    summary = "SVM with an L_p norm on the slack, 0 < p <= 1 [Z18]"
    needs_all_rows = "it is trained by LIBSVM, which needs all rows in memory"

    C: float = LOSS_WEIGHT
    p: float = parameter(0.5, "power of the slack, 0 < p <= 1; 1 is the ordinary SVM", SHARE)
    solver: str = parameter(
        "reweighted",
        '``"reweighted"`` hinge machines, or the paper\'s ``"momentum"``',
        one_of("reweighted", "momentum"),
    )
    init: str = parameter("svm", 'start: ``"svm"``, the ordinary SVM, or ``"zero"``', one_of("svm", "zero"))
    sharpness: float = parameter(100.0, "how closely the smoothed slack follows the slack [Z18, eq. 23]", POSITIVE)
    momentum: float = parameter(0.9, "share of the last step that is repeated (momentum solver)", SHARE_BELOW_ONE)
    learning_rate: float | None = parameter(
        None, "step length [Z18, eq. 27]; ``None`` adapts it on the way (momentum solver)", POSITIVE
    )
    n_candidates: int = parameter(2000, "most rows used where their Gram matrix is needed", whole(2))
    max_iter: int | None = parameter(
        None, "most machines (reweighted) or steps (momentum); ``None`` means 30 and 20000", whole(1)
    )
    max_seconds: float | None = MAX_SECONDS
    tol: float = parameter(
        1e-4,
        "stop when the objective improves by less than this share (momentum: ten steps together by less than a tenth)",
        NOT_NEGATIVE,
    )

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        needs_gram = not kernel.is_linear and (self.solver == "momentum" or libsvm_options(kernel) is None)
        if needs_gram and len(X) > self.n_candidates:
            rows = draw_rows(class_of(Y), int(self.n_candidates), rng)
            X, Y, weights = X[rows], Y[rows], None if weights is None else weights.of(rows)
        K = kernel.gram(X, X) if needs_gram else None
        inputs, basis = (X, None) if not kernel.is_linear or len(X) >= X.shape[1] else coordinates(X)
        end = np.inf if self.max_seconds is None else time.monotonic() + self.max_seconds
        loss = LpSlack(loss_weight(self.C, weights), float(self.p), float(self.sharpness))
        train = self._descend if self.solver == "momentum" else self._reweight
        machines = []
        with progress.task("training minimal svm", Y.shape[1]) as advance:
            for k in range(Y.shape[1]):
                machines.append(train(inputs, K, Y[:, k], kernel, loss, lambda: time.monotonic() < end))
                advance(f"machine {k + 1} of {Y.shape[1]}, objective {machines[-1].objective:.5g}")
        facts = {
            "iterations": max(machine.iterations for machine in machines),
            "objective": sum(machine.objective for machine in machines),
            "rows_with_slack": int(np.any([machine.slack > COUNTED_SLACK for machine in machines], axis=0).sum()),
        }
        coef, b = np.array([machine.coef for machine in machines]), np.array([machine.b for machine in machines])
        if kernel.is_linear:
            return Expansion(coef if basis is None else coef @ basis.T, np.eye(len(coef)), b, facts=facts)
        return expand(X, merge_equal_rows(X, coef), b, facts)

    def _reweight(
        self, X: Array, K: Array | None, y: Array, kernel: BoundKernel, loss: LpSlack, go_on: Callable[[], bool]
    ) -> MinimalMachine:
        """Return the machine at which the weights of the hinge no longer change the objective."""
        hinge = HingeMachines(X, K, y, kernel)
        shift = 1.0 / loss.s
        weights = self._first_weights(len(y), loss)
        best, best_value = None, np.inf
        for iteration in range(1, (self.max_iter or 30) + 1):
            coef, b, f = hinge.train(weights)
            half_norm = 0.5 * float(coef @ (coef if kernel.is_linear else f - b))
            slack = np.maximum(0.0, 1.0 - y * f)
            value = half_norm + loss.weighed((slack + shift) ** loss.p)
            gain = best_value - value
            if gain > 0.0:
                best_value = value
                best = MinimalMachine(coef, b, slack, half_norm + loss.value(y * f), iteration)
            last, weights = weights, loss.C * loss.p * (slack + shift) ** (loss.p - 1.0)
            if gain <= self.tol * value or np.array_equal(last, weights) or not go_on():
                break
        if best is None:
            raise OptionError("the objective is not finite; scale the features or lower C")
        return best

    def _descend(
        self, X: Array, K: Array | None, y: Array, kernel: BoundKernel, loss: LpSlack, go_on: Callable[[], bool]
    ) -> MinimalMachine:
        """Return where the descent of [Z18, Algorithm 1] ends."""
        A, is_gram = X if K is None else K, K is not None
        settings: dict[str, Any] = {
            "is_gram": is_gram,
            "epsilon": float(self.momentum),
            "max_iter": int(self.max_iter or 20_000),
            "tol": float(self.tol) / 10.0,
            "start": HingeMachines(X, K, y, kernel).train(np.full(len(y), loss.C))[:2] if self.init == "svm" else None,
            "go_on": go_on,
        }
        if self.learning_rate is None:
            found, losses = graduated(A, y, loss, **settings), loss.sharpened()[::-1]
        else:
            found, losses = momentum(A, y, loss, eta=self.learning_rate, **settings), [loss]
            if not found.converged:
                warn_unsolved("the descent did not settle; lower learning_rate, raise max_iter, or let the rate adapt")
        coef = found.a if K is None else shorten(K, y, found.a, found.b, *losses)
        slack = np.maximum(0.0, 1.0 - y * (A @ coef + found.b))
        objective = exact_objective(A, coef, found.b, y, loss, is_gram=is_gram)
        return MinimalMachine(coef, found.b, slack, objective, len(found.objectives))

    def _first_weights(self, n: int, loss: LpSlack) -> Array:
        """Return the weights of the SVM, or of the tangent at slack 1."""
        first = loss.C if self.init == "svm" else loss.C * loss.p * (1.0 + 1.0 / loss.s) ** (loss.p - 1.0)
        return np.full(n, first)


class HingeMachines:
    """Hinge machines on the same rows, with weights that change; K is their Gram matrix where LIBSVM needs it."""

    def __init__(self, X: Array, K: Array | None, y: Array, kernel: BoundKernel) -> None:
        self._is_linear, self._y = kernel.is_linear, y
        self._rows = X if K is None else K
        self._options = PRECOMPUTED if K is not None else libsvm_options(kernel) or {}
        self._last: Solution | None = None

    def train(self, weights: Array) -> tuple[Array, float, Array]:
        """Return coefficients of the rows (or the weight vector), bias and outputs."""
        rows, y = self._rows, self._y
        if self._is_linear:
            blocks = [(slice(0, len(rows)), rows)]
            self._last = solve(blocks, y[:, None], rows.shape[1], Loss("hinge", weights), self._last)
            coef, b = self._last.V[0], float(self._last.b[0])
            return coef, b, rows @ coef + b
        svc, coef, b = train_svc(rows, y, self._options, 1.0, LIBSVM_TOL, weights)
        return coef, b, svc.decision_function(rows)


@dataclass(frozen=True)
class MinimalMachine:
    """One output: coefficients of rows (or the weight vector), bias, slack of the rows, objective [Z18, eq. 22]."""

    coef: Array
    b: float
    slack: Array
    objective: float
    iterations: int


def coordinates(X: Array) -> tuple[Array, Array]:
    """Return the coordinates of rows in an orthonormal basis (d, n) of their span, where w must lie, and that basis."""
    basis, triangle = np.linalg.qr(X.T)
    return np.ascontiguousarray(triangle.T), basis


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
