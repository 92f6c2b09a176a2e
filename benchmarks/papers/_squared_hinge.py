"""The full SVM with the squared hinge loss, which [I08] calls the L2 SVM and [K06] simply the SVM."""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.libsvm import PRECOMPUTED, train_svc
from sparsegen.methods.shared.parameters import LOSS_WEIGHT
from sparsegen.methods.shared.row_weights import RowWeights, loss_weight

HARD_MARGIN = 1e9  # bound on alpha that stands for none
LIBSVM_TOL = 1e-3


class SquaredHingeSVM(SingleKernelClassifier):
    """LIBSVM's hard-margin machine on ``K + I / C`` [I08, eq. 25, 26]; every row that has a loss is a vector.

    ``C`` is 1 / lam of [K06, eq. 1], and the objective on the card is that equation divided by lam.
    """

    method = "l2-svm"
    summary = "L2 SVM as reference"
    C: float = LOSS_WEIGHT

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        K = kernel.gram(X, X) + np.diag(np.broadcast_to(1.0 / loss_weight(self.C, weights), len(X)))
        _, coef, intercept = train_svc(K, Y[:, 0], PRECOMPUTED, HARD_MARGIN, LIBSVM_TOL)
        objective = 0.5 * float(coef @ K @ coef)  # a row's loss is |alpha| / C
        return expand(X, coef[None, :], np.array([intercept]), {"iterations": 1, "objective": objective})
