"""SLMR, sparse large margin regression: SLMC's machine with a loss of residuals, as [W05]'s conclusion proposes.

    min_{Z, beta, b}  1/2 beta' Kz beta + C sum_i loss(|y_i - beta . psi_z(x_i) - b| - epsilon)      cf. [W05, eq. 16]

with ``loss`` the square, or beyond ``delta`` a straight line (``solvers.tube``). As for SLMC, the inner problem in
(beta, b) is solved exactly for given Z, W(Z) is its value, and L-BFGS-B descends on W with the envelope theorem's
gradient, in which ``pull_i = -dloss_i/df_i`` stands where SLMC has ``alpha_i y_i``:

    dW/dz = 1/2 d(beta' Kz beta)/dz - sum_i pull_i beta . dpsi_z(x_i)/dz

Where there are many rows, minibatches bring (Z, beta, b) near that optimum (``shared.stochastic``), and (beta, b) are
then solved for. With ``projection=p`` the kernels see ``P (x - mean)``, and P is learnt together with Z, from where
slices of the target differ most (sliced inverse regression); ``1/2 rho C |P - P0|^2`` holds it near those directions.

Symbols: Z (m, p) vectors, Kz = K(Z, Z), beta (m,), P (p, d) projection, y (n,) targets of mean 0 and deviation 1.

Note: [W05] only names sparse regression; the squared loss, the tube and the start are ours.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import given_or_asked
from sparsegen.methods.shared.feature_map import map_rows
from sparsegen.methods.shared.parameters import (
    BLOCK_ROWS,
    LOSS_WEIGHT,
    MAX_ITER,
    N_INIT,
    NOT_NEGATIVE,
    POSITIVE,
    TOL,
    one_of,
    parameter,
    positional,
    whole,
)
from sparsegen.methods.shared.regressor import SparseRegressor
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight, row_counts, weighted_std
from sparsegen.methods.shared.slmr_objective import SlmrObjective
from sparsegen.methods.shared.sparse_estimator import Expansion
from sparsegen.methods.shared.start import column_means, start_projection, start_vectors
from sparsegen.methods.shared.stochastic import MinibatchObjective, n_steps, start_rows
from sparsegen.solvers.tube import Tube

SLICES = 8
"""Parts of the rows, by their targets, between whose means a projection starts to look."""
PENALTY = 10.0
EXACT_WORK = 200_000  # rows times vectors up to which an exact descent is the default


@METHODS.register("slmr")
class SLMRegressor(SparseRegressor):
    """Sparse large margin regression: few vectors, placed where they help most."""

    method = "slmr"
    summary = "regression: sparse large margin machine with vectors placed by gradient descent [W05, conclusion]"
    coefficient_formula = "beta = Kz^-1 Kzx pull, cf. [W05, eq. 33]"
    row_types = (np.float64, np.float32)
    searched = ("gamma", "C")

    n_vectors: int | None = positional(
        default=None,
        meaning="number of expansion vectors; ``None`` means 16, at most one per row",
        allowed=(whole(1),),
        kw_only=False,
    )
    C: float = LOSS_WEIGHT
    epsilon: float = parameter(
        0.0, "what a prediction may be off at no cost, in standard deviations of the target", NOT_NEGATIVE
    )
    delta: float | None = parameter(
        None,
        "how far beyond epsilon the cost is squared, in standard deviations of the target; further out it is linear, "
        "so that outliers pull less (Huber's loss). ``None`` squares it everywhere",
        POSITIVE,
    )
    init: str | ArrayLike = parameter(
        "kmeans",
        'where the vectors start: ``"kmeans"`` centres, ``"random"`` rows, or an array of vectors',
        one_of("kmeans", "random"),
        "array-like",
    )
    optimize: str = parameter(
        "vectors",
        '``"vectors"`` moves the vectors; ``"coefficients"`` keeps them where they start',
        one_of("vectors", "coefficients"),
    )
    n_init: int = N_INIT
    projection: int | None = parameter(
        None, "learn a linear map to this many dimensions together with the vectors", whole(1)
    )
    feature_scales: bool = parameter(False, "learn one factor per feature together with the vectors", "boolean")
    projection_penalty: float = parameter(
        PENALTY,
        "how firmly the projection, or the factors, are held near what they start from, relative to ``C``",
        NOT_NEGATIVE,
    )
    solver: str = parameter(
        "auto",
        '``"exact"`` solves for the coefficients at every step of a descent; ``"stochastic"`` descends by minibatches '
        'and then solves once; ``"auto"`` takes the second where rows times vectors exceed 200,000',
        one_of("auto", "exact", "stochastic"),
    )
    steps: int | None = parameter(
        None,
        "minibatches of a stochastic descent; ``None`` takes 6,000, or 20 passes over the rows if that is more",
        whole(1),
    )
    max_iter: int = MAX_ITER
    tol: float = TOL
    block_rows: int | None = BLOCK_ROWS

    def _train(
        self, X: Array, y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        if self.feature_scales and self.projection is not None:
            raise OptionError("feature_scales and projection exclude each other; a projection scales features itself")
        m = given_or_asked(self.n_vectors, self.init, len(y))
        stochastic = self.optimize == "vectors" and (
            self.solver == "stochastic" or (self.solver == "auto" and len(X) * m > EXACT_WORK)
        )
        offset = None if self.projection is None else column_means(X, weights)
        slices = slice_signs(y)
        few = start_rows(slices, m, rng) if stochastic else np.arange(len(X))
        of_few = None if weights is None else weights.of(few)
        sample = X[few].astype(np.float64)
        sample -= 0.0 if offset is None else offset
        P = np.ones(X.shape[1]) if self.feature_scales else None
        if self.projection is not None:
            P = start_projection(sample, slices[few], self.projection, of_few)
        seen = map_rows(P, sample)
        rho = self.C * self.projection_penalty
        tube = Tube(loss_weight(self.C, weights), self.epsilon, np.inf if self.delta is None else self.delta)
        found = []
        for start in range(self.n_init):
            Z = start_vectors(seen, -np.ones((len(few), 1)), m, self.init, rng, of_few)
            title = "training slmr" + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
            objective = SlmrObjective(X, y, kernel, tube, P, rho, self.block_rows, offset)
            if stochastic:
                batches = MinibatchObjective(X, y[:, None], kernel, tube, Z, P, rho=rho, offset=offset)
                end = batches.descend(self.steps or n_steps(len(X)), rng, title)
                objective.start_from(end.beta, end.b)
                found.append(objective.expansion(end.Z, end.P, end.steps))
            elif self.optimize == "vectors":
                # the first step moves each vector by about one deviation
                unit = weighted_std(seen, row_counts(of_few)) * np.sqrt(m) or 1.0
                exact = objective.descend(Z, P, unit, max_iter=self.max_iter, tol=self.tol, title=title)
                found.append(objective.expansion(*exact))
            else:
                found.append(objective.expansion(Z, P, iterations=0))
        best = min(found, key=lambda expansion: float(expansion.facts["objective"]))
        best.facts["solver"] = "stochastic" if stochastic else "exact"
        return replace(best, offset=offset)


def slice_signs(y: Array) -> NDArray[np.float64]:
    """Return signs of which part of the rows, by their targets, each row belongs to; equal targets are one part."""
    ends = np.unique(np.quantile(y, np.arange(1, SLICES) / SLICES))
    return np.where(np.searchsorted(ends, y)[:, None] == np.arange(len(ends) + 1), 1.0, -1.0)
