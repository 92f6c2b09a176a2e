"""How SMKC1 and SMKC2 are trained: the search for vectors and weights, and the estimator around it.

W(Z, mu) has many local minima. A mixture of one kernel is SLMC, so W must not end above SLMC's on any of the kernels;
a descent from equal weights alone [H09, V] often does. Three ends are therefore compared, for every start Z:

* the best of SLMC's own descents from Z, one for each kernel;
* a descent in Z and mu from there, which can only lower W;
* a descent in Z and mu from Z and equal weights, as in [H09].

Symbols: t_k = mu_k / mu_anchor, the ratios that L-BFGS-B sees; the others as in shared.multiple_kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.count import MovableVectors
from sparsegen.methods.shared.estimator import Expansion, warn_unsolved
from sparsegen.methods.shared.mixture_rows import MixtureInMemory, MixtureInParts, MixtureRows
from sparsegen.methods.shared.multiple_kernels import MixtureClassifier, MixtureObjective, base_kernels
from sparsegen.methods.shared.parameters import N_INIT
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight, row_counts, weighted_std
from sparsegen.methods.shared.slmc_in_parts import WeighedParts
from sparsegen.methods.shared.slmc_rows import Few, RowsInParts
from sparsegen.methods.shared.start import start_vectors
from sparsegen.methods.shared.stochastic import start_rows
from sparsegen.solvers.descent import lbfgs
from sparsegen.solvers.newton import Loss
from sparsegen.solvers.simplex import ValueAndGradient

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

    n_init: int = N_INIT

    @abstractmethod
    def _weight_search(self) -> WeightSearch:
        """Return how weights are found for fixed vectors."""

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        m = self._count_vectors(X, Y, kernel, weights)
        loss = Loss(self.loss, loss_weight(self.C, weights))
        few = start_rows(Y, m, rng)
        of_few = None if weights is None else weights.of(few)
        return self._find(MixtureInMemory(X, Y, loss, self.block_rows), kernel, m, Few(X[few], Y[few], of_few), rng)

    def _train_in_parts(
        self, rows: LabelledParts, kernel: BoundKernel, rng: np.random.RandomState, by_class: Array
    ) -> Expansion:
        m = self._count_in_parts(rows)
        given = WeighedParts(rows, self.loss, float(self.C) * by_class)
        few = RowsInParts(given, kernel, rng).few(m, rng)
        return self._find(MixtureInParts(given), kernel, m, few, rng)

    def _find(self, rows: MixtureRows, kernel: BoundKernel, m: int, few: Few, rng: np.random.RandomState) -> Expansion:
        """Return the best end of all starts, which are placed by a few of the rows."""
        deviation = weighted_std(few.X, row_counts(few.weights))
        search = MixtureSearch(
            self.objective(rows, base_kernels(kernel, self.n_kernels, self.gammas)),
            self._weight_search(),
            unit=deviation * np.sqrt(m) or 1.0,  # the first step moves each vector by about one deviation
            tol=float(self.tol),
            max_iter=int(self.max_iter) if self.optimize == "vectors" else 0,
        )
        found = []
        for start in range(self.n_init):
            title = f"training {self.method}" + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
            found += search.ends(start_vectors(few.X, few.Y, m, self.init, rng, few.weights), title)
        return search.expansion(min(found, key=lambda end: end.value))


@dataclass(frozen=True)
class End:
    """Where a search ended, W there, and the iterations that led there."""

    Z: Array
    mu: Array
    value: float
    iterations: int


@dataclass(frozen=True)
class MixtureSearch:
    """The three ends for given vectors, and the classifier at one of them; with ``max_iter=0`` the vectors stay.

    Note: Algorithm 1 of [H09] takes one line search in Z between two searches for mu. Here Z and the weights that are
    not zero descend together; the searches for mu in between bring kernels back. W ends lower for the same time.
    """

    objective: MixtureObjective
    weights: WeightSearch
    unit: float
    tol: float
    max_iter: int

    def ends(self, Z: Array, title: str) -> list[End]:
        """Return the best single kernel's end, and those of the mixtures."""
        M = len(self.objective.kernels)
        names = [f"{title}, kernel {k + 1} of {M}" if M > 1 else title for k in range(M)]
        single = min((self._single(k, Z, name) for k, name in enumerate(names)), key=lambda end: end.value)
        if M == 1:
            return [single]
        everywhere = self._mixture(Z, np.full(M, 1.0 / M), f"{title}, from all kernels")
        onwards = self._mixture(single.Z, single.mu, f"{title}, from the best kernel", single.iterations)
        return [single, everywhere, onwards]

    def expansion(self, end: End) -> Expansion:
        """Return the classifier."""
        optimum = self.objective.optimum(end.Z, end.mu)
        if not optimum.solution.solved:
            warn_unsolved()
        active = np.flatnonzero(end.mu)
        facts = {
            "iterations": end.iterations,
            "objective": optimum.solution.objective,
            "kernels": len(active),
            "kernel_weights": [float(weight) for weight in end.mu[active]],
        }
        kernels = tuple(self.objective.kernels[k] for k in active)
        return Expansion(end.Z.copy(), optimum.coef[:, active, :], optimum.solution.b, kernels=kernels, facts=facts)

    def _single(self, k: int, Z: Array, title: str) -> End:
        """Return the end of SLMC on kernel k: its own objective and descent, so that it is the same end."""
        shared, iterations = self.objective, 0
        if self.max_iter:
            slmc = shared.rows.slmc(shared.kernels[k])
            Z, _, iterations = slmc.descend(Z, None, self.unit, max_iter=self.max_iter, tol=self.tol, title=title)
        value = shared.only(np.array([k])).optimum(Z, np.ones(1)).solution.objective
        return End(Z, np.eye(len(shared.kernels))[k], value, iterations)

    def _mixture(self, Z: Array, mu: Array, title: str, before: int = 0) -> End:
        """Return where searches for the weights and descents, in turn, lead from (Z, mu)."""
        iterations, last = 0, np.inf
        mu = self._find_weights(Z, mu)
        with progress.task(title, self.max_iter) as advance:
            while iterations < self.max_iter:
                Z, mu, value, steps = self._descend(Z, mu, self.max_iter - iterations, advance)
                mu = self._find_weights(Z, mu)
                iterations += steps
                if steps == 0 or last - value <= self.tol * value:
                    break
                last = value
        mu = drop_negligible(mu)
        return End(Z, mu, self.objective.optimum(Z, mu).solution.objective, before + iterations)

    def _find_weights(self, Z: Array, mu: Array) -> Array:
        return self.weights(lambda at: self.objective.in_weights(Z, at), mu, 0.1 * self.tol, WEIGHT_STEPS)

    def _descend(
        self, Z: Array, mu: Array, max_iter: int, advance: progress.Advance
    ) -> tuple[Array, Array, float, int]:
        """Return vectors and weights after a descent in both, W there, and the number of steps."""
        active = np.flatnonzero(mu)
        joint = JointObjective(self.objective.only(active), Z.shape, int(np.argmax(mu[active])))
        start = joint.pack(Z, mu[active])
        n_ratios = len(active) - 1
        units = np.append(np.full(Z.size, self.unit), np.ones(n_ratios))
        lower = np.append(np.full(Z.size, -np.inf), np.zeros(n_ratios))
        found = lbfgs(joint, start, units, max_iter=max_iter, tol=self.tol, advance=advance, lower=lower)
        Z, weights = joint.unpack(found.x)
        mu = np.zeros(len(mu))
        mu[active] = weights
        return Z, mu, found.value, found.iterations


class JointObjective:
    """W as a function of one array: Z, then ``t_k = mu_k / mu_anchor >= 0`` for every kernel but the anchor.

    Any such array stands for a point of the simplex: the sum of all t is 1 at least.
    """

    def __init__(self, objective: MixtureObjective, shape: tuple[int, ...], anchor: int) -> None:
        self.objective, self.shape, self.size, self.anchor = objective, shape, int(np.prod(shape)), anchor

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return W and its gradient."""
        Z, mu = self.unpack(theta)
        value, in_Z, in_mu = self.objective.in_both(Z, mu)
        in_t = (in_mu - in_mu @ mu) * mu[self.anchor]  # mu_anchor is 1 / sum t
        return value, np.append(in_Z, np.delete(in_t, self.anchor))

    def pack(self, Z: Array, mu: Array) -> Array:
        """Return the array that stands for (Z, mu)."""
        return np.append(Z, np.delete(mu / mu[self.anchor], self.anchor))

    def unpack(self, theta: Array) -> tuple[Array, Array]:
        """Return Z and mu."""
        t = np.insert(theta[self.size :], self.anchor, 1.0)
        return theta[: self.size].reshape(self.shape), t / t.sum()
