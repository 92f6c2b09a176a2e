"""The reference: scikit-learn's SVC (LIBSVM), one machine per class, as one SparseModel.

Several classes are one-vs-rest, and a support vector that several machines use is stored and evaluated once.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.svm import SVC
from sklearn.utils._param_validation import Interval

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import Expansion, SparseClassifier
from sparsegen.methods.shared.expand import expand

CACHE_MB = 500


@METHODS.register("svm")
class SVM(SparseClassifier):
    """Full support vector machine; every support vector becomes an expansion vector.

    Args:
        C: weight of the hinge loss.
        kernel: name of a kernel.
        gamma: kernel parameter, or ``"scale"`` for ``1 / (n_features * X.var())``.
        coef0: constant term of the polynomial kernel.
        degree: power of the polynomial kernel.
        tol: LIBSVM's stopping tolerance.
        random_state: unused, accepted so that methods can be exchanged.
    """

    method = "svm"
    summary = "scikit-learn's SVC as reference; one-vs-rest, all support vectors"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        coef0: float = 1.0,
        degree: int = 3,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.tol = tol
        self.random_state = random_state

    def _train(self, X: Array, Y: Array, kernel: BoundKernel, rng: np.random.RandomState) -> Expansion:
        coef, intercept = full_svm(X, Y, kernel, self.C, self.tol)
        return expand(X, coef, intercept, {"iterations": 1})


def full_svm(X: Array, Y: Array, kernel: BoundKernel, C: float, tol: float = 1e-3) -> tuple[Array, Array]:
    """Return ``alpha * y`` (n_outputs, n) and biases of one SVC per column of ``Y``."""
    n_outputs = Y.shape[1]
    coef, intercept = np.zeros((n_outputs, len(X))), np.zeros(n_outputs)
    # LIBSVM's own kernels need no n x n matrix; for any other it is given one.
    native = kernel.name in ("rbf", "linear", "poly")
    options: dict[str, Any] = {"kernel": kernel.name, **dict(kernel.params)} if native else {"kernel": "precomputed"}
    if "degree" in options:
        options["degree"] = int(options["degree"])
    rows = X if native else kernel.gram(X, X)
    with progress.task("training reference SVM", n_outputs) as advance:
        for k in range(n_outputs):
            machine = SVC(C=C, tol=tol, cache_size=CACHE_MB, **options).fit(rows, Y[:, k])
            coef[k, machine.support_] = machine.dual_coef_[0]
            intercept[k] = machine.intercept_[0]
            advance(f"machine {k + 1} of {n_outputs}")
    return coef, intercept
