"""What the greedy machines share: a basis chosen row by row from the training set [K06, 3], one rule per method.

One machine is grown per output. Their rows are merged into one table of at most ``n_vectors``, and every output is
solved again on the whole table and on all rows: a device evaluates the merged kernels once, whoever chose them.

Symbols: J chosen rows, I active rows, lam = 1 / (2 C), kappa = ``n_candidates``, d_max = ``n_vectors``.

Note: [K06, eq. 1] weighs the norm by lam and the loss by 1/2. Divided by lam that is ``1/2 |w|^2 + C sum loss`` with
C = 1 / (2 lam), the meaning C has in the other methods; the card's objective is in these units.
Note: [K06] leaves the bias out "for convenience". Here it is one more basis function, the constant, without
regulariser; ``fit_intercept=False`` is the paper's machine.
Note: [K06] has two classes. Sharing the merged table among the outputs is ours.
Note: rows that repeat another row are never candidates, and a row that the chosen ones span already is left out;
so there may be fewer vectors than were asked for.
"""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.count import asked_or_default
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.growth import Growth, Rows, gram
from sparsegen.solvers.greedy import Machine, independent

UNREGULARIZED = 1e-5  # lam of the machines without regularisation [K06, 4]
RETRAIN = 2.0**0.25  # the authors' program solves anew at sizes that grow by this
REJECTIONS = 50  # rows in a row that the chosen ones span already: they span the rest, too


class GreedyClassifier(SparseClassifier):
    """Grows one machine per output; a method says by :meth:`_choose` which row comes next."""

    n_vectors: int | None
    C: float
    fit_intercept: bool
    retrain: str
    max_iter: int
    max_seconds: float | None
    tol: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "n_vectors": [Interval(Integral, 1, None, closed="left"), None],
        "fit_intercept": ["boolean"],
        "retrain": [StrOptions({"always", "geometric"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_seconds": [Interval(Real, 0.0, None, closed="neither"), None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
    }

    _follows_distances: ClassVar[bool] = False

    @abstractmethod
    def _choose(self, growth: Growth, rng: np.random.RandomState) -> tuple[int, float | None] | None:
        """Return the next row and the coefficient it starts with, if known; ``None`` where no row is left."""

    def _machine(self, y: Array) -> Machine:
        lam = 1.0 / (2.0 * float(self.C)) if getattr(self, "regularize", True) else UNREGULARIZED
        hinge = getattr(self, "loss", "squared_hinge") == "squared_hinge"
        return Machine(np.ascontiguousarray(y), lam, hinge=hinge, intercept=bool(self.fit_intercept))

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        m = asked_or_default(self.n_vectors, Y)
        training, cache_bytes = Rows(X), int(getattr(self, "cache_bytes", 0))
        started = time.perf_counter()
        n_outputs = Y.shape[1]
        chosen: list[int] = []
        steps = 0
        with progress.task(f"training {self.method}", m) as advance:
            for k in range(n_outputs):
                budget = -((len(chosen) - m) // (n_outputs - k))  # an even share of what is left, rounded up
                deadline = np.inf
                if self.max_seconds is not None:
                    deadline = started + float(self.max_seconds) * (k + 1) / n_outputs
                machine = self._machine(Y[:, k])
                growth = Growth(training, kernel, machine, cache_bytes, self._follows_distances)
                steps += self._grow(growth, budget, deadline, rng, advance)
                chosen += [j for j in growth.chosen if j not in chosen]
                del growth, machine  # their cache and columns make room for those of the next
        coef, intercept, facts = self._solve_all(X, Y, kernel, chosen)
        return expand(X, coef, intercept, {"iterations": steps + facts.pop("iterations"), **facts})

    def _grow(
        self, growth: Growth, budget: int, deadline: float, rng: np.random.RandomState, advance: progress.Advance
    ) -> int:
        """Add basis functions to one machine until its budget, its time or its use is at an end; return the steps."""
        machine = growth.machine
        steps = machine.solve(self.max_iter) if machine.d else 0
        before, since, due, rejected = machine.objective(), 0, 1.0, 0
        while len(growth.chosen) < budget and rejected < REJECTIONS:
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
                    due *= RETRAIN
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
        self, X: Array, Y: Array, kernel: BoundKernel, chosen: list[int]
    ) -> tuple[Array, Array, dict[str, Any]]:
        """Return coefficients (n_outputs, n) and biases of all outputs on the chosen rows, and facts."""
        rows = np.array(chosen, dtype=np.intp)
        K, columns = np.empty((0, 0)), np.empty((0, len(X)))
        if chosen:
            K, columns = kernel.gram(X[rows], X[rows]), gram(kernel, X[rows], X)
        if Y.shape[1] > 1:  # rows that two machines have chosen may still span each other
            kept = independent(self._machine(Y[:, 0]).lam * K + columns @ columns.T)
            rows, K, columns = rows[kept], K[np.ix_(kept, kept)], columns[kept]
        coef, intercept = np.zeros((Y.shape[1], len(X))), np.zeros(Y.shape[1])
        objective, steps, solved = 0.0, 0, True
        for k in range(Y.shape[1]):
            machine = self._machine(Y[:, k])
            machine.load(columns, K, np.zeros(len(K) + machine.first))
            if machine.d:
                steps += machine.solve(self.max_iter)
            coef[k, rows] = machine.beta[machine.first :]
            intercept[k] = machine.intercept
            objective += machine.objective() / machine.lam
            solved = solved and machine.solved
        if not solved:
            warnings.warn(
                "the coefficients could not be solved to full accuracy; raise max_iter, scale the features or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return coef, intercept, {"iterations": steps, "objective": objective}


class ActiveRowClassifier(GreedyClassifier):
    """A greedy machine whose next row is one of the active rows, whatever its gain."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedyClassifier._parameter_constraints,
        "shrinking": ["boolean"],
    }

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        fit_intercept: bool = True,
        retrain: str = "always",
        shrinking: bool = True,
        max_iter: int = 100,
        max_seconds: float | None = None,
        tol: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.retrain = retrain
        self.shrinking = shrinking
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.random_state = random_state
