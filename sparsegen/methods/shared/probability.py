"""From scores to probabilities: fitted on rows that the machine which scored them has not seen.

A machine is surer of the rows that it was trained on than of others. So the rows are scored in folds, each by a machine
trained on the other folds, and the sigmoid or the temperature (``solvers.calibration``) is fitted on these scores.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.errors import DataError
from sparsegen.model import Calibration, SparseModel
from sparsegen.solvers.calibration import fit_platt, fit_temperature

if TYPE_CHECKING:
    from sparsegen.methods.shared.estimator import SparseClassifier

MAX_FOLDS = 5
UNSURE = 1e-3
"""Slope times the largest score where scores say nothing: every class is then about as probable as any other."""


def calibrated(
    estimator: SparseClassifier,
    model: SparseModel,
    X: Array,
    y: NDArray[Any],
    *,
    groups: NDArray[Any] | None = None,
    sample_weight: Array | None = None,
    weights: Array | None = None,
) -> SparseModel:
    """Return an estimator's model with probabilities, fitted on cross-fitted scores of its training rows.

    ``weights`` are those of the rows in the loss: sample weights times the weights of classes.
    """
    classes, index = np.unique(y, return_inverse=True)
    scores = cross_fitted_scores(estimator, X, y, classes, groups=groups, sample_weight=sample_weight)
    if model.n_outputs == 1:
        platt = fit_platt(scores[:, 0], index == 1, weights)
        slope, offset = (None, 0.0) if platt is None else platt
    else:
        slope, offset = fit_temperature(scores, index, weights), 0.0
    if slope is None:
        warnings.warn(
            "scores of rows that were left out say nothing about their classes, so no class is more probable than "
            "another; use other features or parameters",
            ConvergenceWarning,
            stacklevel=4,
        )
        slope = UNSURE / max(float(np.abs(scores).max()), np.finfo(np.float64).tiny / UNSURE)
    if model.n_outputs == 1:
        return with_zero_at_one_half(model, slope, offset)
    return replace(model, calibration=Calibration("temperature", slope))


def with_zero_at_one_half(model: SparseModel, slope: float, offset: float) -> SparseModel:
    """Return a two-class model with ``p = 1 / (1 + exp(-(slope s + offset)))`` for the scores s of ``model``.

    The score's zero moves to where the probability is one half, so that the more probable class is always the predicted
    one. A negative slope turns the score around.
    """
    sign = 1.0 if slope > 0 else -1.0
    return replace(
        model,
        coef=sign * model.coef,
        intercept=sign * (model.intercept + offset / slope),
        calibration=Calibration("platt", abs(slope)),
    )


def cross_fitted_scores(
    estimator: SparseClassifier,
    X: Array,
    y: NDArray[Any],
    classes: NDArray[Any],
    *,
    groups: NDArray[Any] | None = None,
    sample_weight: Array | None = None,
) -> Array:
    """Return (n, n_outputs) scores of rows, each by a machine that saw neither the row nor others of its group."""
    n_outputs = 1 if len(classes) == 2 else len(classes)
    scores = np.empty((len(X), n_outputs))
    splits = _splits(estimator, X, y, groups)
    with warnings.catch_warnings(), progress.task("fitting probabilities", len(splits)) as advance:
        warnings.simplefilter("ignore", ConvergenceWarning)  # about parts; the machine itself has told its own
        for train, test in splits:
            lost = np.setdiff1d(classes, y[train])
            if len(lost):
                raise DataError(
                    f"probabilities need rows of every class in at least two groups, but those of class "
                    f"{lost[0].item()!r} are all in one"
                )
            part = clone(estimator).set_params(probability=False)
            given = part.get_params(deep=False)
            if isinstance(given.get("n_vectors"), int):
                part.set_params(n_vectors=min(given["n_vectors"], len(train)))
            known = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
            with progress.silence():
                part.fit(X[train], y[train], **known)
            scores[test] = part.model_.scores(X[test])
            advance("")
    return scores


def _splits(
    estimator: SparseClassifier, X: Array, y: NDArray[Any], groups: NDArray[Any] | None
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the rows to train on and to score, per fold."""
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        lonely = classes[counts.argmin()].item()
        raise DataError(
            f"probabilities need two training rows of every class, but class {lonely!r} has one; add rows of it"
        )
    folds = max(2, min(MAX_FOLDS, int(counts.min())))
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    if groups is None:
        return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y))
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        raise DataError("probabilities need rows of at least two groups, but every row is of the same one")
    folds = min(folds, n_groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes with few groups
        return list(StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(X, y, groups))
