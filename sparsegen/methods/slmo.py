"""SLMO, the sparse one-class machine: SLMC's vectors around rows that are all normal, as [W05]'s conclusion proposes.

    min_{Z, beta, rho}  1/2 beta' Kz beta - rho + 1/(nu n) sum_i max(0, rho - beta . psi_z(x_i))       cf. [W05, eq. 16]

which is the one-class SVM of [S01] (see ``solvers.one_class``) with its weight vector spanned by m vectors Z that may
move. As for SLMC the inner problem in (beta, rho) is solved exactly for given Z, W(Z) is its value, and L-BFGS-B
descends on W with the envelope theorem's gradient (``shared.slmc_objective``, with all signs 1). A row is normal where
``beta . psi_z(x) > rho``.

The inner problem is [S01]'s in the features that Z spans, so nu means there what it means: at most nu of the training
rows lie outside, for any Z.

Symbols: Z (m, d) vectors, Kz = K(Z, Z), beta (m,), alpha (n,) multipliers.

Note: [W05] only names the one-class machine. Of many rows, a random part moves the vectors, and all of them decide on
(beta, rho): what a few thousand rows say of where the vectors belong, more of them say again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import given_or_asked
from sparsegen.methods.shared.detector import SparseDetector
from sparsegen.methods.shared.one_class_objective import OneClassObjective
from sparsegen.methods.shared.parameters import (
    BLOCK_ROWS,
    MAX_ITER,
    N_INIT,
    TOL,
    one_of,
    parameter,
    positional,
    whole,
)
from sparsegen.methods.shared.row_weights import RowWeights, row_counts, weighted_std
from sparsegen.methods.shared.sparse_estimator import Expansion
from sparsegen.methods.shared.start import start_vectors

MOVING_ROWS = 5000
"""Rows beyond which a random part of them moves the vectors."""


@METHODS.register("slmo")
class SLMOneClass(SparseDetector):
    """Sparse one-class machine: few vectors, placed where they hold the normal rows best."""

    method = "slmo"
    summary = "anomalies: sparse one-class machine with vectors placed by gradient descent [W05, conclusion]"
    coefficient_formula = "beta = Kz^-1 Kzx alpha, cf. [W05, eq. 33]"

    n_vectors: int | None = positional(
        default=None,
        meaning="number of expansion vectors; ``None`` means 16, at most one per row",
        allowed=(whole(1),),
        kw_only=False,
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
    max_iter: int = MAX_ITER
    tol: float = TOL
    block_rows: int | None = BLOCK_ROWS

    def _train(
        self, X: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        if not kernel.has_unit_diagonal:
            raise OptionError(
                f"kernel {kernel.name!r} does not give 1 for a row and itself, which a one-class machine needs; "
                "choose one that falls with the distance, such as rbf"
            )
        m = given_or_asked(self.n_vectors, self.init, len(X))
        moving = np.arange(len(X))
        if self.optimize == "vectors" and len(X) > max(MOVING_ROWS, m):
            moving = np.sort(rng.choice(len(X), max(MOVING_ROWS, m), replace=False))
        sample, of_sample = X[moving], None if weights is None else weights.of(moving)
        every = OneClassObjective(X, self._costs(len(X), weights), kernel, block_rows=self.block_rows)
        found = []
        for start in range(self.n_init):
            Z, iterations = start_vectors(sample, -np.ones((len(sample), 1)), m, self.init, rng, of_sample), 0
            if self.optimize == "vectors":
                title = "training slmo" + (f", start {start + 1} of {self.n_init}" if self.n_init > 1 else "")
                costs = self._costs(len(sample), of_sample)
                objective = OneClassObjective(sample, costs, kernel, block_rows=self.block_rows)
                # the first step moves each vector by about one deviation
                unit = weighted_std(sample, row_counts(of_sample)) * np.sqrt(m) or 1.0
                Z, _, iterations = objective.descend(Z, None, unit, max_iter=self.max_iter, tol=self.tol, title=title)
            found.append(every.expansion(Z, None, iterations))
        return min(found, key=lambda expansion: float(expansion.facts["objective"]))

    def _costs(self, n: int, weights: RowWeights | None) -> Array:
        """Return what a row costs outside: 1 / (nu n), or in proportion to the weights."""
        shares = np.full(n, 1.0 / n) if weights is None else weights.loss / weights.loss.sum()
        return np.asarray(shares / self.nu)
