"""Models that nobody trained: of the structure of a plan, with vectors and coefficients that training might start from.

A lowering looks at numbers too: at the range of the data, at how far vectors lie from it, at which features a
projection weighs alike. So the vectors are the user's own rows, scaled as training scales them and projected onto the
directions that training starts from, and the coefficients are those of an SVM on them. It takes milliseconds, and what
comes out is lowered as a trained model is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sparsegen.arrays import Array
from sparsegen.budget.plan import Plan
from sparsegen.errors import DataError, OptionError
from sparsegen.lowering.locate_data import thinned
from sparsegen.methods.shared.estimator import scale_gamma, sign_matrix
from sparsegen.methods.shared.pooling import Pooling
from sparsegen.methods.shared.ridge import with_ridge
from sparsegen.methods.shared.start import class_of, start_projection
from sparsegen.model import SparseModel, Transform
from sparsegen.model.decision import LARGEST
from sparsegen.solvers.blocks import RowBlocks
from sparsegen.solvers.newton import Loss, solve

MAX_ROWS = 1000
"""Most rows that scales are chosen on and coefficients are fitted to, beside those at the ends of a feature's range."""
LOSS = "squared_hinge"
FACTOR_SPREAD = 0.2
"""Of the logarithms of factors per feature, which training would have learnt."""
DIRECTION_SPREAD = 1.0
"""By how much the directions of a projection may turn in training, relative to their typical entry."""
NEIGHBOURS = 6
"""Rows of its class that a row is compared with: a vector lies halfway to the nearest, about where training puts it."""
NUDGE, COPY_NUDGE = 1e-6, 0.05
"""How far vectors are moved, in deviations of the rows, and those beyond the number of rows: no two may be equal."""


@dataclass(frozen=True)
class Sample:
    """Some of the user's rows, from which untrained models are made."""

    rows: Array
    labels: NDArray[Any] | None
    seed: int = 0
    share: float = 1.0
    """How many of the user's rows each stands for."""

    @classmethod
    def of(cls, rows: Array, labels: NDArray[Any] | None = None, seed: int = 0) -> Sample:
        """Return evenly spaced rows and those with the smallest and largest value of each feature."""
        given = np.asarray(rows, dtype=np.float64)
        if given.ndim != 2 or len(given) < 2:
            raise DataError(f"a cost model needs two rows or more, but its array has shape {given.shape}")
        if not np.isfinite(given).all():
            raise DataError("a cost model needs rows without missing or infinite values; fill them in first")
        if labels is not None and len(labels) != len(given):
            raise DataError(f"a cost model got {len(given)} rows and {len(labels)} labels; give a label for each row")
        kept = np.union1d(thinned(np.arange(len(given)), MAX_ROWS), [*given.argmin(axis=0), *given.argmax(axis=0)])
        return cls(given[kept], None if labels is None else np.asarray(labels)[kept], seed, len(given) / len(kept))

    def basis(self, plan: Plan, *, turned: bool = True, apart: bool = False) -> Basis:
        """Return what all untrained models of a plan have in common.

        With ``turned``, directions of a projection have left their start as far as training takes them, which shows how
        rows are read; without, distances between rows and vectors are more like those of a trained model. With
        ``apart``, vectors are rows, and lie as far from each other.
        """
        if plan.n_features > self.rows.shape[1]:
            raise OptionError(f"the plan reads {plan.n_features} features, but the rows have {self.rows.shape[1]}")
        rows = self.rows[:, : plan.n_features]
        signs = self._signs(plan, rows)
        transform = _transform(plan, rows, signs, self.seed)
        if turned and transform.projection is not None:
            transform = replace(transform, projection=_turned(plan, transform, rows, self.seed))
        scaled = (rows - transform.offset) * transform.scale
        return Basis(rows, signs, transform, transform(rows), scale_gamma(scaled), self.share, self.seed, apart)

    def _signs(self, plan: Plan, rows: Array) -> Array:
        """Return what the scores are fitted to: the labels where they suit the plan, otherwise halves of space."""
        if self.labels is not None and plan.decision == LARGEST:
            classes, index = np.unique(self.labels, return_inverse=True)
            if len(classes) == n_classes(plan):
                return sign_matrix(index, len(classes))
        offset, scale = scaler("standard", rows)
        directions = np.random.default_rng(self.seed).normal(size=(rows.shape[1], plan.n_outputs))
        return np.where(((rows - offset) * scale) @ directions > 0.0, 1.0, -1.0)


@dataclass(frozen=True)
class Basis:
    """The rows as the kernels of a plan see them, and where vectors are put among them."""

    rows: Array
    """Raw, with only the features that the plan reads."""
    signs: Array
    transform: Transform
    seen: Array
    """The rows as the kernels see them."""
    gamma: float
    """What ``gamma="scale"`` stands for on the scaled rows."""
    share: float
    """How many of the user's rows each stands for."""
    seed: int
    apart: bool
    """Whether vectors are rows rather than halfway between two."""

    def bound(self, plan: Plan) -> Plan:
        """Return the plan with kernels of its own scale, where it has one relative to the rows'."""
        return plan if plan.gamma is None else plan.with_scale(plan.gamma * self.gamma)

    def model(self, plan: Plan, n_vectors: int) -> SparseModel:
        """Return an untrained model of a plan, whose kernels have their own scale, with so many vectors."""
        vectors = self.vectors(n_vectors)
        coef, intercept = _fitted(plan, self.seen, vectors, self.signs, plan.C * self.share)
        return SparseModel(
            vectors=vectors,
            coef=coef,
            intercept=intercept,
            kernels=plan.kernels,
            transform=self.transform,
            classes=tuple(range(n_classes(plan))),
            decision=plan.decision,
        )

    def vectors(self, n: int) -> Array:
        """Return n vectors, each halfway between a row and the nearest of some others of its class, all different."""
        vectors = self._places[np.resize(np.arange(len(self.seen)), n)]
        moved = np.random.default_rng(self.seed).normal(size=vectors.shape) * (self.seen.std() or 1.0)
        moved[: len(self.seen)] *= NUDGE
        moved[len(self.seen) :] *= COPY_NUDGE
        return np.asarray(vectors + moved)

    @cached_property
    def _places(self) -> Array:
        rng = np.random.default_rng(self.seed)
        owner = class_of(self.signs)
        of_class = {k: np.flatnonzero(owner == k) for k in np.unique(owner)}
        order = rng.permutation(len(self.seen))
        if self.apart:
            return self.seen[order]
        made = np.empty_like(self.seen)
        for place, row in enumerate(order):
            others = rng.choice(of_class[owner[row]], NEIGHBOURS)
            apart = ((self.seen[others] - self.seen[row]) ** 2).sum(axis=1)
            apart[others == row] = np.inf
            made[place] = (self.seen[row] + self.seen[others[np.argmin(apart)]]) / 2.0
        return made


def _transform(plan: Plan, rows: Array, signs: Array, seed: int) -> Transform:
    """Return the scaling of a plan, and the projection that training starts from."""
    offset, scale = scaler(plan.scale, rows)
    if plan.feature_scales:
        scale = scale * np.exp(FACTOR_SPREAD * np.random.default_rng(seed).normal(size=len(scale)))
    if plan.n_projected is None:
        return Transform(offset, scale)
    offset = rows.mean(axis=0)
    scaled = (rows - offset) * scale
    if plan.pool is None:
        return Transform(offset, scale, start_projection(scaled, signs, plan.n_projected))
    pooling = Pooling.parse(plan.pool, plan.n_features)
    directions = start_projection(pooling(scaled), signs, plan.n_projected)
    return Transform(offset, scale, None if directions is None else pooling.spread(directions))


def _turned(plan: Plan, transform: Transform, rows: Array, seed: int) -> Array | None:
    """Return the directions as far from their start as training takes them: more along features that vary more."""
    P = transform.projection
    if P is None:
        return None
    spread = (rows * transform.scale).std(axis=0)
    if plan.pool is not None:
        pooling = Pooling.parse(plan.pool, plan.n_features)
        spread = np.bincount(pooling.group, weights=spread)[pooling.group]
        noise = pooling.spread(np.random.default_rng(seed).normal(size=(len(P), int(pooling.group[-1]) + 1)))
    else:
        noise = np.random.default_rng(seed).normal(size=P.shape)
    noise = noise * spread
    return np.asarray(P + noise * (DIRECTION_SPREAD * np.sqrt(np.mean(P**2) / np.mean(noise**2))))


def n_classes(plan: Plan) -> int:
    """Return how many classes a plan tells apart."""
    if plan.n_outputs == 1:
        return 2
    if plan.decision == LARGEST:
        return plan.n_outputs
    return (1 + math.isqrt(1 + 8 * plan.n_outputs)) // 2  # one score per pair


def scaler(name: str, rows: Array) -> tuple[Array, Array]:
    """Return what is subtracted from rows and what they are multiplied with, as training does by a name."""
    if name == "none":
        return np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    if name == "standard":
        offset, spread = rows.mean(axis=0), rows.std(axis=0)
    else:
        offset, spread = rows.min(axis=0), np.ptp(rows, axis=0)
    return offset, 1.0 / np.where(spread > 0.0, spread, 1.0)


def _fitted(plan: Plan, seen: Array, vectors: Array, signs: Array, weight: float) -> tuple[Array, Array]:
    """Return the coefficients, (n_outputs, kernels, m), and intercepts of the SVM on these vectors."""
    factors = [np.linalg.cholesky(with_ridge(kernel.gram(vectors, vectors))) for kernel in plan.kernels]
    whitened = [
        solve_triangular(L, kernel.gram(seen, vectors).T, lower=True).T
        for L, kernel in zip(factors, plan.kernels, strict=True)
    ]
    Phi = np.ascontiguousarray(np.hstack(whitened))
    found = solve(RowBlocks(len(Phi), len(Phi), lambda rows: Phi[rows]), signs, Phi.shape[1], Loss(LOSS, weight))
    V = found.V.reshape(plan.n_outputs, len(plan.kernels), len(vectors))
    coef = [solve_triangular(L, V[:, k].T, lower=True, trans="T").T for k, L in enumerate(factors)]
    return np.stack(coef, axis=1), found.b
