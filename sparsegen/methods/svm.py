"""The reference: scikit-learn's SVC (LIBSVM), one machine per class, as one SparseModel.

Several classes are one-vs-rest, and a support vector that several machines use is stored and evaluated once.
"""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier
from sparsegen.methods.shared.expand import expand
from sparsegen.methods.shared.libsvm import full_svm
from sparsegen.methods.shared.parameters import LOSS_WEIGHT, POSITIVE, parameter
from sparsegen.methods.shared.row_weights import RowWeights


@METHODS.register("svm")
class SVM(SingleKernelClassifier):
    """Full support vector machine; every support vector becomes an expansion vector."""

    method = "svm"
    summary = "scikit-learn's SVC as reference; one-vs-rest, all support vectors"
    needs_all_rows = "it is trained by LIBSVM, which needs all rows in memory"

    C: float = LOSS_WEIGHT
    tol: float = parameter(1e-3, "LIBSVM's stopping tolerance", POSITIVE)

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        coef, intercept = full_svm(X, Y, kernel, self.C, self.tol, weights)
        return expand(X, coef, intercept, {"iterations": 1})
