"""The machines that [I08] compares, on inputs scaled to [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks import _ida
from sparsegen.methods.cholesky import CholeskySVM
from sparsegen.methods.svm import SVM

HARD_MARGIN = 1e9  # bound on alpha that stands for none


class SquaredHingeSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The reference L2 SVM: LIBSVM's hard-margin machine on ``K + I / C`` [I08, eq. 25, 26]."""

    def __init__(self, C: float = 1.0, gamma: float = 1.0) -> None:
        self.C = C
        self.gamma = gamma

    def fit(self, X: NDArray[np.float64], y: NDArray[Any]) -> Self:
        """Train on the rows of ``X`` with labels ``y``."""
        K = rbf_kernel(X, gamma=self.gamma) + np.eye(len(X)) / self.C
        self.classes_ = np.unique(y)
        self.machine_ = SVC(C=HARD_MARGIN, kernel="precomputed").fit(K, y)
        self.vectors_ = X[self.machine_.support_]
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """Return labels."""
        scores = rbf_kernel(X, self.vectors_, gamma=self.gamma) @ self.machine_.dual_coef_[0]
        return self.classes_[(scores + self.machine_.intercept_[0] > 0.0).astype(int)]


MACHINES: dict[str, Callable[..., Any]] = {
    "L1 SVM": SVM,
    "L2 SVM": SquaredHingeSVM,
    "sparse L1 SVM": lambda **options: CholeskySVM(loss="hinge", **options),
    "sparse L2 SVM": lambda **options: CholeskySVM(loss="squared_hinge", **options),
    "linear SVM": lambda C: SVM(kernel="linear", C=C),
    "OSV": lambda **options: CholeskySVM(kernel="linear", basis="axes", **options),
    "NOSV": lambda **options: CholeskySVM(kernel="linear", basis="rows", **options),
}
Setting = dict[str, float]


def scaled_split(folder: Path, name: str, position: int) -> _ida.Split:
    """Return a split whose training rows fill [0, 1] in every input."""
    split = _ida.split(folder, name, position)
    low, high = split.X.min(axis=0), split.X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return _ida.Split((split.X - low) / width, split.y, (split.X_test - low) / width, split.y_test)


def build(machine: str, split: _ida.Split, setting: Setting) -> Any:
    """Return an untrained machine; the paper's gamma is per input: exp(-gamma |x - x'|^2 / p)."""
    scaled = {"gamma": setting["gamma"] / split.X.shape[1]} if "gamma" in setting else {}
    return MACHINES[machine](**{**setting, **scaled})
