"""Calibrated classifiers: a classifier, and how its scores become probabilities."""

from __future__ import annotations

from dataclasses import replace

from sklearn.calibration import CalibratedClassifierCV

from sparsegen.errors import OptionError
from sparsegen.methods.shared.probability import with_zero_at_one_half
from sparsegen.model import LARGEST, Calibration, SparseModel
from sparsegen.training.converters import CONVERTERS, Converter, convert


def _calibrated(calibrated: CalibratedClassifierCV) -> SparseModel:
    parts = calibrated.calibrated_classifiers_
    if len(parts) > 1:
        raise OptionError(f"CalibratedClassifierCV averages {len(parts)} classifiers; calibrate with ensemble=False")
    (part,) = parts
    model = convert(part.estimator)
    if not hasattr(part.estimator, "decision_function"):  # its own probabilities would be calibrated, not its scores
        raise OptionError("CalibratedClassifierCV holds a classifier that is calibrated already; calibrate once")
    if model.decision != LARGEST:
        raise OptionError(
            "CalibratedClassifierCV holds a machine whose pairs of classes vote, and votes have no probabilities; "
            "calibrate OneVsRestClassifier of it"
        )
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
    if calibrator.a_ == 0.0:
        raise OptionError("the calibration found no relation between score and class; train on more data")
    return with_zero_at_one_half(model, -float(calibrator.a_), -float(calibrator.b_))  # p = 1 / (1 + exp(a s + b))


CONVERTERS.register("calibrated")(Converter((CalibratedClassifierCV,), _calibrated))
