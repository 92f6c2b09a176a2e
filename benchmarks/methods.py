"""Every method on the same data: test accuracy, vectors and fit time, with scikit-learn's bundled sets.

Parameters are each method's defaults but for the number of vectors, where it can be asked for; nothing is tuned. With
``--data``, ``--sets mnist`` are the first training rows of MNIST and all of its test rows.
"""

from __future__ import annotations

import argparse
import inspect
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_moons
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks import _report
from sparsegen.methods import classifiers

SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "moons": lambda: make_moons(1000, noise=0.3, random_state=0),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
}
MNIST = "mnist"


@dataclass(frozen=True)
class Result:
    """One method on one set."""

    method: str
    data: str
    accuracy: float
    n_vectors: int
    seconds: float


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--vectors", type=_report.count, default=8)
    options.add_argument("--sets", nargs="+", choices=[*SETS, MNIST], default=list(SETS))
    options.add_argument("--methods", nargs="+", choices=[*classifiers()], default=[*classifiers()])
    options.add_argument("--rows", type=_report.count, default=5000, help="training rows of MNIST")
    chosen = options.parse_args(arguments)
    total = len(chosen.methods) * len(chosen.sets)
    results = list(_report.track(_results(chosen), "methods", total))
    if chosen.json:
        return _report.as_json([asdict(result) for result in results])
    cells = {(r.method, r.data): f"{100 * r.accuracy:.1f} / {r.n_vectors} / {r.seconds:.2f} s" for r in results}
    rows = [[method, *(cells[method, name] for name in chosen.sets)] for method in chosen.methods]
    title = f"Test accuracy in % / vectors / processor time; {chosen.vectors} vectors where a method takes a number"
    return "\n\n".join([title, _report.markdown(["method", *chosen.sets], rows)])


def _results(chosen: argparse.Namespace) -> Iterator[Result]:
    for name in chosen.sets:
        X_train, X_test, y_train, y_test = _parts(name, chosen)
        for method in chosen.methods:
            family = classifiers()[method]
            known = inspect.signature(family).parameters
            wanted: dict[str, Any] = {"n_vectors": chosen.vectors} if "n_vectors" in known else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                family(**wanted, random_state=chosen.seed).fit(X_train[:60], y_train[:60])  # compile first
                start = time.process_time()  # other processes may share the cores
                machine = family(**wanted, random_state=chosen.seed).fit(X_train, y_train)
                seconds = time.process_time() - start
            accuracy = float(np.mean(machine.predict(X_test) == y_test))
            yield Result(method, name, accuracy, machine.model_.n_vectors, seconds)


def _parts(name: str, chosen: argparse.Namespace) -> tuple[Any, Any, Any, Any]:
    """Return scaled rows for training and for the test, and their labels."""
    if name == MNIST:
        given = _report.arrays(chosen.data, MNIST)
        X, X_test = given["X_train"][: chosen.rows] / 255.0, given["X_test"] / 255.0
        return X, X_test, given["y_train"][: chosen.rows], given["y_test"]
    X, y = SETS[name]()
    X, X_test, y, y_test = train_test_split(X, y, random_state=chosen.seed, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
