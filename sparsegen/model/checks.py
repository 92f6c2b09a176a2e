"""The checks that a SparseModel passes when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sparsegen.arrays import Array
from sparsegen.errors import ModelError, OptionError
from sparsegen.model.card import is_finite_number
from sparsegen.model.decision import DECISIONS, LARGEST
from sparsegen.model.task import TASKS

if TYPE_CHECKING:
    from sparsegen.model.sparse_model import Label, SparseModel

CALIBRATIONS = ("platt", "temperature")
MAX_LABEL_LENGTH = 200


def frozen_numbers(name: str, array: ArrayLike) -> Array:
    """Return a read-only float64 copy of an array of finite numbers."""
    source = np.asarray(array)
    if source.dtype.kind not in "fiu":
        raise ModelError(f"{name} holds {source.dtype} values, but must hold numbers")
    values = np.array(source, dtype=np.float64, order="C")
    if not np.isfinite(values).all():
        raise ModelError(f"{name} holds NaN or infinite values")
    values.setflags(write=False)
    return values


def check_shapes(model: SparseModel) -> None:
    """Raise an error where the shapes of the arrays do not go together, or the task is unknown."""
    T = model.transform
    if not isinstance(model.task, str) or model.task not in TASKS:
        raise ModelError(f"task {model.task!r:.40} is unknown; it must be one of {', '.join(TASKS)}")
    if model.decision not in DECISIONS:
        known = ", ".join(DECISIONS)
        raise ModelError(f"decision {model.decision!r:.40} is unknown; it must be one of {known}")
    TASKS[model.task].check(model.classes, model.decision)
    m, n_outputs = len(np.atleast_1d(model.vectors)), len(np.atleast_1d(model.intercept))
    expected = {
        "vectors": (model.vectors, (m, T.n_projected)),
        "coef": (model.coef, (n_outputs, len(model.kernels), m)),
        "intercept": (model.intercept, (DECISIONS[model.decision].n_outputs(len(model.classes)),)),
        "offset": (T.offset, (T.offset.size,)),
        "scale": (T.scale, (T.offset.size,)),
    }
    if T.projection is not None:
        expected["projection"] = (T.projection, (len(np.atleast_1d(T.projection)), T.offset.size))
    if T.fill is not None:
        expected["fill"] = (T.fill, (T.offset.size,))
    for name, (array, shape) in expected.items():
        if array.shape != shape or 0 in shape:
            raise ModelError(f"{name} has shape {array.shape}, but {shape} is needed (and none of it may be 0)")


def check_classes(classes: tuple[Label, ...], task: str) -> None:
    """Raise an error unless the labels are distinct, of one type, and can be printed."""
    if not TASKS[task].has_classes:
        return  # TASKS[task].check has seen that none are named
    if len(classes) < 2:
        raise ModelError("a classifier needs at least two classes")
    if not (all(type(c) is int for c in classes) or all(type(c) is str for c in classes)):
        raise ModelError("class labels must be all integers or all strings")
    if len(set(classes)) != len(classes):
        raise ModelError("class labels must differ from each other")
    for c in classes:
        if isinstance(c, str) and (not 0 < len(c) <= MAX_LABEL_LENGTH or not c.isprintable()):
            raise ModelError(f"label {c[:40]!r} must be 1 to {MAX_LABEL_LENGTH} printable characters")
        if isinstance(c, int) and not -(2**63) <= c < 2**63:
            raise ModelError("class labels must fit in 64 bits")


def check_calibration(model: SparseModel) -> None:
    """Raise an error where the calibration does not suit the number of classes or is not finite."""
    calibration = model.calibration
    if calibration is None:
        return
    if model.decision != LARGEST:
        raise ModelError(f"a model that decides by {model.decision} has no probabilities, so it takes no calibration")
    if calibration.kind not in CALIBRATIONS or (calibration.kind == "platt") != (model.n_outputs == 1):
        raise ModelError(f"calibration {calibration.kind!r:.40} does not suit {len(model.classes)} classes")
    if not all(is_finite_number(v) for v in (calibration.slope, calibration.offset)):
        raise ModelError("calibration holds values that are not finite numbers")
    if calibration.slope <= 0:
        raise ModelError("calibration makes classes less probable as their score grows; its slope must be positive")


def check_confidence(confidence: float) -> None:
    """Raise an error unless a class can be asked to be this probable."""
    if not 0.0 < confidence <= 1.0:
        raise OptionError(
            f"the confidence below which no class is given must lie above 0 and be at most 1, but it is {confidence:g}"
        )
