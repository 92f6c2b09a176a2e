"""emlearn's random forests: comparisons of 16-bit integers, as code (inline) or as a table of nodes (loadable)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import PEERS, CPeer, PeerModel
from benchmarks.peers._emlearn import emlearn_export, load_emlearn
from benchmarks.peers._problem import Problem
from sparsegen.arrays import Array

TREES = (3, 10, 30, 100)
METHODS = ("inline", "loadable")
LARGEST = 30_000
INT16 = np.dtype(np.int16)


class EmlearnForest(CPeer):
    """emlearn's C for scikit-learn's random forest."""

    name = "emlearn-forest"
    module = package = "emlearn"

    def models(self, problem: Problem) -> Iterator[PeerModel]:
        """Return forests of several sizes, each in both forms."""
        from sklearn.ensemble import RandomForestClassifier

        train, test = spread(problem.train.X, problem.test.X)
        for trees in TREES:
            forest: Any = RandomForestClassifier(trees, random_state=problem.seed).fit(train, problem.train_labels)
            for method in METHODS:
                converted = load_emlearn().convert(forest, method=method, dtype="int16_t")
                export = emlearn_export(problem, converted, INT16)
                yield PeerModel(f"{trees} trees, {method}", export, test, forest.predict(test))


def spread(train: Array, test: Array) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return rows as integers from 0 to 30,000: emlearn rounds thresholds, which ruins them on small whole numbers."""
    low, high = train.min(axis=0), train.max(axis=0)
    step = np.where(high > low, high - low, 1.0) / LARGEST
    limits = np.iinfo(INT16)

    def place(X: Array) -> NDArray[np.int16]:
        return np.clip(np.rint((X - low) / step), limits.min, limits.max).astype(INT16)

    return place(train), place(test)


PEERS.register("emlearn-forest")(EmlearnForest())
