"""Training time: SLMC beside scikit-learn's SVC (LIBSVM) and Nystroem with a linear SVM, and how SLMC's time grows.

All fits are timed in one run, in seconds of the processor. The growth is that of one iteration of the exact descent;
every fit makes the same number of iterations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks import _report
from sparsegen import SLMC

Array = NDArray[Any]


@dataclass(frozen=True)
class Problem:
    """Data and parameters to train with."""

    name: str
    X: Array
    y: NDArray[Any]
    X_test: Array
    y_test: NDArray[Any]
    C: float
    gamma: float
    n_vectors: int
    steps: int | None = None
    """Minibatches of SLMC; ``None`` takes its default."""
    projection: int | None = None
    has_svc: bool = True
    """Whether the SVC can be trained in minutes."""


@dataclass(frozen=True)
class Timing:
    """One fit."""

    name: str
    method: str
    rows: int
    features: int
    vectors: int
    error: float
    seconds: float


@dataclass(frozen=True)
class Growth:
    """Seconds of SLMC as one size grows, and the slope of their logarithms."""

    size: str
    values: list[int]
    seconds: list[float]
    slope: float


def main(arguments: Sequence[str]) -> str:
    """Return the tables, or JSON."""
    options = _options().parse_args(arguments)
    _fit_slmc(generated(100, 4, options.seed), 4, options, max_iter=2)  # the first call compiles
    problems = list(_problems(options))
    timings = [
        timing for problem in _report.track(problems, "fits", len(problems)) for timing in _time(problem, options)
    ]
    sweeps = {
        "n": (_grow_rows, options.rows),
        "d": (_grow_features, options.features),
        "m": (_grow_vectors, options.vectors),
    }
    growth = [
        _growth(size, values, grow, options) for size, (grow, values) in _report.track(sweeps.items(), "growth", 3)
    ]
    if options.json:
        return _report.as_json({"timings": [asdict(t) for t in timings], "growth": [asdict(g) for g in growth]})
    return "\n\n".join([_timing_table(timings), _growth_table(growth)])


def _options() -> argparse.ArgumentParser:
    options = _report.parser(__doc__ or "")
    options.add_argument("--loss", choices=["hinge", "squared_hinge"], default="squared_hinge")
    options.add_argument(
        "--max-iter", type=_report.count, default=100, help="bound on iterations of the fits beside SVC"
    )
    options.add_argument("--mnist-rows", type=_report.count, nargs="+", default=[5000, 10000, 20000, 60000])
    options.add_argument("--svc-rows", type=_report.count, default=20000, help="most rows of MNIST that SVC trains on")
    options.add_argument("--rows", type=_report.count, nargs="+", default=[1000, 2000, 4000, 8000, 16000])
    options.add_argument("--features", type=_report.count, nargs="+", default=[16, 32, 64, 128, 256])
    options.add_argument("--vectors", type=_report.count, nargs="+", default=[8, 16, 32, 64, 128])
    options.add_argument(
        "--iterations", type=_report.count, default=10, help="iterations of each fit of the growth table"
    )
    options.add_argument("--small", action="store_true", help="generated data only, a tenth of its rows")
    return options


def _problems(options: argparse.Namespace) -> Iterator[Problem]:
    n = 500 if options.small else 5000
    data = generated(n + n // 5, 20, options.seed)
    yield Problem("generated", data[0][:n], data[1][:n], data[0][n:], data[1][n:], 1.0, 0.05, 20)
    if options.small:
        return
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, test_size=0.25, stratify=y, random_state=0)
    yield Problem("digits", X, y, X_test, y_test, 10.0, 0.05, 40)
    if options.data is None:
        return
    usps = _report.arrays(options.data, "usps")
    X, y, X_test, y_test = (usps[key].astype(float) for key in ("X_train", "y_train", "X_test", "y_test"))
    yield Problem("usps", X, y, X_test, y_test, 10.0, 1 / 128, 50, steps=2000)
    letter = _report.arrays(options.data, "letter")
    X, y, X_test, y_test = (letter[key].astype(np.float32) for key in ("X_train", "y_train", "X_test", "y_test"))
    X, X_test = (X - X.mean(axis=0)) / X.std(axis=0), (X_test - X.mean(axis=0)) / X.std(axis=0)
    yield Problem("letter", X, y, X_test, y_test, 30.0, 0.12, 150, steps=3000, projection=16)
    mnist = _report.arrays(options.data, "mnist")
    X, X_test = (mnist[key].astype(np.float32) / np.float32(255.0) for key in ("X_train", "X_test"))
    for n in options.mnist_rows:
        parts = X[:n], mnist["y_train"][:n], X_test, mnist["y_test"]
        yield Problem(f"mnist {n}", *parts, 10.0, 0.025, 200, steps=4000, projection=24, has_svc=n <= options.svc_rows)
    banana = _report.arrays(options.data / "ida", "banana")
    X, y = banana["X"].astype(float), banana["y"]
    train, test = banana["train"][0], banana["test"][0]
    yield Problem("banana", X[train], y[train], X[test], y[test], 316.2, 1.0, 9)


def generated(n: int, d: int, seed: int) -> tuple[Array, NDArray[Any]]:
    """Return two classes of four overlapping normal clouds each."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, d)) * 2.5 / np.sqrt(d)
    cloud = rng.integers(8, size=n)
    return centres[cloud] + rng.normal(size=(n, d)), cloud % 2


def _time(problem: Problem, options: argparse.Namespace) -> Iterator[Timing]:
    nystroem = Nystroem(gamma=problem.gamma, n_components=min(500, len(problem.X)), random_state=options.seed)
    slmc = SLMC(
        problem.n_vectors,
        C=problem.C,
        gamma=problem.gamma,
        loss=options.loss,
        max_iter=options.max_iter,
        steps=problem.steps,
        projection=problem.projection,
        random_state=options.seed,
    )
    machines = {"SLMC": slmc, "Nystroem 500 + LinearSVC": make_pipeline(nystroem, LinearSVC(C=problem.C))}
    if problem.has_svc:
        machines["SVC"] = SVC(C=problem.C, gamma=problem.gamma, cache_size=500)
    with threadpool_limits(1):  # a second thread that waits counts as work
        for name, machine in machines.items():
            start = time.process_time()
            machine.fit(problem.X, problem.y)
            seconds = time.process_time() - start
            error = 100.0 * float(np.mean(machine.predict(problem.X_test) != problem.y_test))
            rows, features = problem.X.shape
            yield Timing(problem.name, name, rows, features, _n_vectors(machine), error, seconds)


def _n_vectors(machine: Any) -> int:
    if isinstance(machine, SVC):
        return len(machine.support_)
    return len(machine.vectors_) if isinstance(machine, SLMC) else len(machine[0].components_)


def _grow_rows(n: int, options: argparse.Namespace) -> float:
    return _fit_slmc(generated(n, 32, options.seed), 32, options, options.iterations)


def _grow_features(d: int, options: argparse.Namespace) -> float:
    return _fit_slmc(generated(min(4000, max(options.rows)), d, options.seed), 32, options, options.iterations)


def _grow_vectors(m: int, options: argparse.Namespace) -> float:
    return _fit_slmc(generated(min(4000, max(options.rows)), 32, options.seed), m, options, options.iterations)


def _fit_slmc(data: tuple[Array, NDArray[Any]], m: int, options: argparse.Namespace, max_iter: int) -> float:
    X, y = data
    gamma = 0.5 / X.shape[1]
    settings = {"gamma": gamma, "loss": options.loss, "init": "random", "max_iter": max_iter, "tol": 0.0}
    machine = SLMC(m, solver="exact", random_state=options.seed, **settings)
    start = time.process_time()
    machine.fit(X, y)
    return (time.process_time() - start) / machine.n_iter_


def _growth(
    size: str, values: list[int], seconds_of: Callable[[int, argparse.Namespace], float], options: argparse.Namespace
) -> Growth:
    seconds = [seconds_of(value, options) for value in values]
    slope = float(np.polyfit(np.log(values), np.log(seconds), 1)[0]) if len(values) > 1 else float("nan")
    return Growth(size, values, seconds, slope)


def _timing_table(timings: list[Timing]) -> str:
    rows = [
        [t.name, t.method, str(t.rows), str(t.features), str(t.vectors), f"{t.error:.2f}", f"{t.seconds:.2f}"]
        for t in timings
    ]
    return _report.markdown(["data", "method", "rows", "features", "vectors", "test error %", "training, CPU s"], rows)


def _growth_table(growth: list[Growth]) -> str:
    meaning = {"n": "rows n", "d": "features d", "m": "vectors m"}
    rows = [
        [
            meaning[g.size],
            ", ".join(map(str, g.values)),
            ", ".join(f"{1000 * s:.1f}" for s in g.seconds),
            f"{g.slope:.2f}",
        ]
        for g in growth
    ]
    return _report.markdown(["SLMC as it grows", "sizes", "ms per iteration", "log-log slope"], rows)


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
