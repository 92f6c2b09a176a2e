"""sparsegen's own estimators, which hold their model."""

from __future__ import annotations

from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.model import SparseModel
from sparsegen.training.converters import CONVERTERS, Converter


def _own(estimator: SparseClassifier) -> SparseModel:
    return estimator.model_


CONVERTERS.register("own")(Converter((SparseClassifier,), _own))
