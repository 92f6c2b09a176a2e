"""MRSVM, the modified RSVM [W05, section 6.2]: random rows as vectors, the coefficients of an exact SVM on them.

    min_{beta, b}  1/2 beta' Kz beta + sum_i loss(y_i (beta . psi_z(x_i) + b))                             [W05, eq. 16]

The regulariser is the margin's own, where RSVM has ``1/2 beta'beta``; hence ``beta = Kz^-1 Kzx Y alpha_z``
[W05, eq. 33]. It is SLMC with its vectors left where they start.
"""

from __future__ import annotations

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.rsvm import RSVM
from sparsegen.methods.shared.estimator import Expansion
from sparsegen.methods.shared.slmc_in_parts import SlmcInParts, WeighedParts
from sparsegen.methods.shared.slmc_objective import EXACT_COEFFICIENTS, SlmcObjective
from sparsegen.solvers.newton import Loss


@METHODS.register("mrsvm")
class MRSVM(RSVM):
    """Modified reduced SVM: the rows that RSVM draws with the same seed, with the exact margin."""

    method = "mrsvm"
    summary = "modified reduced SVM: random rows, coefficients of an exact SVM on them [W05, 6.2]"
    coefficient_formula = EXACT_COEFFICIENTS

    def _weigh(self, X: Array, Y: Array, kernel: BoundKernel, Z: Array, C: float | Array) -> Expansion:
        objective = SlmcObjective(X, Y, kernel, Loss(self.loss, C), block_rows=self.block_rows)
        return objective.expansion(Z, None, iterations=0)

    def _weigh_in_parts(self, rows: LabelledParts, kernel: BoundKernel, Z: Array, C: Array) -> Expansion:
        return SlmcInParts(WeighedParts(rows, self.loss, C), kernel, None, 0.0, None).expansion(Z, None, iterations=0)
