"""One machine per class: a vector that several of them use is in the model once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier

from sparsegen.errors import OptionError
from sparsegen.methods.shared.estimator import model_labels
from sparsegen.model import SparseModel
from sparsegen.training.converters import (
    CONVERTERS,
    SHARES_OF_CLASSES,
    Converter,
    convert,
    warn_of_lost_probabilities,
)


def _one_vs_rest(machine: OneVsRestClassifier) -> SparseModel:
    if machine.multilabel_:
        raise OptionError("OneVsRestClassifier was fitted with several labels per row; give every row one class")
    parts = [convert(part) for part in machine.estimators_]
    first = parts[0]
    if any(not hasattr(estimator, "decision_function") for estimator in machine.estimators_):
        raise OptionError("the machines of OneVsRestClassifier are calibrated; calibrate OneVsRestClassifier instead")
    if len(parts) > 1 and first.calibration is not None:
        warn_of_lost_probabilities(machine, SHARES_OF_CLASSES)
    if any(part.n_outputs > 1 or _inputs(part) != _inputs(first) for part in parts):
        raise OptionError(
            "the machines of OneVsRestClassifier differ in kernel or scaling, so they cannot share their vectors; "
            "give them one kernel with a number for gamma, and scale in front of OneVsRestClassifier"
        )
    vectors, place = np.unique(np.vstack([part.vectors for part in parts]), axis=0, return_inverse=True)
    places = np.split(place.ravel(), np.cumsum([part.n_vectors for part in parts])[:-1])
    coef = np.zeros((len(parts), len(first.kernels), len(vectors)))
    for total, part, columns in zip(coef, parts, places, strict=True):
        np.add.at(total.T, columns, part.coef[0].T)
    return replace(
        first,
        vectors=vectors,
        coef=coef,
        intercept=np.concatenate([part.intercept for part in parts]),
        classes=model_labels(np.asarray(machine.classes_)),
        calibration=first.calibration if len(parts) == 1 else None,
        card={**first.card, "method": f"{first.card['method']}, one-vs-rest"},
    )


def _inputs(model: SparseModel) -> tuple[Any, ...]:
    """Return what machines must have in common to share their vectors."""
    T = model.transform
    optional = (np.empty(0) if array is None else array for array in (T.projection, T.fill))
    arrays = (T.offset, T.scale, *optional)
    return tuple((kernel.name, kernel.params) for kernel in model.kernels), tuple(a.tobytes() for a in arrays)


CONVERTERS.register("one-vs-rest")(Converter((OneVsRestClassifier,), _one_vs_rest))
