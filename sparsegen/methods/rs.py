"""RS, the reduced set method [W05, section 1 and eq. 4]: a trained SVM's weight vector on fewer vectors.

    min_{Z, beta}  sum_k | sum_i alpha_ki y_ki phi(x_i) - sum_j beta_kj phi(z_j) |^2                        [W05, eq. 4]

The biases stay the SVM's. For the search see ``shared.reduced_set``.

Note: [W05] takes the best of three programs; here it is the best of ``n_init`` starts of one.
Note: the vectors are shared by all classes, and the squared distances of their machines are added up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import CountedVectors, count_vectors
from sparsegen.methods.shared.estimator import Expansion, SingleKernelClassifier
from sparsegen.methods.shared.libsvm import full_svm
from sparsegen.methods.shared.parameters import MAX_ITER, N_INIT, TOL
from sparsegen.methods.shared.reduced_set import ReducedSet, reduce_set
from sparsegen.methods.shared.row_weights import RowWeights


@METHODS.register("rs")
class RS(CountedVectors, SingleKernelClassifier):
    """Reduced set: the SVM, rewritten on fewer vectors that lie anywhere; never more than it has different ones."""

    method = "rs"
    summary = "reduced set: a trained SVM rewritten on fewer vectors [W05, eq. 4]"
    coefficient_formula = "beta = Kz^-1 Kzx Y alpha, alpha of the SVM [W05, eq. 35]"

    needs_all_rows = "the SVM that it starts from is LIBSVM's, which needs all rows in memory"

    n_init: int = replace(N_INIT, default=4)
    max_iter: int = MAX_ITER
    tol: float = TOL

    def _train(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> Expansion:
        reduced, intercept = self._reduce(X, Y, kernel, rng, weights)
        facts = {"iterations": reduced.iterations, "residual": reduced.residual}
        return Expansion(reduced.Z, reduced.beta, intercept, facts=facts)

    def _reduce(
        self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState, weights: RowWeights | None
    ) -> tuple[ReducedSet, Array]:
        """Return the reduced set of the SVM and the SVM's biases."""
        coef, intercept = full_svm(X, Y, kernel, self.C, weights=weights)
        m = count_vectors(self.n_vectors, self.ratio, Y, lambda: coef)
        support = np.flatnonzero(coef.any(axis=0))
        reduced = reduce_set(X[support], coef[:, support], kernel, m, self.n_init, self.max_iter, self.tol, rng)
        return reduced, intercept
