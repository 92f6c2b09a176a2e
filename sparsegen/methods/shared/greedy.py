"""What the greedy machines share: a basis chosen row by row from the training set [K06, 3], one rule per method.

Each output grows a machine of its own. The rows they choose are merged into one table of at most ``n_vectors``, and
every output is re-solved on the whole table and on all rows: a device evaluates each kernel once for all outputs.

Symbols: J chosen rows, I active rows, lam = 1 / (2 C), kappa = ``n_candidates``, d_max = ``n_vectors``.

Note: [K06, eq. 1] weighs the norm by lam and the loss by 1/2. Divided by lam that is ``1/2 |w|^2 + C sum loss`` with
C = 1 / (2 lam), the meaning C has in the other methods; the card's objective is in these units.
Note: [K06] leaves the bias out "for convenience". Here it is one more basis function, the constant, without
regulariser; ``fit_intercept=False`` is the paper's machine.
Note: [K06] has two classes. Sharing the merged table among the outputs is ours.
Note: rows that repeat another row are never candidates, and a row that the chosen ones span already is left out;
there may be fewer vectors than were asked for.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.count import asked_or_default
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier, warn_unsolved
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.growth import DistinctRows, Growth, full_gain, gain, gram
from sparsegen.methods.shared.parameters import (
    MAX_SECONDS,
    NOT_NEGATIVE,
    POSITIVE,
    one_of,
    parameter,
    positional,
    whole,
)
from sparsegen.methods.shared.row_weights import RowWeights
from sparsegen.solvers.greedy import GrowingMachine, independent

UNREGULARIZED_LAM = 1e-5  # lam of the machines without regularisation [K06, 4]
RETRAIN_GROWTH = 2.0**0.25  # the authors' program re-solves at sizes that grow by this factor
MAX_REJECTIONS = 50  # after so many rows in turn that the chosen ones span, they are taken to span the rest

N_CANDIDATES = parameter(
    59,
    "random rows tried for each vector (kappa); ``None`` tries every row. 59 hold one of the best twentieth with a "
    "probability of 95 %",
    whole(1),
    None,
)
CACHE_BYTES = parameter(1 << 27, "most bytes of kernel columns kept for candidates that are drawn again", whole(0))
SHRINKING = parameter(True, "leave out rows that have long not been active, until the last solution", "boolean")


class GreedyClassifier(SingleKernelClassifier):
    """Grows one machine per output; a method says by :meth:`_choose` which row comes next."""

    n_vectors: int | None = positional(
        default=None,
        meaning="most expansion vectors, over all classes; ``None`` means ``max(16, 3 * n_classes)``",
        allowed=(whole(1),),
        kw_only=False,
    )
    C: float = parameter(1.0, "weight of the loss, ``1 / (2 lam)`` in the paper's symbols", POSITIVE)
    fit_intercept: bool = parameter(True, "``False`` leaves the bias out, as the paper does", "boolean")
    retrain: str = parameter(
        "always",
        'when to solve all coefficients: ``"always"``, or ``"geometric"`` at sizes that grow by 2^(1/4)',
        one_of("always", "geometric"),
    )
    max_iter: int = parameter(100, "most Newton steps of one solution", whole(1))
    max_seconds: float | None = MAX_SECONDS
    tol: float = parameter(0.0, "stop when a vector lowers the objective by less than this share", NOT_NEGATIVE)

    needs_all_rows = "it keeps the kernel values of every row at every vector it has chosen"
    _follows_distances: ClassVar[bool] = False

    @abstractmethod
    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        """Return the next row and the coefficient it starts with, if known; ``None`` where no row is left."""

    def _machine(self, y: Array, weights: Array | None = None) -> GrowingMachine:
        lam = 1.0 / (2.0 * float(self.C)) if getattr(self, "regularize", True) else UNREGULARIZED_LAM
        hinge = getattr(self, "loss", "squared_hinge") == "squared_hinge"
        return GrowingMachine(
            np.ascontiguousarray(y), lam, hinge=hinge, intercept=bool(self.fit_intercept), weights=weights
        )

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        m = asked_or_default(self.n_vectors, Y)
        training, cache_bytes = DistinctRows(X), int(getattr(self, "cache_bytes", 0))
        started = time.perf_counter()
        n_outputs, of_rows = Y.shape[1], None if weights is None else weights.loss
        chosen: list[int] = []
        steps = 0
        with progress.task(f"training {self.method}", m) as advance:
            for k in range(n_outputs):
                budget = -((len(chosen) - m) // (n_outputs - k))  # an even share of what is left, rounded up
                deadline = np.inf
                if self.max_seconds is not None:
                    deadline = started + float(self.max_seconds) * (k + 1) / n_outputs
                machine = self._machine(Y[:, k], of_rows)
                growth = Growth(training, kernel, machine, cache_bytes, self._follows_distances)
                steps += self._grow(growth, budget, deadline, rng, advance)
                chosen += [j for j in growth.chosen if j not in chosen]
                del growth, machine  # their cache and columns make room for those of the next
        coef, intercept, facts = self._solve_all(X, Y, kernel, chosen, of_rows)
        return expand(X, coef, intercept, {"iterations": steps + facts.pop("iterations"), **facts})

    def _grow(
        self, growth: Growth, budget: int, deadline: float, rng: np.random.RandomState, advance: progress.Advance
    ) -> int:
        """Add basis functions to one machine until its budget or time is spent or none helps; return the steps."""
        machine = growth.machine
        steps = machine.solve(self.max_iter) if machine.d else 0
        before, since, due, rejected = machine.objective(), 0, 1.0, 0
        while len(growth.chosen) < budget and rejected < MAX_REJECTIONS:
            if growth.chosen and time.perf_counter() > deadline:
                break
            choice = self._choose(growth, rng)
            if choice is None:
                break
            if not growth.add(*choice):
                rejected += 1
                continue
            rejected = 0
            since += 1
            if self.retrain == "always" or len(growth.chosen) >= round(due):
                while round(due) <= len(growth.chosen):
                    due *= RETRAIN_GROWTH
                steps += machine.solve(self.max_iter)
                after = machine.objective()
                if before - after < self.tol * since * before:
                    break
                before, since = after, 0
                if getattr(self, "shrinking", False):
                    growth.shrink()
            advance(f"objective {machine.objective() / machine.lam:.5g}")
        return steps

    def _solve_all(
        self, X: Array, Y: Array, kernel: BoundKernel, chosen: list[int], weights: Array | None
    ) -> tuple[Array, Array, dict[str, Any]]:
        """Return coefficients (n_outputs, n) and biases of all outputs on the chosen rows, and facts."""
        rows = np.array(chosen, dtype=np.intp)
        K, columns = np.empty((0, 0)), np.empty((0, len(X)))
        if chosen:
            K, columns = kernel.gram(X[rows], X[rows]), gram(kernel, X[rows], X)
        if Y.shape[1] > 1:  # rows that two machines have chosen may still span each other
            own = self._machine(Y[:, 0], weights)
            kept = independent(own.lam * K + own.weighed(columns) @ columns.T)
            rows, K, columns = rows[kept], K[np.ix_(kept, kept)], columns[kept]
        coef, intercept = np.zeros((Y.shape[1], len(X))), np.zeros(Y.shape[1])
        objective, steps, solved = 0.0, 0, True
        for k in range(Y.shape[1]):
            machine = self._machine(Y[:, k], weights)
            machine.load(columns, K, np.zeros(len(K) + machine.first))
            if machine.d:
                steps += machine.solve(self.max_iter)
            coef[k, rows] = machine.beta[machine.first :]
            intercept[k] = machine.intercept
            objective += machine.objective() / machine.lam
            solved = solved and machine.solved
        if not solved:
            warn_unsolved(
                "the coefficients could not be solved to full accuracy; raise max_iter, scale the features or lower C"
            )
        return coef, intercept, {"iterations": steps, "objective": objective}


class ActiveRowClassifier(GreedyClassifier):
    """A greedy machine whose next row is one of the active rows, whatever its gain."""

    shrinking: bool = SHRINKING


class GainClassifier(GreedyClassifier):
    """A greedy machine whose next row is the one of a few random candidates that lowers the objective most."""

    selection: int = parameter(
        2, "1 re-solves the machine for every candidate, 2 only the candidate's own coefficient", whole(1, 2)
    )
    n_candidates: int | None = N_CANDIDATES
    regularize: bool = parameter(
        True, "``False`` is the machine without regulariser: lam = 1e-5 whatever C is", "boolean"
    )
    cache_bytes: int = CACHE_BYTES

    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        score = gain if self.selection == 2 else full_gain(self.max_iter)
        return growth.best(growth.draw(self.n_candidates, rng), score)
