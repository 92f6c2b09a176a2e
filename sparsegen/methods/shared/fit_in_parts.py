"""``fit`` on rows in parts: the same checks, kernel and model as for rows in memory, from sums over the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sparsegen.data.dask_parts import labelled_parts
from sparsegen.data.labelled_parts import LabelledParts, column_sums
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.row_weights import class_weights
from sparsegen.threads import one_thread

if TYPE_CHECKING:
    from sparsegen.methods.shared.estimator import SparseClassifier

Estimator = TypeVar("Estimator", bound="SparseClassifier")


def fit_in_parts(estimator: Estimator, X: Any, y: Any, sample_weight: object = None) -> Estimator:
    """Train an estimator on Dask's rows and labels, where their blocks are, and return it."""
    if sample_weight is not None:
        raise OptionError("rows in parts cannot have sample weights; give class_weight, or train on a sample in memory")
    if estimator.probability:
        raise OptionError(
            "probability needs fits on parts of the rows in memory; train without it, or on a sample in memory"
        )
    return train_in_parts(estimator, labelled_parts(X, y))


def train_in_parts(estimator: Estimator, rows: LabelledParts) -> Estimator:
    """Train an estimator on rows in parts and return it."""
    estimator._validate_params()
    estimator.classes_, estimator.n_features_in_ = rows.classes, rows.n_features
    if rows.feature_names is not None:
        estimator.feature_names_in_ = rows.feature_names
    every = np.arange(len(rows.classes))
    by_class = class_weights(estimator.class_weight, rows.classes, every, rows.of_class.astype(np.float64))
    estimator.class_weight_ = by_class
    if estimator.unweighted and not np.all(by_class == 1.0):
        raise OptionError(f"method {estimator.method!r} cannot weigh rows: {estimator.unweighted}")
    kernel = _kernel(estimator, rows)
    with one_thread():
        rng = check_random_state(estimator.random_state)
        expansion = estimator._train_in_parts(rows, kernel, rng, by_class)
    estimator._keep(expansion, kernel, rows.n_features, None)
    return estimator


def _kernel(estimator: SparseClassifier, rows: LabelledParts) -> BoundKernel:
    """Return the kernel with the parameters of the estimator."""
    known: SparseClassifier = clone(estimator)
    if estimator.gamma == "scale":
        known.set_params(gamma=scale_gamma_of_parts(rows))
    return known._bind_kernel(np.empty((1, rows.n_features)))


def scale_gamma_of_parts(rows: LabelledParts) -> float:
    """Return what ``gamma="scale"`` stands for, as ``scale_gamma`` does of rows in memory."""
    size = rows.n_rows * rows.n_features
    centre = float(rows.rows.sums(column_sums)[0].sum()) / size
    variance = float(rows.rows.sums(column_sums, centre, 2)[0].sum()) / size
    return 1.0 / (rows.n_features * variance) if variance > 0.0 else 1.0
