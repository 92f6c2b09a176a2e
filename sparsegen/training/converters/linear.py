"""Linear classifiers: one vector of weights per output."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.svm import LinearSVC

from sparsegen.kernels.linear import LINEAR
from sparsegen.model import SparseModel
from sparsegen.training.converters import CONVERTERS, Converter, model_of
from sparsegen.training.fitted import dense


def linear(machine: Any) -> SparseModel:
    """Return the model of a machine with ``coef_`` and ``intercept_``."""
    vectors = dense(machine.coef_)
    n_outputs = len(vectors)
    # intercept_ is a lone 0.0 where fit_intercept=False
    intercept = np.broadcast_to(np.asarray(machine.intercept_, dtype=np.float64), n_outputs)
    return model_of(machine, vectors, np.eye(n_outputs)[:, None, :], intercept, LINEAR.bind())


CONVERTERS.register("linear")(
    Converter(
        (
            LinearSVC,
            LogisticRegression,
            RidgeClassifier,
            RidgeClassifierCV,
            SGDClassifier,
            Perceptron,
            LinearDiscriminantAnalysis,
        ),
        linear,
    )
)
