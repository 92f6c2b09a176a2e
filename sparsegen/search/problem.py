"""What every worker of a search gets once: the rows to search on, how they are folded, and what is to be good."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.errors import DataError
from sparsegen.lowering.formats import INPUT_KINDS
from sparsegen.search.candidate import SEARCH
from sparsegen.search.metrics import Metric, metric_named
from sparsegen.training.choose import make_splits, sample, too_few

MAX_CROSS_VALIDATED = 6000
"""Rows beyond which one hold-out tells scores apart well enough."""
HELD_OUT_SHARE = 3  # one row of so many is held out from a fold

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows that a search may see, never those of the final test; plain data, so that it travels to any worker."""

    X: Array
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    folds: tuple[tuple[Places, Places], ...]
    """The places of training and of held-out rows; one fold is a hold-out."""
    metric_name: str
    seed: int

    @classmethod
    def of(cls, train_set: Dataset, metric: str, seed: int) -> Problem:
        """Return the problem of searching on a training set."""
        metric_named(metric)
        if (reason := too_few(train_set.y, train_set.groups)) is not None:
            raise DataError(f"a search compares candidates by cross-validation, which needs {reason}")
        X, y, groups = train_set.X, train_set.y, train_set.groups
        most = SEARCH.rows * HELD_OUT_SHARE // (HELD_OUT_SHARE - 1) if SEARCH.rows is not None else len(X)
        kept = _with_rare_classes(sample(y, most, seed), y, groups)
        X, y, groups = X[kept], y[kept], None if groups is None else groups[kept]
        folds = make_splits(X, y, groups, seed)
        folds = folds if len(X) <= MAX_CROSS_VALIDATED else folds[:1]
        return cls(X, y, train_set.feature_names, tuple(folds), metric, seed)

    @property
    def metric(self) -> Metric:
        """What is to be good."""
        return metric_named(self.metric_name)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels, in order."""
        return np.unique(self.y)

    @property
    def n_outputs(self) -> int:
        """How many scores a model has."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def fewest_rows(self) -> int:
        """How many rows the smallest fold trains on."""
        return min(len(train) for train, _ in self.folds)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The input kinds that hold every value of the rows; what is cheapest for a device comes first."""
        if not np.array_equal(self.X, np.round(self.X)):
            return ("f32",)
        low, high = self.X.min(), self.X.max()
        raw = [name for name in ("raw-uint8", "raw-int16") if _holds(name, low, high)]
        return (*raw[:1], "f32")


def _with_rare_classes(kept: Places, y: NDArray[Any], groups: NDArray[np.int64] | None) -> Places:
    """Return the places of a sample, in order, with two rows of every class, from two groups where rows have groups."""
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        if np.isin(kept, own).sum() < 2:
            firsts = np.arange(len(own)) if groups is None else np.unique(groups[own], return_index=True)[1]
            kept = np.union1d(kept, own[firsts[:2]])
    return np.sort(kept)


def _holds(name: str, low: float, high: float) -> bool:
    dtype = INPUT_KINDS[name].dtype
    if dtype is None:
        return False
    limits = np.iinfo(dtype)
    return bool(limits.min <= low and high <= limits.max)
