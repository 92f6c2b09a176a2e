"""Choosing gamma, C and epsilon of a regression by cross-validation: one after the other, each of a few values.

Rows of one group, such as the windows of one recording, are all on one side of every fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

import numpy as np

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import DataError, OptionError, nearest
from sparsegen.methods.shared.regressor import SparseRegressor
from sparsegen.training.choose import (
    C_START,
    C_VALUES,
    MAX_ROWS,
    Groups,
    Parameters,
    SearchResult,
    as_text,
    gamma_values,
    quick_variant,
    searched,
)
from sparsegen.training.plain_folds import plain_folds, too_few

NAMES = ("gamma", "C", "epsilon")
EPSILON_VALUES = (0.0, 0.1, 0.3)
STARTS = {"C": C_START, "epsilon": 0.0}  # while those before them are chosen
METRICS: Mapping[str, Callable[[Array, Array], float]] = {
    "r2": lambda values, truth: 1.0 - float(((values - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()),
    "mae": lambda values, truth: -float(np.abs(values - truth).mean()),
}
"""What they can be chosen for, over the rows of all folds together: the more, the better."""


def require_metric(metric: str) -> None:
    """Raise an error for what no parameters of a regression can be chosen for."""
    if metric not in METRICS:
        known = ", ".join(METRICS)
        raise OptionError(
            f"metric {metric!r} is not one of a regression{nearest(metric, METRICS)}; choose one of: {known}"
        )


def search_values(
    estimator: SparseRegressor, X: Array, y: Array, seed: int, *, groups: Groups | None = None, metric: str = "r2"
) -> SearchResult | None:
    """Set those of gamma, C and epsilon that are ``"auto"`` to the best of a few values; ``None`` where none is.

    At most 2000 rows are used and descents are cut short; of equally good choices the first, which is smoothest, wins.
    """
    names = searched(estimator, NAMES)
    if not names:
        return None
    if (reason := too_few(len(y), groups)) is not None:
        raise DataError(
            f"choosing {' and '.join(names)} by cross-validation needs {reason}, or give numbers in place of auto"
        )
    if len(X) > MAX_ROWS:
        kept = np.sort(np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS])
        X, y, groups = X[kept], y[kept], None if groups is None else groups[kept]
    splits = plain_folds(len(X), groups, seed)
    options = {"gamma": gamma_values(X), "C": C_VALUES, "epsilon": EPSILON_VALUES}
    results: list[tuple[Parameters, float]] = []
    n_tried = sum(len(options[name]) for name in names) - (len(names) - 1)  # each start has been tried by then
    with progress.task(f"choosing {' and '.join(names)}", n_tried * len(splits)) as advance:

        def score(parameters: Parameters) -> float:
            for tried, found in results:
                if tried == parameters:
                    return found
            values, truth = [], []
            for train, test in splits:
                with progress.silence(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # about candidates, none about the result
                    trial = quick_variant(estimator, parameters, len(train)).fit(X[train], y[train])
                    values.append(trial.predict(X[test]))
                truth.append(y[test])
                advance(
                    " ".join(f"{name}={as_text(value)}" for name, value in sorted(parameters.items(), reverse=True))
                )
            found = METRICS[metric](np.concatenate(values), np.concatenate(truth))
            results.append((parameters, found))
            return found

        chosen: Parameters = {name: STARTS[name] for name in names if name in STARTS}
        for name in names:
            chosen = max(({**chosen, name: value} for value in options[name]), key=score)
    chosen = {name: chosen[name] for name in names}
    estimator.set_params(**chosen)
    candidates = tuple(({name: tried[name] for name in names}, found) for tried, found in results)
    n_groups = None if groups is None else len(np.unique(groups))
    return SearchResult(chosen, candidates, len(X), len(splits), metric, n_groups)
