"""RS, the reduced set method [W05, section 1 and eq. 4]: a trained SVM's weight vector on fewer vectors.

    min_{Z, beta}  sum_k | sum_i alpha_ki y_ki phi(x_i) - sum_j beta_kj phi(z_j) |^2                        [W05, eq. 4]

The biases stay the SVM's. See ``_reduced_set`` for how the minimum is searched.

Note: [W05] takes the best of three programs; here it is the best of ``n_init`` starts of one.
Note: the vectors are shared by all classes, and the squared distances of their machines are added up.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.count import count_vectors
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.reduced_set import ReducedSet, reduce_set
from sparsegen.methods.svm import full_svm


@METHODS.register("rs")
class RS(SparseClassifier):
    """Reduced set: the SVM, rewritten on fewer vectors that lie anywhere.

    Args:
        n_vectors: number of expansion vectors; ``None`` means ``max(16, 3 * n_classes)``. Never more
            than the SVM has different ones.
        ratio: instead of ``n_vectors``, a share of the SVM's support vectors (0.1 = a tenth).
        C: weight of the SVM's hinge loss.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        n_init: number of starts; the nearest expansion wins.
        max_iter: bound on the descent's iterations per start.
        tol: the descent stops when ten iterations together improve the objective by less than this share.
        random_state: seed.
    """

    method = "rs"
    summary = "reduced set: a trained SVM rewritten on fewer vectors [W05, eq. 4]"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "n_vectors": [Interval(Integral, 1, None, closed="left"), None],
        "ratio": [Interval(Real, 0.0, 1.0, closed="right"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        n_vectors: int | None = None,
        *,
        ratio: float | None = None,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        n_init: int = 4,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_vectors = n_vectors
        self.ratio = ratio
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        reduced, intercept = self._reduce(X, Y, kernel, rng)
        facts = {"iterations": reduced.iterations, "residual": reduced.residual}
        return Expansion(reduced.Z, reduced.beta, intercept, facts=facts)

    def _reduce(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> tuple[ReducedSet, Array]:
        """Return the reduced set of the SVM and the SVM's biases."""
        coef, intercept = full_svm(X, Y, kernel, self.C)
        m = count_vectors(self.n_vectors, self.ratio, Y, lambda: coef)
        support = np.flatnonzero(coef.any(axis=0))
        reduced = reduce_set(X[support], coef[:, support], kernel, m, self.n_init, self.max_iter, self.tol, rng)
        return reduced, intercept
