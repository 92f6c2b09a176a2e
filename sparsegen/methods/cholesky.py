"""Sparse Cholesky SVM [I08]: an SVM trained in the reduced empirical feature space.

Rows that are linearly independent in the feature space, up to a threshold eta, are found by an incremental Cholesky
factorisation [I08, eq. 9-12]; an L1 or L2 SVM is then trained on their kernel values h(x) [I08, eq. 8]:

    min_{v, b}  1/2 v'v + C/r sum_i xi_i^r,   y_i (v . h(x_i) + b) >= 1 - xi_i,   r = 1 or 2        [I08, eq. 16, 17]
    D(x) = v . h(x) + b                                                                             [I08, eq. 28]

The chosen rows are the vectors of the model, whatever C is. With the linear kernel, ``basis="rows"`` is the paper's
NOSV (non-orthogonal support vectors, chosen rows) and ``basis="axes"`` its OSV (the unit vectors, h(x) = x [eq. 13]).

Symbols: Z (m, p) chosen rows, H = K(X, Z) (n, m), v (m,) weights in the reduced space = coefficients of the model.

Note: [I08] solves the dual (eq. 19-22); the finite Newton method of solvers/newton.py reaches the same optimum, since
the reduced space is small.
Note: [I08] scales features to [0, 1], and its numbers of vectors agree with ours where its gamma is divided by the
number of features: ``exp(-gamma |x - x'|^2 / p)``.
Note: ``order="pivoted"`` (ours) takes the most independent row first, instead of the first one that is independent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.labelled_parts import LabelledParts
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, warn_unsolved
from sparsegen.methods.shared.kernel_features import margin_machine
from sparsegen.methods.shared.parameters import LOSS
from sparsegen.methods.shared.reduce import ReducedSpaceClassifier
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight
from sparsegen.solvers.newton import Loss, solve


@METHODS.register("cholesky")
class CholeskySVM(ReducedSpaceClassifier):
    """SVM on kernel values of linearly independent training rows."""

    method = "cholesky"
    summary = "SVM on linearly independent rows found by incremental Cholesky factorisation [I08]"

    loss: str = replace(LOSS, default="hinge")

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        Z = self._vectors(X, kernel)
        H = kernel.gram(X, Z)
        C = self.C if self.loss == "hinge" else 0.5 * self.C  # C/r [I08, eq. 16]
        solution = solve([(slice(0, len(X)), H)], Y, len(Z), Loss(self.loss, loss_weight(C, weights)))
        if not solution.solved:
            warn_unsolved()
        return Expansion(Z, solution.V, solution.b, facts={"iterations": len(Z), "objective": solution.objective})

    def _train_in_parts(
        self, rows: LabelledParts, kernel: BoundKernel, rng: np.random.RandomState, by_class: Array
    ) -> Expansion:
        Z = self._vectors_in_parts(rows, kernel)
        C = self.C if self.loss == "hinge" else 0.5 * self.C  # C/r [I08, eq. 16]
        return margin_machine(rows, kernel, Z, self.loss, C * by_class, len(Z))
