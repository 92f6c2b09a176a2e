"""What tuning would add: plain ``sparsegen train DATA`` beside the best of a wider search with as many vectors.

The search tries every scaler, C and gamma in turn, twice round, and compares on held-out training rows; the test rows
are used once for each of the two models. Rows of one recording stay on one side of every split. Times are the
processor's. A test of 100 rows tells no difference below some points.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from benchmarks import _ida, _report
from sparsegen import SLMC, data
from sparsegen.methods.shared.estimator import scale_gamma
from sparsegen.threads import one_thread
from sparsegen.training.train import train

FOLDS = 3
MOST_ROWS = 4000  # that the search compares on
WINDOW = 200  # samples: two seconds
SCALERS = (StandardScaler(), MinMaxScaler(), None)
COSTS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
GAMMAS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ROUNDS = 2


@dataclass(frozen=True)
class Problem:
    """Rows for training, with the recording each comes from, and rows for the test."""

    X: NDArray[Any]
    y: NDArray[Any]
    groups: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


@dataclass(frozen=True)
class Result:
    """One set."""

    name: str
    rows: int
    test_rows: int
    vectors: int
    default: float
    """Test accuracy of the defaults, in percent."""
    tuned: float
    default_seconds: float
    tuned_seconds: float


def main(arguments: Sequence[str]) -> str:
    """Return the table, or JSON."""
    options = _report.parser(__doc__ or "")
    options.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    chosen = options.parse_args(arguments)
    results = list(_report.track(_results(chosen.sets, chosen.data, chosen.seed), "sets", len(chosen.sets)))
    if chosen.json:
        return _report.as_json([asdict(result) for result in results])
    header = ["set", "rows", "test rows", "vectors", "defaults", "tuned", "difference", "CPU s", "tuned, CPU s"]
    rows = [
        [
            r.name,
            f"{r.rows:,}",
            f"{r.test_rows:,}",
            str(r.vectors),
            f"{r.default:.2f} %",
            f"{r.tuned:.2f} %",
            f"{r.default - r.tuned:+.2f}",
            f"{r.default_seconds:.1f}",
            f"{r.tuned_seconds:.1f}",
        ]
        for r in results
    ]
    return _report.markdown(header, rows)


def _results(names: Sequence[str], folder: Path | None, seed: int) -> Iterator[Result]:
    for name in names:
        yield measure(name, SETS[name](folder), seed)


def measure(name: str, problem: Problem, seed: int) -> Result:
    """Return how the defaults and a search do on a problem."""
    began = time.process_time()
    groups = problem.groups if len(np.unique(problem.groups)) < len(problem.groups) else None
    sets = (data.from_arrays(problem.X, problem.y, groups=groups), data.from_arrays(problem.X_test, problem.y_test))
    report = train(*sets, seed=seed)
    default_seconds = time.process_time() - began
    vectors = len(report.model.vectors)
    began = time.process_time()
    with one_thread():
        machine = tuned(problem, vectors, seed).fit(problem.X, problem.y)
    tuned_seconds = time.process_time() - began
    return Result(
        name,
        len(problem.X),
        len(problem.X_test),
        vectors,
        100.0 * report.accuracy,
        100.0 * float(machine.score(problem.X_test, problem.y_test)),
        default_seconds,
        tuned_seconds,
    )


def tuned(problem: Problem, vectors: int, seed: int) -> Any:
    """Return the machine, not trained yet, of the best scaler, C and gamma on held-out training rows."""
    few = np.random.default_rng(seed).permutation(len(problem.X))[:MOST_ROWS]
    X, y, groups = problem.X[few], problem.y[few], problem.groups[few]
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    splits = list(folds.split(X, y, groups))[: FOLDS if len(X) < MOST_ROWS else 1]
    known: dict[tuple[int, float, float], int] = {}

    def machine(setting: tuple[int, float, float]) -> Any:
        scaler, C, factor = setting
        scaling = [] if SCALERS[scaler] is None else [clone(SCALERS[scaler])]
        seen = scaling[0].fit_transform(X) if scaling else X
        return make_pipeline(*scaling, SLMC(vectors, C=C, gamma=factor * scale_gamma(seen), random_state=seed))

    def right(setting: tuple[int, float, float]) -> int:
        if setting not in known:
            known[setting] = sum(
                int(np.count_nonzero(machine(setting).fit(X[fit], y[fit]).predict(X[held]) == y[held]))
                for fit, held in splits
            )
        return known[setting]

    best = (0, 10.0, 1.0)
    for _ in range(ROUNDS):
        best = max(((scaler, best[1], best[2]) for scaler in range(len(SCALERS))), key=right)
        best = max(((best[0], C, best[2]) for C in COSTS), key=right)
        best = max(((best[0], best[1], factor) for factor in GAMMAS), key=right)
    return machine(best)


def _bundled(load: Callable[..., Any], folder: Path | None) -> Problem:
    X, y = load(return_X_y=True)
    return _split(X, y, np.arange(len(X)))


def _file(name: str, folder: Path | None) -> Problem:
    given = _report.arrays(folder, name)
    X, X_test = given["X_train"].astype(float), given["X_test"].astype(float)
    return Problem(X, given["y_train"], np.arange(len(X)), X_test, given["y_test"])


def _image(folder: Path | None) -> Problem:
    split = _ida.split(folder, "image", 0)
    return Problem(split.X, split.y, np.arange(len(split.X)), split.X_test, split.y_test)


def _motions(folder: Path | None) -> Problem:
    given = _report.arrays(folder, "basicmotions")
    X, X_test = (_features(np.swapaxes(given[key], 1, 2)) for key in ("X_train", "X_test"))
    return Problem(X, given["y_train"], np.arange(len(X)), X_test, given["y_test"])


def _recordings(name: str, folder: Path | None) -> Problem:
    given = _report.arrays(folder, name)
    windows = [
        (signal[start : start + WINDOW], label, i)
        for i, (signal, label) in enumerate(zip(given["X"], given["y"], strict=True))
        for start in range(0, len(signal) - WINDOW + 1, WINDOW // 2)
    ]
    signals, y, groups = (np.array(part) for part in zip(*windows, strict=True))
    return _split(_features(signals), y, groups)


def _features(signals: NDArray[Any]) -> NDArray[np.float64]:
    """Return mean, deviation and mean step of every channel of signals (n, samples, channels)."""
    steps = np.abs(np.diff(signals, axis=1)).mean(axis=1)
    return np.hstack([signals.mean(axis=1), signals.std(axis=1), steps]).astype(float)


def _split(X: NDArray[Any], y: NDArray[Any], groups: NDArray[Any]) -> Problem:
    """Return a problem whose test rows are a third, of groups of their own."""
    fit, test = next(iter(StratifiedGroupKFold(3, shuffle=True, random_state=0).split(X, y, groups)))
    return Problem(X[fit], y[fit], groups[fit], X[test], y[test])


SETS: dict[str, Callable[[Path | None], Problem]] = {
    "digits": partial(_bundled, load_digits),
    "breast_cancer": partial(_bundled, load_breast_cancer),
    "image": _image,
    "basicmotions": _motions,
    "exercises": partial(_recordings, "emlearn_exercises"),
    "gestures": partial(_recordings, "emlearn_gestures"),
    "usps": partial(_file, "usps"),
    "letter": partial(_file, "letter"),
}


if __name__ == "__main__":
    raise SystemExit(_report.run(main))
