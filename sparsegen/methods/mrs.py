"""MRS, the modified reduced set method [W05, section 6.1]: the vectors of RS, the coefficients of an exact SVM on them.

RS brings its expansion near the SVM's [W05, eq. 35]; MRS keeps its vectors Z and solves for their coefficients

    min_{beta, b}  1/2 beta' Kz beta + C sum_i max(0, 1 - y_i (beta . psi_z(x_i) + b))                     [W05, eq. 16]

so that the margin is the largest that Z allows: ``beta = Kz^-1 Kzx Y alpha_z`` [W05, eq. 33].
"""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.rs import RS
from sparsegen.methods.shared.estimator import Expansion
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight
from sparsegen.methods.shared.slmc_objective import EXACT_COEFFICIENTS, SlmcObjective
from sparsegen.solvers.newton import Loss


@METHODS.register("mrs")
class MRS(RS):
    """Modified reduced set: the vectors that RS finds with the same seed, with exact coefficients.

    ``C`` weighs the hinge loss of the SVM and of the coefficients alike.
    """

    method = "mrs"
    summary = "modified reduced set: vectors of rs, coefficients of an exact SVM on them [W05, 6.1]"
    coefficient_formula = EXACT_COEFFICIENTS

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        reduced, _ = self._reduce(X, Y, kernel, rng, weights)
        objective = SlmcObjective(X, Y, kernel, Loss("hinge", loss_weight(self.C, weights)))
        expansion = objective.expansion(reduced.Z, None, reduced.iterations)
        expansion.facts["residual"] = reduced.residual
        return expansion
