"""emlearn's networks with one hidden layer, in float."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.peers import PEERS, CPeer, PeerModel
from benchmarks.peers._emlearn import emlearn_export, load_emlearn
from benchmarks.peers._problem import Problem

HIDDEN = (4, 8, 16, 32, 64)
FLOAT = np.dtype(np.float32)


class EmlearnMlp(CPeer):
    """emlearn's C for scikit-learn's MLPClassifier."""

    name = "emlearn-mlp"
    module = package = "emlearn"

    def models(self, problem: Problem) -> Iterator[PeerModel]:
        """Return networks of several sizes."""
        from sklearn.neural_network import MLPClassifier
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(problem.train.X)  # networks need it, whatever the SVC reads
        train, test = (scaler.transform(X).astype(FLOAT).astype(np.float64) for X in (problem.train.X, problem.test.X))
        for hidden in HIDDEN:
            network: Any = MLPClassifier((hidden,), max_iter=500, random_state=problem.seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # small networks go on improving after the last iteration
                network.fit(train, problem.train_labels)
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # it compiles where it is called
                export = emlearn_export(problem, load_emlearn().convert(network), FLOAT)
            yield PeerModel(f"MLP, {hidden} hidden", export, test, network.predict(test))


PEERS.register("emlearn-mlp")(EmlearnMlp())
