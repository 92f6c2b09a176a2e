"""[Z18]: the two-class tasks, and the linear machines that are compared on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks import _report, _usps
from sparsegen.arrays import Array
from sparsegen.methods.minimal import COUNTED_SLACK, LIBSVM_TOL, MinimalSVM
from sparsegen.methods.svm import SVM
from sparsegen.model import SparseModel

P = 0.5
MACHINES = ("svm", "minimal")
NAMES = {"svm": "SVM, L1", "minimal": "Minimal SVM, L0.5"}

TOY_ROWS = 50  # of each class
TOY_DISTANCE = 2.5  # between the centres along each axis, in standard deviations


def toy_points() -> tuple[Array, Array]:
    """Return two overlapping Gaussian clouds and their labels."""
    rng = np.random.default_rng(0)
    centres = TOY_DISTANCE / 2.0 * np.array([[-1.0, -1.0], [1.0, 1.0]])
    return rng.normal(np.repeat(centres, TOY_ROWS, axis=0)), np.repeat([0.0, 1.0], TOY_ROWS)


def rows_of(folder: Path | None, source: str, classes: Sequence[int], n_rows: int | None) -> tuple[Array, Array]:
    """Return the rows of two classes, of each the first ``n_rows``, and their labels; features are at most 1."""
    if source == "toy":
        X, y = toy_points()
    elif source == "digits":
        digits: Any = load_digits()
        X, y = digits.data / 16.0, digits.target
    elif source == _usps.NAME:
        split = _usps.split(folder)
        X, y = split.X, split.y
    else:
        arrays = _report.arrays(folder, source)
        X, y = arrays["X"].reshape(len(arrays["y"]), -1) / (255.0 if source == "att_faces" else 1.0), arrays["y"]
    chosen = np.sort(np.concatenate([np.flatnonzero(y == label)[:n_rows] for label in classes]))
    return X[chosen], y[chosen]


def machine_of(name: str, C: float) -> SVM | MinimalSVM:
    """Return the machine before it is trained; the Minimal SVM starts from the SVM."""
    if name == "svm":
        return SVM(C=C, kernel="linear", tol=LIBSVM_TOL)  # its default is COUNTED_SLACK: too coarse to count by
    return MinimalSVM(C=C, p=P, kernel="linear", init="svm")


@dataclass(frozen=True)
class Line:
    """A linear machine."""

    w: Array
    b: float

    def margins(self, X: Array, sign: Array) -> Array:
        """Return y f(x) of every row."""
        margins: Array = sign * (X @ self.w + self.b)
        return margins


def fit(name: str, X: Array, y: Array, C: float) -> Line:
    """Return the trained machine; the second class is the positive one."""
    return line_of(machine_of(name, C).fit(X, y).model_)


def line_of(model: SparseModel) -> Line:
    """Return the weight vector and the bias of a linear model with one output."""
    return Line((model.coef[:, 0, :] @ model.vectors)[0], float(model.intercept[0]))


def has_slack(margins: Array) -> Any:
    """Return which rows are support vectors as [Z18, section 3] counts the Minimal SVM's: xi > 0."""
    return margins < 1.0 - COUNTED_SLACK


def on_or_inside(margins: Array) -> Any:
    """Return which rows are support vectors as an SVM's are counted: alpha > 0, on the margin or inside."""
    return margins <= 1.0 + COUNTED_SLACK
