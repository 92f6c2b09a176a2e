"""Choosing gamma and C by cross-validation: a bounded grid around scikit-learn's scale, reported in full."""

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
FOLDS = 3
MAX_ROWS = 2000
MAX_ITER = 30


@dataclass(frozen=True)
class SearchResult:
    """Every candidate with its cross-validated accuracy, over all folds together, and the one chosen."""

    chosen: dict[str, float]
    candidates: tuple[tuple[dict[str, float], float], ...]
    rows: int
    folds: int

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        tried = [{**parameters, "accuracy": accuracy} for parameters, accuracy in self.candidates]
        return {"chosen": self.chosen, "candidates": tried, "rows": self.rows, "folds": self.folds}


def search(estimator: SparseClassifier, X: Array, y: NDArray[Any], seed: int) -> SearchResult | None:
    """Set those of gamma and C that are ``"auto"`` to the best of at most 16 pairs; ``None`` where none is.

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
    folds = max(2, min(FOLDS, int(np.unique(y, return_counts=True)[1].min())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about rare classes here and about candidates below, none about the result
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y))
        grid = _grid(names, X)
        candidates = []
        with progress.task(f"choosing {' and '.join(names)}", len(grid) * folds) as advance:
            for parameters in grid:
                correct = 0  # a count, not a mean of folds: equally good candidates tie exactly
                for train, test in splits:
                    trial = _trial(estimator, parameters, len(train))
                    with progress.silence():
                        correct += _count_correct(trial, X, y, train, test)
                    advance(" ".join(f"{name}={value:g}" for name, value in parameters.items()))
                candidates.append((parameters, correct / len(X)))
    best = max(range(len(grid)), key=lambda i: (candidates[i][1], -i))
    estimator.set_params(**grid[best])
    return SearchResult(grid[best], tuple(candidates), len(X), folds)


def _searched(estimator: SparseClassifier) -> tuple[str, ...]:
    """Return which of gamma and C to search; a gamma that the kernel does not have is put aside."""
    names = [name for name in ("gamma", "C") if _is_auto(getattr(estimator, name, None))]
    if "gamma" in names and "gamma" not in KERNELS[estimator.kernel].parameters:
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


def _grid(names: tuple[str, ...], X: Array) -> list[dict[str, float]]:
    """Return the candidates, smoothest first; gammas are rounded, so that what is printed is what was used."""
    scale = scale_gamma(X)
    gammas = [float(f"{scale * factor:.4g}") for factor in GAMMA_FACTORS]
    values = {"gamma": gammas if "gamma" in names else [0.0], "C": C_VALUES if "C" in names else [0.0]}
    pairs = [{"gamma": gamma, "C": C} for C in values["C"] for gamma in values["gamma"]]
    return [{name: pair[name] for name in names} for pair in pairs]


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
