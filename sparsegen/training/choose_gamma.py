"""Choosing gamma of a detector by cross-validation: so that new normal rows score above known anomalies.

The rows that train are normal in every fold. Anomalies choose only between a few values of gamma, and what chose is not
tested on.
"""

from __future__ import annotations

import warnings

import numpy as np

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import DataError
from sparsegen.methods.shared.detector import SparseDetector
from sparsegen.training.choose import MAX_ROWS, Groups, Parameters, SearchResult, gamma_values, quick_variant
from sparsegen.training.plain_folds import plain_folds, too_few

AREA = "auc"
"""What gamma is chosen for: the area under the curve of detections against false alarms."""


def choose_gamma(
    estimator: SparseDetector, X: Array, anomalies: Array, seed: int, *, groups: Groups | None = None
) -> SearchResult:
    """Set gamma to the best of four values; of equally good ones the first, which is smoothest.

    At most 2000 normal rows and as many anomalies are used, and descents are cut short.
    """
    from sklearn.metrics import roc_auc_score

    lacking = too_few(len(X), groups)
    if lacking is None and not len(anomalies):
        lacking = "anomalies among them, and groups, if there are any, that hold no normal training row"
    if lacking is not None:
        raise DataError(
            f"choosing gamma by cross-validation needs {lacking}; bring some, or give a number in place of auto"
        )
    rng = np.random.default_rng(seed)
    kept = np.sort(rng.permutation(len(X))[:MAX_ROWS])
    X, groups = X[kept], None if groups is None else groups[kept]
    anomalies = anomalies[np.sort(rng.permutation(len(anomalies))[:MAX_ROWS])]
    splits, values = plain_folds(len(X), groups, seed), gamma_values(X)
    results: list[tuple[Parameters, float]] = []
    with progress.task("choosing gamma", len(values) * len(splits)) as advance:
        for gamma in values:
            areas, rows = [], []
            for train, test in splits:
                with progress.silence(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # about candidates, none about the result
                    trial = quick_variant(estimator, {"gamma": gamma}, len(train)).fit(X[train])
                # within each fold: scores of different machines have different zeros
                scores = trial.decision_function(np.vstack([X[test], anomalies]))
                truth = np.arange(len(scores)) < len(test)
                areas.append(float(roc_auc_score(truth, scores)))
                rows.append(len(test))
                advance(f"gamma={gamma:g}")
            results.append(({"gamma": gamma}, float(np.average(areas, weights=rows))))
    chosen = max(results, key=lambda result: result[1])[0]
    estimator.set_params(**chosen)
    n_groups = None if groups is None else len(np.unique(groups))
    return SearchResult(chosen, tuple(results), len(X) + len(anomalies), len(splits), AREA, n_groups)
