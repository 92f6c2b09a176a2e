"""Frozen estimators: what they hold."""

from __future__ import annotations

from sklearn.frozen import FrozenEstimator

from sparsegen.model import SparseModel
from sparsegen.training.converters import CONVERTERS, Converter, convert


def _frozen(frozen: FrozenEstimator) -> SparseModel:
    return convert(frozen.estimator)


CONVERTERS.register("frozen")(Converter((FrozenEstimator,), _frozen))
