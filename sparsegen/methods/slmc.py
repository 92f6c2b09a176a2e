"""SLMC, the sparse large margin classifier [W05]: an SVM whose weight vector is spanned by m vectors Z it may move.

    min_{Z, beta, b}  1/2 sum_k beta_k' Kz beta_k + sum_k sum_i loss(y_ik (beta_k . psi_z(x_i) + b_k))    [W05, eq. 16]

The inner problem in (beta, b) is solved exactly for given Z, W(Z) is its value [W05, eq. 10], and L-BFGS-B descends on
W. By the envelope theorem the gradient needs only ``K(Z, Z)`` and ``K(X, Z)`` with beta and alpha held fixed:

    dW/dz = 1/2 sum_k d(beta_k' Kz beta_k)/dz - sum_k sum_i alpha_ik y_ik beta_k . dpsi_z(x_i)/dz

which equals [W05, eq. 34] at the optimum, since beta = Kz^-1 Kzx Y alpha there [W05, eq. 33]. Where there are
many rows, minibatches bring (Z, beta, b) near that optimum (``shared.stochastic``), and (beta, b) are then solved for.

All classes share Z, so a device evaluates m kernels whatever the number of classes. With ``projection=p`` the kernels
see ``P (x - mean)``, and P is learnt together with Z; ``1/2 rho C |P - P0|^2`` holds it near the directions P0 it
starts from (left free, P stretches until the training rows are separated and the test rows are not).
With ``shifts``, minibatches are of shifted rows (``shared.shifting``). The last solve for (beta, b) is on one shifted
copy of every row, so that it does not forget the others; more copies were no better on held-out rows of USPS and MNIST.

Symbols: Z (m, p) vectors, Kz = K(Z, Z), L its Cholesky factor, Phi = Kxz L^-T whitened features [W05, eq. 29],
beta (n_outputs, m), P (p, d) projection, theta = (Z, P) flattened.

Note: [W05] uses the hinge loss and one set of vectors per class; the squared hinge and shared vectors are ours.
Note: Kz has a ridge, see ``shared.ridge``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import MovableVectors
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier
from sparsegen.methods.shared.feature_map import map_rows
from sparsegen.methods.shared.parameters import N_INIT, NOT_NEGATIVE, one_of, parameter, whole
from sparsegen.methods.shared.pooling import Pooling
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight, row_counts, weighted_std
from sparsegen.methods.shared.shifting import Shifting
from sparsegen.methods.shared.slmc_in_parts import WeighedParts
from sparsegen.methods.shared.slmc_objective import EXACT_COEFFICIENTS
from sparsegen.methods.shared.slmc_rows import RowsInMemory, RowsInParts, SlmcRows
from sparsegen.methods.shared.start import column_means, start_projection, start_vectors
from sparsegen.methods.shared.stochastic import Draw
from sparsegen.solvers.newton import Loss

LEAST_PENALTY, PENALTY_PER_ROW = 10.0, 0.006  # chosen on held-out rows of digits, letter, USPS and MNIST
EXACT_WORK = 200_000  # rows times vectors up to which an exact descent is the default


@METHODS.register("slmc")
class SLMC(MovableVectors, SingleKernelClassifier):
    """Sparse large margin classifier: few vectors, placed where they help most."""

    method = "slmc"
    summary = "sparse large margin classifier: vectors placed by gradient descent [W05]"
    coefficient_formula = EXACT_COEFFICIENTS
    row_types = (np.float64, np.float32)
    searched = ("gamma", "C")

    n_init: int = N_INIT
    projection: int | None = parameter(
        None, "learn a linear map to this many dimensions together with the vectors", whole(1)
    )
    pool: str | None = parameter(
        None,
        "average blocks of neighbouring features before the projection: ``28x28/2x2`` for images of 28 rows and "
        "columns and blocks of two by two, ``1x128/1x4`` for a series; exports store one column per block",
        str,
    )
    feature_scales: bool = parameter(False, "learn one factor per feature together with the vectors", "boolean")
    projection_penalty: float | None = parameter(
        None,
        "how firmly the projection, or the factors, are held near what they start from, relative to ``C``; ``None`` "
        "takes 10, or 0.006 per row if that is more and ``shifts`` is not given",
        NOT_NEGATIVE,
    )
    shifts: str | None = parameter(
        None,
        "train on rows that are shifted at random, by at most so many rows and columns either way: ``28x28/1x1`` for "
        "images of 28 rows and columns and one pixel, ``1x128/0x2`` for a series; needs features of one scale, so no "
        "scaler that treats each by itself",
        str,
    )
    solver: str = parameter(
        "auto",
        '``"exact"`` solves for the coefficients at every step of a descent [W05]; ``"stochastic"`` descends by '
        'minibatches and then solves once; ``"auto"`` takes the second where rows times vectors exceed 200,000, or '
        "where rows are shifted",
        one_of("auto", "exact", "stochastic"),
    )
    steps: int | None = parameter(
        None,
        "minibatches of a stochastic descent; ``None`` takes 6,000, or 20 passes over the rows if that is more",
        whole(1),
    )

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        self._check_map()
        m = self._count_vectors(X, Y, kernel, weights)
        pooling = None if self.pool is None else Pooling.parse(self.pool, X.shape[1])
        draw = self._shifts_of(X, pooling, rng)
        seen = X if pooling is None else pooling(X)
        loss = Loss(self.loss, loss_weight(self.C, weights))
        rows = RowsInMemory(seen, Y, kernel, loss, weights, draw, self.block_rows)
        found = self._learn(rows, kernel, m, rng)
        if pooling is None:
            return found
        if found.projection is None:
            raise AssertionError("_check_map lets no pooling without a projection through")
        return replace(found, projection=pooling.spread(found.projection), offset=column_means(X, weights))

    def _train_in_parts(
        self, rows: LabelledParts, kernel: BoundKernel, rng: np.random.RandomState, by_class: Array
    ) -> Expansion:
        self._check_map()
        if self.pool is not None or self.shifts is not None:
            raise OptionError("rows that are not in memory are neither pooled nor shifted; pool them before training")
        given = WeighedParts(rows, self.loss, float(self.C) * by_class)
        m = self._count_in_parts(rows)
        return self._learn(RowsInParts(given, kernel, rng), kernel, m, rng)

    def _check_map(self) -> None:
        if self.feature_scales and self.projection is not None:
            raise OptionError("feature_scales and projection exclude each other; a projection scales features itself")
        if self.pool is not None and self.projection is None:
            raise OptionError("pool averages what a projection sees; give a projection too")
        if self.shifts is not None and (self.solver == "exact" or self.optimize != "vectors"):
            raise OptionError("shifts need minibatches that move the vectors; leave solver and optimize as they are")

    def _shifts_of(self, X: Array, pooling: Pooling | None, rng: np.random.RandomState) -> Draw | None:
        """Return what gives rows of ``X`` as a minibatch sees them; ``None`` where it sees them as they are."""
        if self.shifts is None:
            return None
        shifting = Shifting.parse(self.shifts, X.shape[1], pooling)
        return lambda rows: shifting.draw(X, rows, rng)

    def _learn(self, rows: SlmcRows, kernel: BoundKernel, m: int, rng: np.random.RandomState) -> Expansion:
        """Return the best of ``n_init`` descents."""
        stochastic = self.optimize == "vectors" and (
            self.solver == "stochastic" or rows.shifted or (self.solver == "auto" and rows.n * m > EXACT_WORK)
        )
        # As for principal components; exports learn where the rows lie.
        offset = None if self.projection is None else rows.means()
        sample, signs, of_sample = rows.few(m, rng)
        if offset is not None:
            sample -= offset
        P = (
            np.ones(sample.shape[1])
            if self.feature_scales
            else start_projection(sample, signs, self.projection, of_sample)
        )
        seen = map_rows(P, sample)
        del sample  # of images it is large, and a descent lasts
        penalty = self.projection_penalty
        rho = self.C * (default_penalty(rows.weight, shifted=rows.shifted) if penalty is None else penalty)
        found = []
        for start in range(self.n_init):
            Z = start_vectors(seen, signs, m, self.init, rng, of_sample)
            title = "training slmc" + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
            objective = rows.objective(P, rho, offset)
            if stochastic:
                batches = rows.minibatches(Z, P, rho, offset)
                end = batches.descend(self.steps or batches.default_steps, rng, title)
                objective.start_from(end.beta, end.b)
                found.append(objective.expansion(end.Z, end.P, end.steps))
            elif self.optimize == "vectors":
                # the first step moves each vector by about one deviation
                unit = weighted_std(seen, row_counts(of_sample)) * np.sqrt(m) or 1.0
                exact = objective.descend(Z, P, unit, max_iter=self.max_iter, tol=self.tol, title=title)
                found.append(objective.expansion(*exact))
            else:
                found.append(objective.expansion(Z, P, iterations=0))
        best = min(found, key=lambda expansion: float(expansion.facts["objective"]))
        best.facts["solver"] = "stochastic" if stochastic else "exact"
        return replace(best, offset=offset)


def default_penalty(n_rows: float, *, shifted: bool = False) -> float:
    """Return how firmly a projection is held where nobody says: its best value grew with the rows, unless shifted."""
    return LEAST_PENALTY if shifted else max(LEAST_PENALTY, PENALTY_PER_ROW * n_rows)
