"""Calibrated classifiers: a classifier, and how its scores become probabilities."""

from __future__ import annotations

from dataclasses import replace

from sklearn.calibration import CalibratedClassifierCV

from sparsegen.errors import OptionError
from sparsegen.model import Calibration, SparseModel
from sparsegen.training.converters import CONVERTERS, Converter, convert


def _calibrated(calibrated: CalibratedClassifierCV) -> SparseModel:
    parts = calibrated.calibrated_classifiers_
    if len(parts) > 1:
        raise OptionError(f"CalibratedClassifierCV averages {len(parts)} classifiers; calibrate with ensemble=False")
    (part,) = parts
    model = convert(part.estimator)
    if not hasattr(part.estimator, "decision_function"):  # its own probabilities would be calibrated, not its scores
        raise OptionError("CalibratedClassifierCV holds a classifier that is calibrated already; calibrate once")
    calibrator = part.calibrators[0]
    if part.method == "temperature":
        if model.n_outputs > 1:
            return replace(model, calibration=Calibration("temperature", float(calibrator.beta_)))
        return replace(model, calibration=Calibration("platt", 2.0 * float(calibrator.beta_)))  # logits (-s, s)
    if part.method != "sigmoid" or model.n_outputs > 1:
        raise OptionError(
            f"CalibratedClassifierCV with method={part.method!r} and {len(model.classes)} classes has no export; "
            "use method='sigmoid' for two classes, method='temperature' for more"
        )
    return _platt(model, -float(calibrator.a_), -float(calibrator.b_))  # p = 1 / (1 + exp(a s + b))


def _platt(model: SparseModel, slope: float, offset: float) -> SparseModel:
    """Return the model with its zero moved to where the probability is one half: scikit-learn decides there."""
    if slope == 0.0:
        raise OptionError("the calibration found no relation between score and class; train on more data")
    sign = 1.0 if slope > 0 else -1.0
    return replace(
        model,
        coef=sign * model.coef,
        intercept=sign * (model.intercept + offset / slope),
        calibration=Calibration("platt", abs(slope)),
    )


CONVERTERS.register("calibrated")(Converter((CalibratedClassifierCV,), _calibrated))
