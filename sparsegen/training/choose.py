"""Choosing gamma and C by cross-validation: gamma around scikit-learn's scale, then C; every trial is reported."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import DataError
from sparsegen.kernels import KERNELS
from sparsegen.methods.shared.estimator import SparseClassifier, scale_gamma

AUTO = "auto"
GAMMA_FACTORS = (0.25, 1.0, 3.0, 10.0)
C_VALUES = (0.1, 1.0, 10.0, 100.0)
C_START = 10.0  # while gamma is chosen
MAX_FOLDS = 3
MAX_ROWS = 2000
MAX_ITER = 30

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class SearchResult:
    """Every candidate with its cross-validated accuracy, over all folds together, and the one chosen."""

    chosen: dict[str, float]
    candidates: tuple[tuple[dict[str, float], float], ...]
    rows: int
    folds: int

    def as_json(self) -> dict[str, Any]:
        """Return plain values for the model card."""
        tried = [{**parameters, "accuracy": accuracy} for parameters, accuracy in self.candidates]
        return {"chosen": self.chosen, "candidates": tried, "rows": self.rows, "folds": self.folds}


def search(estimator: SparseClassifier, X: Array, y: NDArray[Any], seed: int) -> SearchResult | None:
    """Set those of gamma and C that are ``"auto"`` to the best of four values, gamma first; ``None`` where none is.

    At most 2000 rows are used and descents are cut short; of equally good pairs the smoothest wins (small C and gamma).
    """
    from sklearn.model_selection import StratifiedKFold, train_test_split

    names = _searched(estimator)
    if not names:
        return None
    _require_two_of_each(y, names)
    if len(X) > MAX_ROWS:
        stratify = y if len(np.unique(y)) <= min(MAX_ROWS, len(X) - MAX_ROWS) else None
        X, _, y, _ = train_test_split(X, y, train_size=MAX_ROWS, random_state=seed, stratify=stratify)
    folds = max(2, min(MAX_FOLDS, int(np.unique(y, return_counts=True)[1].min())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about rare classes here and about candidates below, none about the result
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y))
        values = {"gamma": _gammas(X), "C": C_VALUES}
        n_tried = sum(len(values[name]) for name in names) - (len(names) > 1)  # C_START has been tried by then
        with progress.task(f"choosing {' and '.join(names)}", n_tried * folds) as advance:
            trials = _Trials(estimator, X, y, splits, advance)
            chosen = {"C": C_START} if "C" in names else {}
            for name in names:
                chosen = max(({**chosen, name: value} for value in values[name]), key=trials.accuracy)
    chosen = {name: chosen[name] for name in names}
    estimator.set_params(**chosen)
    candidates = tuple(({name: tried[name] for name in names}, accuracy) for tried, accuracy in trials.results)
    return SearchResult(chosen, candidates, len(X), folds)


class _Trials:
    """Cross-validated accuracies; the same parameters are tried once."""

    def __init__(
        self, estimator: SparseClassifier, X: Array, y: NDArray[Any], splits: Splits, advance: progress.Advance
    ) -> None:
        self._estimator, self._X, self._y, self._splits, self._advance = estimator, X, y, splits, advance
        self.results: list[tuple[dict[str, float], float]] = []

    def accuracy(self, parameters: dict[str, float]) -> float:
        """Return the share of all rows that are labelled correctly by the machine that did not see them."""
        for tried, accuracy in self.results:
            if tried == parameters:
                return accuracy
        correct = 0  # a count, not a mean of folds: equally good candidates tie exactly
        for train, test in self._splits:
            trial = _trial(self._estimator, parameters, len(train))
            with progress.silence():
                correct += _count_correct(trial, self._X, self._y, train, test)
            self._advance(" ".join(f"{name}={value:g}" for name, value in sorted(parameters.items(), reverse=True)))
        self.results.append((parameters, correct / len(self._X)))
        return correct / len(self._X)


def _searched(estimator: SparseClassifier) -> tuple[str, ...]:
    """Return which of gamma and C to search; a kernel without a scale has no gamma to choose."""
    names = [name for name in ("gamma", "C") if _is_auto(getattr(estimator, name, None))]
    if "gamma" in names and KERNELS[estimator.kernel].scale_parameter is None:
        names.remove("gamma")
        estimator.set_params(gamma="scale")
    return tuple(names)


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == AUTO


def _require_two_of_each(y: NDArray[Any], names: tuple[str, ...]) -> None:
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        lonely = classes[counts.argmin()].item()
        raise DataError(
            f"choosing {' and '.join(names)} by cross-validation needs two training rows of every class, but class "
            f"{lonely!r} has one; add rows of it, or give numbers in place of auto"
        )


def _gammas(X: Array) -> tuple[float, ...]:
    """Return the candidates, smoothest first, rounded: what is printed is what was used."""
    scale = scale_gamma(X)
    return tuple(float(f"{scale * factor:.4g}") for factor in GAMMA_FACTORS)


def _trial(estimator: SparseClassifier, parameters: dict[str, float], n_rows: int) -> SparseClassifier:
    """Return a quick variant of the estimator: a short descent, and no more vectors than a fold has rows."""
    from sklearn.base import clone

    trial: SparseClassifier = clone(estimator).set_params(**parameters)
    given = trial.get_params(deep=False)
    for name, most in (("max_iter", MAX_ITER), ("n_vectors", n_rows)):
        if isinstance(given.get(name), int):
            trial.set_params(**{name: min(most, given[name])})
    return trial


def _count_correct(
    trial: SparseClassifier, X: Array, y: NDArray[Any], train: NDArray[np.intp], test: NDArray[np.intp]
) -> int:
    return int(np.count_nonzero(trial.fit(X[train], y[train]).predict(X[test]) == y[test]))
