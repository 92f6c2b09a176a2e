"""Linear classifiers: one vector of weights per output, and probabilities where these follow from the scores."""

from __future__ import annotations

from dataclasses import replace
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
from sparsegen.model import LARGEST, Calibration, SparseModel
from sparsegen.training.converters import (
    CONVERTERS,
    SHARES_OF_CLASSES,
    Converter,
    model_of,
    warn_of_lost_probabilities,
)
from sparsegen.training.fitted import dense


def linear(machine: Any, decision: str = LARGEST) -> SparseModel:
    """Return the model of a machine with ``coef_`` and ``intercept_``."""
    vectors = dense(machine.coef_)
    n_outputs = len(vectors)
    # intercept_ is a lone 0.0 where fit_intercept=False
    intercept = np.broadcast_to(np.asarray(machine.intercept_, dtype=np.float64), n_outputs)
    return model_of(machine, vectors, np.eye(n_outputs)[:, None, :], intercept, LINEAR.bind(), decision)


def _logistic(machine: Any) -> SparseModel:
    """Return the model whose probabilities are ``1 / (1 + exp(-score))``, or the softmax of several scores."""
    model = linear(machine)
    if model.n_outputs == 1:
        # before scikit-learn 1.8, a softmax of (-score, score) was there for two classes too
        slope = 2.0 if getattr(machine, "multi_class", None) == "multinomial" else 1.0
        return replace(model, calibration=Calibration("platt", slope))
    if getattr(machine, "multi_class", None) == "ovr" or getattr(machine, "solver", None) == "liblinear":
        warn_of_lost_probabilities(machine, SHARES_OF_CLASSES)
        return model
    return replace(model, calibration=Calibration("temperature", 1.0))


def _sgd(machine: SGDClassifier) -> SparseModel:
    model = linear(machine)
    if machine.loss == "log_loss" and model.n_outputs == 1:
        return replace(model, calibration=Calibration("platt", 1.0))
    if machine.loss in ("log_loss", "modified_huber"):
        warn_of_lost_probabilities(
            machine, SHARES_OF_CLASSES if machine.loss == "log_loss" else "are no logistic function of its scores"
        )
    return model


PLAIN = (LinearSVC, RidgeClassifier, RidgeClassifierCV, Perceptron)
CONVERTERS.register("linear")(Converter(PLAIN, linear))
CONVERTERS.register("logistic")(Converter((LogisticRegression, LinearDiscriminantAnalysis), _logistic))
CONVERTERS.register("sgd")(Converter((SGDClassifier,), _sgd))
