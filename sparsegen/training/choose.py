"""Choosing gamma and C by cross-validation: gamma around scikit-learn's scale, then C; every trial is reported.

Where the rows may be scaled in several ways, gamma is tried with each: which way is better depends on the data (by one
to two points on held-out rows of digits and image), and gamma means something else in each.

Rows of one group, such as the windows of one recording, are all on one side of every fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import DataError, OptionError, nearest
from sparsegen.kernels import KERNELS
from sparsegen.methods.shared.estimator import SparseClassifier, scale_gamma
from sparsegen.methods.shared.sparse_estimator import SparseEstimator
from sparsegen.model.confusion import METRICS, Confusion

AUTO = "auto"
ACCURACY, BALANCED = "accuracy", "balanced"  # of METRICS
GAMMA_FACTORS = (0.25, 1.0, 3.0, 10.0)
C_VALUES = (0.1, 1.0, 10.0, 100.0)
C_START = 10.0  # while gamma is chosen
MAX_FOLDS = 3
MAX_ROWS = 2000
MANY_ROWS = 4000  # with more, one fold of more rows takes as long as three of fewer, and tells what suits many rows
MAX_MANY_ROWS = 6000
MAX_ITER = 30
MAX_STEPS = 2000  # minibatches: more than 250 passes over the rows of a fold

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
Groups = NDArray[np.int64]
Kind = TypeVar("Kind", bound=SparseEstimator)
Scaling = Callable[[Array], Array]
Parameters = dict[str, float | str]


@dataclass(frozen=True)
class SearchResult:
    """Every candidate with its cross-validated score, over all folds together, and the one chosen."""

    chosen: Parameters
    """The values of gamma and C, and the name of the scaling where there were several."""
    candidates: tuple[tuple[Parameters, float], ...]
    rows: int
    folds: int
    metric: str = "accuracy"
    """What the scores are."""
    groups: int | None = None
    """How many groups the folds keep together, where rows have groups."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values for the model card."""
        tried = [{**parameters, self.metric: score} for parameters, score in self.candidates]
        told = {"chosen": self.chosen, "candidates": tried, "rows": self.rows, "folds": self.folds}
        return {**told, "metric": self.metric} | ({} if self.groups is None else {"groups": self.groups})


def search(
    estimator: SparseClassifier,
    X: Array,
    y: NDArray[Any],
    seed: int,
    *,
    groups: Groups | None = None,
    metric: str = "accuracy",
    scalings: Mapping[str, Scaling] | None = None,
) -> SearchResult | None:
    """Set those of gamma and C that are ``"auto"`` to the best of four values, gamma first; ``None`` where none is.

    At most 2000 rows are used, or of more than 4000 up to 6000, a third of them held out once. Descents are cut short;
    of equally good pairs the smoothest wins (small C and gamma).
    ``scalings`` are ways to scale the rows, by name: the best with some gamma is chosen, the first of equals, and the
    first where gamma is not to be chosen.
    """
    require_metric(metric)
    names = searched(estimator)
    if not names:
        return None
    if (reason := too_few(y, groups)) is not None:
        raise DataError(
            f"choosing {' and '.join(names)} by cross-validation needs {reason}, or give numbers in place of auto"
        )
    has_many = len(X) > MANY_ROWS
    most = MAX_MANY_ROWS if has_many else MAX_ROWS
    if len(X) > most:
        kept = sample(y, most, seed)
        X, y, groups = X[kept], y[kept], None if groups is None else groups[kept]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about rare classes here and about candidates below, none about the result
        splits = make_splits(X, y, groups, seed)[: 1 if has_many else MAX_FOLDS]
        folds = len(splits)
        views = {name: scaled(X) for name, scaled in (scalings or {"none": np.asarray}).items()}
        if "gamma" not in names:
            views = dict([next(iter(views.items()))])
        steps = _steps(names, views)
        told = list(dict.fromkeys(name for step in steps for name in step[0]))
        n_tried = sum(map(len, steps)) - (len(steps) > 1)  # C_START has been tried by then
        with progress.task(f"choosing {_listed(told)}", n_tried * folds) as advance:
            trials = _Trials(estimator, views, y, splits, metric, advance)
            chosen: Parameters = {"C": C_START} if "C" in names else {}
            for step in steps:
                chosen = max(({**chosen, **some} for some in step), key=trials.score)
    chosen = {name: chosen[name] for name in told}
    estimator.set_params(**{name: chosen[name] for name in names})
    candidates = tuple(({name: tried[name] for name in told}, score) for tried, score in trials.results)
    n_groups = None if groups is None else len(np.unique(groups))
    return SearchResult(chosen, candidates, len(X), folds, metric, n_groups)


def _steps(names: tuple[str, ...], views: Mapping[str, Array]) -> list[list[Parameters]]:
    """Return what is tried together, the smoothest first: gamma with every scaling, then C with the best of them."""
    steps: list[list[Parameters]] = []
    if "gamma" in names:
        several = len(views) > 1
        steps.append(
            [
                {"scale": name, "gamma": gamma} if several else {"gamma": gamma}
                for name, rows in views.items()
                for gamma in gamma_values(rows)
            ]
        )
    if "C" in names:
        steps.append([{"C": C} for C in C_VALUES])
    return steps


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def as_text(value: float | str) -> str:
    """Return a chosen value as users read it."""
    return value if isinstance(value, str) else f"{value:g}"


def require_metric(metric: str) -> None:
    """Raise an error for what no parameters can be chosen for."""
    if metric not in METRICS:
        known = ", ".join(METRICS)
        raise OptionError(f"metric {metric!r} is unknown{nearest(metric, METRICS)}; choose one of: {known}")


def too_few(y: NDArray[Any], groups: Groups | None) -> str | None:
    """Return what cross-validation lacks: two rows of every class, in two groups where rows have groups."""
    classes, index = np.unique(y, return_inverse=True)
    kind = "rows" if groups is None else "groups"
    seen = index if groups is None else np.unique(np.column_stack([index, groups]), axis=0)[:, 0]
    counts = np.bincount(seen, minlength=len(classes))
    if counts.min() >= 2:
        return None
    lonely = classes[counts.argmin()].item()
    return f"two training {kind} of every class, but class {lonely!r} has one; add {kind} of it"


def sample(y: NDArray[Any], most: int, seed: int) -> NDArray[np.intp]:
    """Return the places of at most so many rows, with the classes' shares kept where they can be."""
    from sklearn.model_selection import train_test_split

    every = np.arange(len(y))
    if len(y) <= most:
        return every
    classes, counts = np.unique(y, return_counts=True)
    shares = y if counts.min() >= 2 and len(classes) <= min(most, len(y) - most) else None
    kept: NDArray[np.intp] = train_test_split(every, train_size=most, random_state=seed, stratify=shares)[0]
    return kept


def make_splits(X: Array, y: NDArray[Any], groups: Groups | None, seed: int) -> Splits:
    """Return folds that keep the classes' shares, and groups together."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    most = int(np.unique(y, return_counts=True)[1].min())
    if groups is not None:
        most = min(most, len(np.unique(groups)))
    folds = max(2, min(MAX_FOLDS, most))
    if groups is None:
        return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y))
    found = StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(X, y, groups)
    splits = [(train, test) for train, test in found if len(test) and len(np.unique(y[train])) >= 2]
    if not splits:
        raise DataError(
            "no fold of whole groups leaves two classes to train on; bring more groups of each class, or give numbers "
            "in place of auto"
        )
    return splits


class _Trials:
    """Cross-validated scores; the same parameters are tried once."""

    def __init__(
        self,
        estimator: SparseClassifier,
        views: Mapping[str, Array],
        y: NDArray[Any],
        splits: Splits,
        metric: str,
        advance: progress.Advance,
    ) -> None:
        self._estimator, self._views, self._y, self._splits, self._advance = estimator, views, y, splits, advance
        self._classes, index = np.unique(y, return_inverse=True)
        self._truth = index[np.concatenate([test for _, test in splits])]
        self._metric = METRICS[metric]
        self.results: list[tuple[Parameters, float]] = []

    def score(self, parameters: Parameters) -> float:
        """Return how well the machines label the rows that they did not see, over all folds together."""
        for tried, score in self.results:
            if tried == parameters:
                return score
        given = []
        X = next(rows for name, rows in self._views.items() if parameters.get("scale", name) == name)
        own = {name: value for name, value in parameters.items() if name != "scale"}
        for train, test in self._splits:
            trial = quick_variant(self._estimator, own, len(train))
            with progress.silence():
                given.append(_predict(trial, X, self._y, train, test))
            self._advance(
                " ".join(f"{name}={as_text(value)}" for name, value in sorted(parameters.items(), reverse=True))
            )
        labels = np.searchsorted(self._classes, np.concatenate(given))
        # Of counts, not a mean of folds: equally good candidates tie exactly.
        score = self._metric(Confusion.count(self._truth, labels, len(self._classes)))
        self.results.append((parameters, score))
        return score


def searched(estimator: SparseEstimator, names: Iterable[str] = ("gamma", "C")) -> tuple[str, ...]:
    """Return which of these parameters to search; a kernel without a scale has no gamma to choose."""
    names = [name for name in names if is_auto(getattr(estimator, name, None))]
    if "gamma" in names and KERNELS[estimator.kernel].scale_parameter is None:
        names.remove("gamma")
        estimator.set_params(gamma="scale")
    return tuple(names)


def is_auto(value: object) -> bool:
    """Return whether a parameter's value asks for a choice."""
    return isinstance(value, str) and value == AUTO


def gamma_values(X: Array) -> tuple[float, ...]:
    """Return the candidates, smoothest first, rounded: what is printed is what was used."""
    scale = scale_gamma(X)
    return tuple(float(f"{scale * factor:.4g}") for factor in GAMMA_FACTORS)


def quick_variant(estimator: Kind, parameters: Parameters, n_rows: int) -> Kind:
    """Return a quick variant of the estimator: a short descent, and no more vectors than a fold has rows."""
    from sklearn.base import clone

    trial: Kind = clone(estimator).set_params(**parameters)
    given = trial.get_params(deep=False)
    if given.get("probability"):
        trial.set_params(probability=False)  # labels are compared
    for name, most in (("max_iter", MAX_ITER), ("n_vectors", n_rows)):
        if isinstance(given.get(name), int):
            trial.set_params(**{name: min(most, given[name])})
    if "steps" in given:  # whose None stands for more
        trial.set_params(steps=min(MAX_STEPS, given["steps"] or MAX_STEPS))
    return trial


def _predict(
    trial: SparseClassifier, X: Array, y: NDArray[Any], train: NDArray[np.intp], test: NDArray[np.intp]
) -> NDArray[Any]:
    """Return the labels that a machine trained on some rows gives others."""
    return np.asarray(trial.fit(X[train], y[train]).predict(X[test]))
