"""The machines that [I08] compares, on inputs scaled to [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _ida
from benchmarks.papers._squared_hinge import SquaredHingeSVM
from sparsegen.methods.cholesky import CholeskySVM
from sparsegen.methods.svm import SVM

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
