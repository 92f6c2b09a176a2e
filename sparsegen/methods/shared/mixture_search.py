"""How SMKC1 and SMKC2 are trained: Algorithm 1 of [H09], and the estimator around it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.count import MovableVectors
from sparsegen.methods.shared.estimator import Expansion, warn_unsolved
from sparsegen.methods.shared.multiple_kernels import MixtureClassifier, MixtureObjective, base_kernels
from sparsegen.methods.shared.start import start_vectors
from sparsegen.solvers.descent import lbfgs
from sparsegen.solvers.newton import Loss
from sparsegen.solvers.simplex import ValueAndGradient

ROUND_STEPS = 20  # on the vectors between two searches for the weights; in fewer, L-BFGS-B learns too little
WEIGHT_STEPS = 30  # evaluations of W that one search for the weights may take
NEGLIGIBLE_WEIGHT = 1e-4  # a kernel with less weight than this is left out

WeightSearch = Callable[[ValueAndGradient, Array, float, int], Array]


def drop_negligible(mu: Array) -> Array:
    """Return weights without the smallest, which cost a device as much as any."""
    kept = np.where(mu < NEGLIGIBLE_WEIGHT, 0.0, mu)
    return np.asarray(kept / kept.sum())


class SparseMixture(MovableVectors, MixtureClassifier):
    """A machine with few vectors, which it may move, and several kernels, which it weighs."""

    objective: ClassVar[type[MixtureObjective]]
    """W for this method."""

    @abstractmethod
    def _weight_search(self) -> WeightSearch:
        """Return how weights are found for fixed vectors."""

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        m = self._count_vectors(X, Y, kernel)
        kernels = base_kernels(kernel, self.n_kernels, self.gammas)
        objective = self.objective(X, Y, kernels, Loss(self.loss, float(self.C)), self.block_rows)
        Z = start_vectors(X, Y, m, self.init, rng)
        title = f"training {self.method}"
        search = AlternatingSearch(self._weight_search(), float(self.tol), int(self.max_iter), title)
        unit = float(X.std()) * np.sqrt(m) or 1.0  # the first step moves each vector by about one deviation
        return search.run(objective, Z, unit, move=self.optimize == "vectors")


@dataclass(frozen=True)
class AlternatingSearch:
    """Algorithm 1 of [H09]: weights for fixed vectors, then vectors for fixed weights, until W settles.

    Note: [H09] takes one line search in Z between two searches for mu; here there is a round of L-BFGS-B.
    """

    weights: WeightSearch
    tol: float
    max_iter: int
    title: str

    def run(self, objective: MixtureObjective, Z: Array, unit: float, move: bool) -> Expansion:
        """Return the classifier that is found from Z, which is counted in units as in SLMC."""
        M = len(objective.kernels)
        mu, iterations, before = np.full(M, 1.0 / M), 0, np.inf  # [H09, V]
        with progress.task(self.title, self.max_iter) as advance:
            while True:
                mu = self._find_weights(objective, Z, mu)
                if not move or iterations >= self.max_iter:
                    break
                Z, value, steps = self._move_vectors(objective, Z, mu, unit, iterations, advance)
                iterations += steps
                if steps == 0 or before - value <= self.tol * value:
                    mu = self._find_weights(objective, Z, mu)
                    break
                before = value
        return self._expansion(objective, Z, mu, iterations)

    def _find_weights(self, objective: MixtureObjective, Z: Array, mu: Array) -> Array:
        if len(mu) == 1:
            return mu
        return self.weights(lambda at: objective.in_weights(Z, at), mu, 0.1 * self.tol, WEIGHT_STEPS)

    def _move_vectors(
        self, objective: MixtureObjective, Z: Array, mu: Array, unit: float, done: int, advance: progress.Advance
    ) -> tuple[Array, float, int]:
        """Return the vectors after up to ``ROUND_STEPS`` steps at fixed weights, W there, and the number of steps."""
        active = np.flatnonzero(mu)
        part = objective.only(active)
        bounds = {"max_iter": min(ROUND_STEPS, self.max_iter - done), "memory": ROUND_STEPS}
        found = lbfgs(lambda at: part.in_vectors(at, mu[active]), Z, unit, tol=self.tol, advance=advance, **bounds)
        return found.x, found.value, found.iterations

    def _expansion(self, objective: MixtureObjective, Z: Array, mu: Array, iterations: int) -> Expansion:
        """Return the classifier, trained once more on the kernels whose weight counts."""
        mu = drop_negligible(mu)
        optimum = objective.optimum(Z, mu)
        if not optimum.solution.solved:
            warn_unsolved()
        active = np.flatnonzero(mu)
        facts = {
            "iterations": iterations,
            "objective": optimum.solution.objective,
            "kernels": len(active),
            "kernel_weights": [float(weight) for weight in mu[active]],
        }
        kernels = tuple(objective.kernels[k] for k in active)
        return Expansion(Z.copy(), optimum.coef[:, active, :], optimum.solution.b, kernels=kernels, facts=facts)
