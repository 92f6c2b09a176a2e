"""Fitted classifiers, each turned into the SparseModel that decides the same.

One kind of classifier per file, registered at its foot.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import BoundKernel
from sparsegen.methods.shared.estimator import model_labels
from sparsegen.methods.shared.sparse_estimator import SparseEstimator
from sparsegen.model import LARGEST, VALUE, SparseModel, Transform
from sparsegen.model.task import REGRESSION
from sparsegen.registry import Registry
from sparsegen.training.fitted import entry_for, name_of, names_of, parameters_of, require_fitted
from sparsegen.version import __version__


@dataclass(frozen=True)
class Converter:
    """How classifiers of some classes become a model."""

    kinds: tuple[type, ...]
    convert: Callable[[Any], SparseModel]


CONVERTERS: Registry[Converter] = Registry("converter", __name__)

SHARES_OF_CLASSES = "come from one logistic function per class, divided by their sum"


def warn_of_lost_probabilities(estimator: Any, why: str) -> None:
    """Warn that a model has no probabilities although its estimator has some, which ``why``."""
    warnings.warn(
        f"the model of {name_of(estimator)} has its labels and scores, but not its probabilities: they {why}",
        UserWarning,
        stacklevel=2,
    )


def convert(estimator: Any) -> SparseModel:
    """Return the model that decides as a fitted estimator does."""
    converter = entry_for(estimator, CONVERTERS.values())
    if converter is None:
        others = [entry for entry in CONVERTERS.values() if SparseEstimator not in entry.kinds]
        raise OptionError(
            f"{name_of(estimator)} cannot be converted; train a sparsegen method or one of: {names_of(others)}"
        )
    require_fitted(estimator)
    return converter.convert(estimator)


def value_model_of(machine: Any, vectors: Array, coef: Array, intercept: float, kernel: BoundKernel) -> SparseModel:
    """Return an expansion (m,) as a model that gives values, with a card that names the machine it comes from."""
    return SparseModel(
        vectors=vectors,
        coef=coef[None, None, :],
        intercept=np.array([intercept], dtype=np.float64),
        kernels=(kernel,),
        transform=Transform.identity(vectors.shape[1]),
        classes=(),
        task=REGRESSION,
        card=_card_of(machine),
        decision=VALUE,
    )


def _card_of(machine: Any) -> dict[str, Any]:
    return {
        "method": f"sklearn {name_of(machine)}",
        "parameters": parameters_of(machine),
        "sparsegen": __version__,
        "scikit-learn": sklearn.__version__,
    }


def model_of(
    machine: Any, vectors: Array, coef: Array, intercept: Array, kernel: BoundKernel, decision: str = LARGEST
) -> SparseModel:
    """Return an expansion as a model, with the classes of the machine it comes from and a card that names it."""
    return SparseModel(
        vectors=vectors,
        coef=coef,
        intercept=intercept,
        kernels=(kernel,),
        transform=Transform.identity(vectors.shape[1]),
        classes=model_labels(np.asarray(machine.classes_)),
        card=_card_of(machine),
        decision=decision,
    )
