"""Scalers and PCA in front of a classifier, folded into its transform so that raw features go in.

One function per kind of transformer, filed in `FOLD_FUNCTIONS`; each takes the transform of the rows behind the
transformer and returns that of the rows in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.model import Transform

Entry = TypeVar("Entry")


def fold(step: Any, transform: Transform) -> Transform:
    """Return the transform of raw rows, given that of the rows ``step`` returns."""
    fold_step = entry_for(step, FOLD_FUNCTIONS)
    if fold_step is None:
        known = ", ".join(kind.__name__ for kind in FOLD_FUNCTIONS)
        raise OptionError(f"{name_of(step)} in a pipeline cannot be folded into the model; use only: {known}")
    require_fitted(step)
    return fold_step(step, transform)


def entry_for(estimator: Any, table: Mapping[type, Entry]) -> Entry | None:
    """Return the entry for an estimator's class or the nearest class it inherits from."""
    kind = estimator if isinstance(estimator, type) else type(estimator)
    return next((table[base] for base in kind.__mro__ if base in table), None)


def require_fitted(estimator: Any) -> None:
    """Raise an error where an estimator was not fitted, or is a class."""
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        raise OptionError(f"{name_of(estimator)} is not fitted; call fit before converting it") from None


def name_of(estimator: Any) -> str:
    """Return the name of an estimator's class."""
    return str(estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__)


def _standard_scaler(scaler: StandardScaler, transform: Transform) -> Transform:
    return _affine(transform, scaler.mean_ if scaler.with_mean else None, scaler.scale_)


def _robust_scaler(scaler: RobustScaler, transform: Transform) -> Transform:
    return _affine(transform, scaler.center_, scaler.scale_)


def _max_abs_scaler(scaler: MaxAbsScaler, transform: Transform) -> Transform:
    _refuse_clipping(scaler)
    return _affine(transform, None, scaler.scale_)


def _min_max_scaler(scaler: MinMaxScaler, transform: Transform) -> Transform:
    _refuse_clipping(scaler)
    return transform.after(-scaler.min_ / scaler.scale_, scaler.scale_)


def _refuse_clipping(scaler: Any) -> None:
    if getattr(scaler, "clip", False):
        raise OptionError(f"{name_of(scaler)}(clip=True) cannot be folded into the model; fit it with clip=False")


def _affine(transform: Transform, centre: Array | None, width: Array | None) -> Transform:
    """Return the transform behind ``(x - centre) / width``, where ``None`` leaves that part out."""
    d = transform.n_features
    return transform.after(
        np.zeros(d) if centre is None else np.asarray(centre), np.ones(d) if width is None else 1.0 / np.asarray(width)
    )


def _pca(pca: PCA, transform: Transform) -> Transform:
    """Return the transform behind ``W (x - mean)``; W has orthogonal rows, so its pseudo-inverse carries the offset."""
    W, inverse = pca.components_, pca.components_.T
    if pca.whiten:
        width = np.maximum(np.sqrt(pca.explained_variance_), np.finfo(np.float64).eps)  # as scikit-learn bounds it
        W, inverse = W / width[:, None], inverse * width
    behind = transform.scale[:, None] * W
    projection = behind if transform.projection is None else transform.projection @ behind
    return Transform(pca.mean_ + inverse @ transform.offset, np.ones(W.shape[1]), projection)


def _front_pipeline(pipeline: Pipeline, transform: Transform) -> Transform:
    for _, step in reversed(pipeline.steps):
        transform = transform if is_passthrough(step) else fold(step, transform)
    return transform


def is_passthrough(step: Any) -> bool:
    """Say whether a pipeline's step does nothing."""
    return step is None or (isinstance(step, str) and step == "passthrough")


FOLD_FUNCTIONS: dict[type, Callable[[Any, Transform], Transform]] = {
    StandardScaler: _standard_scaler,
    MinMaxScaler: _min_max_scaler,
    MaxAbsScaler: _max_abs_scaler,
    RobustScaler: _robust_scaler,
    PCA: _pca,
    Pipeline: _front_pipeline,
}
