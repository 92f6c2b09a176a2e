"""Sparse regression beside SVR and kernel ridge regression: R2 on held-out rows, at a tenth of SVR's vectors and fewer.

Five folds; in each, gamma, C (or alpha) and SVR's epsilon are chosen by cross-validation on the other four. ``slmr``
gets a tenth of the support vectors that SVR ended with in that fold, and then 8. diabetes is measured, the others are
generated.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from benchmarks import _report
from sparsegen.methods.slmr import SLMRegressor
from sparsegen.training.choose import gamma_values
from sparsegen.training.choose_values import search_values

Array = NDArray[np.float64]
FOLDS = 5
FEW = 8


def _sinc() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (400, 1))
    return X, np.sinc(X[:, 0]) + 0.1 * rng.normal(size=400)


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman1": lambda: make_friedman1(1000, noise=1.0, random_state=0),
    "friedman2": lambda: make_friedman2(1000, noise=50.0, random_state=0),
    "sinc": _sinc,
}


@dataclass(frozen=True)
class Result:
    """One machine on the folds of one set."""

    data: str
    machine: str
    r2: float
    deviation: float
    """Of R2 over the folds."""
    n_vectors: float
    """On average."""
    seconds: float
    """Processor time of choosing and training."""


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    options.add_argument("--rows", type=_report.count, default=1000, help="most rows of a set")
    chosen = options.parse_args(arguments)
    results = [one for name in chosen.sets for one in _results(name, chosen)]
    if chosen.json:
        return _report.as_json([asdict(result) for result in results])
    rows = [
        (r.data, r.machine, f"{r.r2:.4f} +- {r.deviation:.4f}", f"{r.n_vectors:.0f}", f"{r.seconds:.1f} s")
        for r in results
    ]
    return _report.markdown(["data", "machine", "R2, mean and deviation of five folds", "vectors", "time"], rows)


def _results(name: str, chosen: argparse.Namespace) -> Iterator[Result]:
    X, y = (np.asarray(part, dtype=np.float64)[: chosen.rows] for part in SETS[name]())
    tried: dict[str, list[tuple[float, int, float]]] = {}
    for train, test in KFold(FOLDS, shuffle=True, random_state=chosen.seed).split(X):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        centre, spread = y[train].mean(), y[train].std()
        a, b = (y[train] - centre) / spread, (y[test] - centre) / spread
        support = 10
        for machine, fit in _machines(chosen.seed).items():
            start = time.process_time()
            fitted, vectors = fit(A, a, support)
            seconds = time.process_time() - start
            support = vectors if machine == "SVR" else support
            residuals = b - fitted.predict(B)
            r2 = 1.0 - float((residuals**2).sum() / ((b - b.mean()) ** 2).sum())
            tried.setdefault(machine, []).append((r2, vectors, seconds))
    for machine, folds in tried.items():
        r2s, counts, times = (np.array(column) for column in zip(*folds, strict=True))
        yield Result(name, machine, r2s.mean(), r2s.std(), counts.mean(), times.sum())


Fit = Callable[[Array, Array, int], tuple[Any, int]]


def _machines(seed: int) -> dict[str, Fit]:
    return {
        "SVR": _svr,
        "KernelRidge": _kernel_ridge,
        "linear ridge": lambda X, y, _: (RidgeCV(np.logspace(-3, 3, 13)).fit(X, y), 1),
        "slmr, a tenth": lambda X, y, support: _slmr(X, y, max(1, support // 10), seed),
        "slmr, 8 vectors": lambda X, y, _: _slmr(X, y, FEW, seed),
    }


def _svr(X: Array, y: Array, _: int) -> tuple[Any, int]:
    grid = {"gamma": gamma_values(X), "C": [0.1, 1.0, 10.0, 100.0], "epsilon": [0.05, 0.1, 0.3]}
    found = GridSearchCV(SVR(), grid, cv=KFold(3, shuffle=True, random_state=0)).fit(X, y).best_estimator_
    return found, len(found.support_)


def _kernel_ridge(X: Array, y: Array, _: int) -> tuple[Any, int]:
    grid = {"gamma": gamma_values(X), "alpha": [0.005, 0.05, 0.5, 5.0]}
    found = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=KFold(3, shuffle=True, random_state=0)).fit(X, y)
    return found.best_estimator_, len(X)


def _slmr(X: Array, y: Array, n_vectors: int, seed: int) -> tuple[Any, int]:
    machine = SLMRegressor(n_vectors, gamma="auto", C="auto", random_state=seed)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search_values(machine, X, y, seed)
        return make_pipeline(machine).fit(X, y), n_vectors


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
