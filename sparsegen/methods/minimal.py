"""Minimal SVM [Z18]: an L_p norm on the slack, 0 < p <= 1, leaves fewer rows inside the margin.

    min_{w, b}  1/2 |w|^2 + C sum_i xi_i^p,   y_i (w . x_i + b) >= 1 - xi_i,   xi_i >= 0                [Z18, eq. 9]

Two solvers:

- ``"momentum"``: the paper's gradient descent on a smoothed slack [Z18, eq. 22-28, Algorithm 1];
- ``"reweighted"``: xi^p is concave, so its tangent lies above it. Given the slack xi, a hinge machine with weights
  ``c_i = C p (xi_i + 1/s)^(p-1)`` can only lower ``1/2 |w|^2 + C sum_i (xi_i + 1/s)^p``; repeat. At the end
  alpha_i = c_i wherever xi_i > 0, which is the paper's condition ``xi_i (p C xi_i^(p-1) - alpha_i) = 0`` [Z18, eq. 18]
  with xi + 1/s for xi. The first machine has all weights C: the ordinary SVM.

The linear machine is stored as its weight vector. With another kernel ``w = sum_i alpha_i y_i phi(x_i)`` [Z18, eq. 11],
and the rows with alpha_i > 0 are the vectors of the model; equal rows are one vector.

Symbols: xi (n,) slack, alpha (n,) multipliers, c (n,) weights of the hinge, s sharpness, f (n,) outputs.

Note: the reweighted solver is ours. Its machines are solved by LIBSVM, which takes a weight per row, and the linear
ones, at which LIBSVM is slow for large C, by solvers/newton.py.
Note: momentum leaves every row with a small coefficient; w is projected onto the rows at or inside the margin.
Note: the objective is not convex: both solvers end at a stationary point, not always the same one.
Note: momentum with a kernel, and kernels that LIBSVM does not have, need the Gram matrix of the rows. Where there are
more than ``n_candidates`` rows, as many are drawn at random, some of every class.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

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
from sparsegen.methods.shared.start import class_of
from sparsegen.solvers.lp_slack import LpSlack, momentum, shorten
from sparsegen.solvers.newton import Loss, solve

LIBSVM_TOL = 1e-4
COUNTED_SLACK = 1e-3  # rows with more slack than this are counted


@METHODS.register("minimal")
class MinimalSVM(SingleKernelClassifier):
    """SVM with the slack counted as ``xi^p``: fewer rows with slack, and outliers pull less."""

    method = "minimal"
    summary = "SVM with an L_p norm on the slack, 0 < p <= 1 [Z18]"

    C: float = LOSS_WEIGHT
    p: float = parameter(0.5, "power of the slack, 0 < p <= 1; 1 is the ordinary SVM", SHARE)
    solver: str = parameter(
        "reweighted",
        '``"reweighted"`` hinge machines, or the paper\'s ``"momentum"``',
        one_of("reweighted", "momentum"),
    )
    sharpness: float = parameter(100.0, "how closely the smoothed slack follows the slack [Z18, eq. 23]", POSITIVE)
    momentum: float = parameter(0.9, "share of the last step that is repeated (momentum solver)", SHARE_BELOW_ONE)
    learning_rate: float | None = parameter(
        None, "step length [Z18, eq. 27]; ``None`` adapts it on the way (momentum solver)", POSITIVE
    )
    n_candidates: int = parameter(2000, "most rows used where their Gram matrix is needed", whole(2))
    max_iter: int | None = parameter(
        None, "most machines (reweighted) or steps (momentum); ``None`` means 30 and 2000", whole(1)
    )
    max_seconds: float | None = MAX_SECONDS
    tol: float = parameter(
        1e-4, "stop when the objective improves by less than this share (momentum: in ten steps together)", NOT_NEGATIVE
    )

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        needs_gram = not kernel.is_linear and (self.solver == "momentum" or libsvm_options(kernel) is None)
        if needs_gram and len(X) > self.n_candidates:
            rows = draw_rows(class_of(Y), int(self.n_candidates), rng)
            X, Y = X[rows], Y[rows]
        K = kernel.gram(X, X) if needs_gram else None
        end = np.inf if self.max_seconds is None else time.monotonic() + self.max_seconds
        loss = LpSlack(float(self.C), float(self.p), float(self.sharpness))
        train = self._descend if self.solver == "momentum" else self._reweight
        machines = []
        with progress.task("training minimal svm", Y.shape[1]) as advance:
            for k in range(Y.shape[1]):
                machines.append(train(X, K, Y[:, k], kernel, loss, lambda: time.monotonic() < end))
                advance(f"machine {k + 1} of {Y.shape[1]}, objective {machines[-1].objective:.5g}")
        facts = {
            "iterations": max(machine.iterations for machine in machines),
            "objective": sum(machine.objective for machine in machines),
            "rows_with_slack": int(np.any([machine.slack > COUNTED_SLACK for machine in machines], axis=0).sum()),
        }
        coef, b = np.array([machine.coef for machine in machines]), np.array([machine.b for machine in machines])
        if kernel.is_linear:
            return Expansion(coef, np.eye(len(coef)), b, facts=facts)
        return expand(X, merge_equal_rows(X, coef), b, facts)

    def _reweight(
        self, X: Array, K: Array | None, y: Array, kernel: BoundKernel, loss: LpSlack, go_on: Callable[[], bool]
    ) -> MinimalMachine:
        """Return the machine at which the weights of the hinge no longer change the objective."""
        rows, options = (K, PRECOMPUTED) if K is not None else (X, libsvm_options(kernel) or {})
        linear = None
        shift = 1.0 / loss.s
        weights = np.full(len(y), loss.C)
        best, best_value = None, np.inf
        for iteration in range(1, (self.max_iter or 30) + 1):
            if kernel.is_linear:
                linear = solve([(slice(0, len(X)), X)], y[:, None], X.shape[1], Loss("hinge", weights), linear)
                coef, b = linear.V[0], float(linear.b[0])
                f = X @ coef + b
                half_norm = 0.5 * float(coef @ coef)
            else:
                svc, coef, b = train_svc(rows, y, options, 1.0, LIBSVM_TOL, weights)
                f = svc.decision_function(rows)
                half_norm = 0.5 * float(coef @ (f - b))
            slack = np.maximum(0.0, 1.0 - y * f)
            value = half_norm + loss.C * float(((slack + shift) ** loss.p).sum())
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
            warn_unsolved(
                "the descent did not settle; lower learning_rate, raise max_iter, or leave learning_rate to be adapted"
            )
        coef = found.a if K is None else shorten(K, y, found.a, found.b, loss)
        outputs = A @ coef
        half_norm = 0.5 * float(coef @ (coef if K is None else outputs))
        margins = y * (outputs + found.b)
        objective = half_norm + loss.value(margins)
        return MinimalMachine(coef, found.b, np.maximum(0.0, 1.0 - margins), objective, len(found.objectives))


@dataclass(frozen=True)
class MinimalMachine:
    """One output: coefficients of rows (or the weight vector), bias, slack of the rows, objective [Z18, eq. 22]."""

    coef: Array
    b: float
    slack: Array
    objective: float
    iterations: int


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
