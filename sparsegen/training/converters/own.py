"""sparsegen's own estimators, which hold their model."""

from __future__ import annotations

from sparsegen.methods.shared.sparse_estimator import SparseEstimator
from sparsegen.model import SparseModel
from sparsegen.training.converters import CONVERTERS, Converter


def _own(estimator: SparseEstimator) -> SparseModel:
    return estimator.model_


CONVERTERS.register("own")(Converter((SparseEstimator,), _own))
