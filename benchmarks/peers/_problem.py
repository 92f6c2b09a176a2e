"""The problems: rows, the split, and the SVC whose accuracy is the mark.

A third of the rows is the test set. Parameters are chosen by cross-validation over the training rows, and the chosen
machine is then trained on all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks import _report
from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.threads import one_thread

TEST_SHARE = 1 / 3
FOLDS = 3
C_VALUES = (1.0, 10.0, 100.0)
GAMMA_FACTORS = (0.3, 1.0, 3.0)


@dataclass(frozen=True)
class Source:
    """Where rows come from, and how they are scaled."""

    load: Callable[[Path | None], tuple[Any, Any]]
    scale: str
    """``standard``, or ``none`` where all features have one unit."""


def _bundled(load: Callable[..., Any]) -> Callable[[Path | None], tuple[Any, Any]]:
    return lambda _: load(return_X_y=True)


def _letter(folder: Path | None) -> tuple[Any, Any]:
    """Return every eighth row: the SVC of them all has 8,000 vectors, which no peer compiles."""
    arrays = _report.arrays(folder, "letter")
    labels = np.unique(arrays["y"], return_inverse=True)[1]
    return arrays["X"][::8], labels[::8]


SOURCES = {
    "digits": Source(_bundled(load_digits), "none"),
    "breast_cancer": Source(_bundled(load_breast_cancer), "standard"),
    "wine": Source(_bundled(load_wine), "standard"),
    "letter": Source(_letter, "none"),
}
BUNDLED = ("digits", "breast_cancer", "wine")


@dataclass(frozen=True)
class Problem:
    """One set of rows, split and scaled."""

    name: str
    train: Dataset
    test: Dataset
    scale: str
    seed: int

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.train.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes; labels are 0, 1, ..."""
        return len(np.unique(self.train.y))

    @property
    def train_labels(self) -> NDArray[np.int64]:
        """Labels of the training rows."""
        return np.asarray(self.train.y, dtype=np.int64)

    @property
    def test_labels(self) -> NDArray[np.int64]:
        """Labels of the test rows."""
        return np.asarray(self.test.y, dtype=np.int64)

    @cached_property
    def scaled(self) -> tuple[Array, Array]:
        """Training and test rows as peers read them: their code does not scale, and it is not charged for that.

        Rounded to float32, which is what their code gets.
        """
        scale = _scaling(self.train, self.scale)
        return scale(self.train.X), scale(self.test.X)

    @cached_property
    def folds(self) -> tuple[tuple[Dataset, Dataset], ...]:
        """The training rows, cut in three ways into rows to train on and rows held out."""
        X, y = self.train.X, self.train.y
        cuts = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed).split(X, y)
        return tuple((_part(self, X[fit], y[fit]), _part(self, X[held], y[held])) for fit, held in cuts)

    @cached_property
    def svc(self) -> SVC:
        """The SVC, trained on all scaled training rows."""
        C, gamma = self.svc_parameters
        return SVC(C=C, gamma=gamma).fit(self.scaled[0], self.train_labels)

    @property
    def svc_parameters(self) -> tuple[float, float]:
        """C and gamma of the SVC."""
        return self._svc_search[1]

    @property
    def svc_held_out_accuracy(self) -> float:
        """The SVC's cross-validated accuracy."""
        return self._svc_search[0]

    @cached_property
    def _svc_search(self) -> tuple[float, tuple[float, float]]:
        unit = float(1.0 / (self.n_features * self.scaled[0].var()))
        found = []
        with one_thread():
            for C, factor in product(C_VALUES, GAMMA_FACTORS):
                correct = 0
                for fit, held in self.folds:
                    scale = _scaling(fit, self.scale)
                    machine = SVC(C=C, gamma=factor * unit).fit(scale(fit.X), fit.y)
                    correct += int(np.count_nonzero(machine.predict(scale(held.X)) == held.y))
                found.append((correct / len(self.train.X), (C, factor * unit)))
        return max(found, key=lambda pair: (pair[0], -pair[1][0], -pair[1][1]))


def _part(problem: Problem, X: Array, y: NDArray[Any]) -> Dataset:
    return data.from_arrays(X, y, source=problem.name)


def _scaling(rows: Dataset, scale: str) -> Callable[[Array], Array]:
    if scale == "none":
        return lambda X: X.astype(np.float32).astype(np.float64)
    scaler = StandardScaler().fit(rows.X)
    return lambda X: scaler.transform(X).astype(np.float32).astype(np.float64)


def prepare(name: str, folder: Path | None, seed: int) -> Problem:
    """Return a problem by name."""
    source = SOURCES[name]
    X, y = source.load(folder)
    train, test = data.split(data.from_arrays(X, y, source=name), TEST_SHARE, seed=seed)
    return Problem(name, train, test, source.scale, seed)
