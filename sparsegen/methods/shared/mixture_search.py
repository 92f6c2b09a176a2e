"""How SMKC1 and SMKC2 are trained: Algorithm 1 of [H09], and the estimator around it."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.multiple_kernels import MixtureObjective, base_kernels
from sparsegen.methods.shared.start import start_vectors
from sparsegen.methods.shared.stop import FLAT, StopBelow
from sparsegen.methods.slmc import SLMC
from sparsegen.solvers.newton import Loss
from sparsegen.solvers.simplex import ValueAndGradient

ROUND = 20  # iterations on the vectors between two searches for the weights; in fewer, L-BFGS-B learns too little
WEIGHT_STEPS = 30  # evaluations of W that one search for the weights may take
NEGLIGIBLE = 1e-4  # a kernel with less weight than this is left out

WeightSearch = Callable[[ValueAndGradient, Array, float, int], Array]


def drop_negligible(mu: Array) -> Array:
    """Return weights without the smallest, which cost a device as much as any."""
    kept = np.where(mu < NEGLIGIBLE, 0.0, mu)
    return np.asarray(kept / kept.sum())


class SparseMixture(SparseClassifier):
    """A machine with few vectors, which it may move, and several kernels, which it weighs."""

    n_vectors: int | None
    ratio: float | None
    C: float
    n_kernels: int
    gammas: ArrayLike | None
    loss: str
    init: str | ArrayLike
    optimize: str
    max_iter: int
    tol: float
    block_rows: int | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in SparseClassifier._parameter_constraints.items() if k not in ("coef0", "degree")},
        "kernel": [StrOptions({"rbf", "laplacian"})],
        "n_vectors": [Interval(Integral, 1, None, closed="left"), None],
        "ratio": [Interval(Real, 0.0, 1.0, closed="right"), None],
        "n_kernels": [Interval(Integral, 1, None, closed="left")],
        "gammas": ["array-like", None],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "init": [StrOptions({"kmeans", "random"}), "array-like"],
        "optimize": [StrOptions({"vectors", "coefficients"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "block_rows": [Interval(Integral, 1, None, closed="left"), None],
    }

    @abstractmethod
    def _objective(self, X: Array, Y: Array, kernels: tuple[BoundKernel, ...], loss: Loss) -> MixtureObjective:
        """Return W for this method."""

    @abstractmethod
    def _weight_search(self) -> WeightSearch:
        """Return how weights are found for fixed vectors."""

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        sizes = SLMC(self.n_vectors, ratio=self.ratio, C=self.C, init=self.init)
        m = sizes._count_vectors(X, Y, kernel)
        objective = self._objective(
            X, Y, base_kernels(kernel, self.n_kernels, self.gammas), Loss(self.loss, float(self.C))
        )
        Z = start_vectors(X, Y, m, self.init, rng)
        search = Search(self._weight_search(), float(self.tol), int(self.max_iter), f"training {self.method}")
        unit = float(X.std()) * np.sqrt(m) or 1.0  # the first step moves each vector by about one deviation
        return search.run(objective, Z, unit, move=self.optimize == "vectors")


@dataclass(frozen=True)
class Search:
    """Algorithm 1 of [H09]: weights for fixed vectors, then vectors for fixed weights, until W settles.

    Note: [H09] takes one line search in Z between two searches for mu; here it is a round of L-BFGS-B.
    """

    weights: WeightSearch
    tol: float
    max_iter: int
    title: str

    def run(self, objective: MixtureObjective, Z: Array, unit: float, move: bool) -> Expansion:
        """Return the classifier that is found from Z; vectors are counted in units, as in SLMC."""
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
        """Return the vectors after up to ``ROUND`` iterations at fixed weights, W there, and how many it took."""
        active = np.flatnonzero(mu)
        part = objective.only(active)

        def value_and_gradient(theta: Array) -> tuple[float, Array]:
            value, gradient = part.in_vectors(unit * theta.reshape(Z.shape), mu[active])
            return value, unit * gradient.ravel()

        result = minimize(
            value_and_gradient,
            Z.ravel() / unit,
            jac=True,
            method="L-BFGS-B",
            callback=StopBelow(self.tol, advance),
            options={"maxiter": min(ROUND, self.max_iter - done), "ftol": 0.0, "gtol": FLAT, "maxcor": ROUND},
        )
        return unit * result.x.reshape(Z.shape), float(result.fun), int(result.nit)

    def _expansion(self, objective: MixtureObjective, Z: Array, mu: Array, iterations: int) -> Expansion:
        """Return the classifier, trained once more on the kernels whose weight counts."""
        mu = drop_negligible(mu)
        optimum = objective.optimum(Z, mu)
        if not optimum.solution.solved:
            warnings.warn(
                "the coefficients could not be solved to full accuracy; scale the features or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        active = np.flatnonzero(mu)
        facts = {
            "iterations": iterations,
            "objective": optimum.solution.objective,
            "kernels": len(active),
            "kernel_weights": [float(weight) for weight in mu[active]],
        }
        kernels = tuple(objective.kernels[k] for k in active)
        return Expansion(Z.copy(), optimum.coef[:, active, :], optimum.solution.b, kernels=kernels, facts=facts)
