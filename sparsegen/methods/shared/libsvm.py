"""LIBSVM, by way of scikit-learn's SVC: the full SVM that sparse machines start from and are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.methods.shared.row_weights import RowWeights

CACHE_MB = 500
PRECOMPUTED = {"kernel": "precomputed"}


def libsvm_options(kernel: BoundKernel) -> dict[str, Any] | None:
    """Return LIBSVM's words for a kernel; ``None`` where it has no such kernel and needs the Gram matrix."""
    family = KERNELS[kernel.name]
    if family.libsvm_name is None:
        return None
    words = {"gamma" if name == family.scale_parameter else name: value for name, value in kernel.params}
    if "degree" in words:
        words["degree"] = int(words["degree"])
    return {"kernel": family.libsvm_name, **words}


def train_svc(
    rows: Array, y: Array, options: dict[str, Any], C: float, tol: float, weights: Array | None = None
) -> tuple[SVC, Array, float]:
    """Return a trained SVC with its ``alpha * y`` (n,) and its bias; ``rows`` are the Gram matrix if precomputed."""
    machine = SVC(C=C, tol=tol, cache_size=CACHE_MB, **options).fit(rows, y, sample_weight=weights)
    coef = np.zeros(len(y))
    coef[machine.support_] = machine.dual_coef_[0]
    return machine, coef, float(machine.intercept_[0])


def full_svm(
    X: Array, Y: Array, kernel: BoundKernel, C: float, tol: float = 1e-3, weights: RowWeights | None = None
) -> tuple[Array, Array]:
    """Return ``alpha * y`` (n_outputs, n) and biases of one SVC per column of ``Y``."""
    n_outputs = Y.shape[1]
    coef, intercept = np.zeros((n_outputs, len(X))), np.zeros(n_outputs)
    options = libsvm_options(kernel)
    rows = kernel.gram(X, X) if options is None else X
    of_rows = None if weights is None else weights.loss
    with progress.task("training reference SVM", n_outputs) as advance:
        for k in range(n_outputs):
            _, coef[k], intercept[k] = train_svc(rows, Y[:, k], options or PRECOMPUTED, C, tol, of_rows)
            advance(f"machine {k + 1} of {n_outputs}")
    return coef, intercept
