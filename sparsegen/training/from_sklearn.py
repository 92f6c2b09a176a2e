"""From a fitted scikit-learn estimator to the SparseModel that decides the same.

Everything in front of the kernels that is affine is folded into the model's transform, so the model takes raw features.
One function per kind of estimator, filed in `CONVERTERS`; what may stand in front of one is in `transforms`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.kernels.linear import LINEAR
from sparsegen.methods.shared.estimator import SparseClassifier, model_labels
from sparsegen.methods.shared.sklearn_private import fitted_gamma
from sparsegen.model import Calibration, SparseModel, Transform
from sparsegen.training.transforms import entry_for, fold, is_passthrough, name_of, require_fitted
from sparsegen.version import __version__


def from_sklearn(estimator: Any) -> SparseModel:
    """Return the model that decides as a fitted estimator does, from raw features.

    Takes sparsegen's own estimators, two-class SVC and NuSVC, OneVsRestClassifier over them, linear classifiers,
    calibrated and grid-searched ones, and pipelines of scalers and PCA that end in one of these.
    """
    model = _convert(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return model
    return replace(model, card={**model.card, "feature_names": [str(name) for name in names]})


def _convert(estimator: Any) -> SparseModel:
    convert = entry_for(estimator, CONVERTERS)
    if convert is None:
        known = ", ".join(kind.__name__ for kind in CONVERTERS if kind is not SparseClassifier)
        raise OptionError(f"{name_of(estimator)} cannot be converted; train a sparsegen method or one of: {known}")
    require_fitted(estimator)
    return convert(estimator)


# ---- Classifiers -----------------------------------------------------------------------------------------------------


def _own(estimator: SparseClassifier) -> SparseModel:
    return estimator.model_


def _svc(machine: Any) -> SparseModel:
    if len(machine.classes_) > 2:
        raise OptionError(
            f"{name_of(machine)} with {len(machine.classes_)} classes decides by one-vs-one votes, which cost a device "
            "one machine per pair; use sparsegen.SVM or OneVsRestClassifier(SVC(...)) instead"
        )
    kernel = _svc_kernel(machine)
    if kernel.is_linear:
        return _linear(machine)
    vectors = _dense(machine.support_vectors_)
    coef = _dense(machine.dual_coef_)[:, None, :]
    return _model(machine, vectors, coef, machine.intercept_, kernel)


def _svc_kernel(machine: Any) -> BoundKernel:
    families = {family.libsvm_name: family for family in KERNELS.values() if family.libsvm_name is not None}
    family = families.get(machine.kernel) if isinstance(machine.kernel, str) else None
    if family is None:
        shown = repr(machine.kernel) if isinstance(machine.kernel, str) else "that is a Python function"
        known = ", ".join(sorted(families))
        raise OptionError(f"{name_of(machine)} has a kernel {shown}, which has no export; choose one of: {known}")
    values = {name: float(getattr(machine, name)) for name in ("coef0", "degree") if name in family.parameters}
    if family.scale_parameter is not None:
        values[family.scale_parameter] = _svc_gamma(machine)
    return family.bind(**values)


def _svc_gamma(machine: Any) -> float:
    """Return the number behind gamma; only the fit knows what ``"scale"`` came to."""
    known = fitted_gamma(machine)
    if known is not None:
        return known
    if machine.gamma == "auto":
        return 1.0 / int(machine.n_features_in_)
    if isinstance(machine.gamma, str):
        raise OptionError(
            f"{name_of(machine)} does not tell what gamma='scale' came to; fit it with a number for gamma"
        )
    return float(machine.gamma)


def _linear(machine: Any) -> SparseModel:
    vectors = _dense(machine.coef_)
    n_outputs = len(vectors)
    # intercept_ is a lone 0.0 where fit_intercept=False
    intercept = np.broadcast_to(np.asarray(machine.intercept_, dtype=np.float64), n_outputs)
    return _model(machine, vectors, np.eye(n_outputs)[:, None, :], intercept, LINEAR.bind())


def _one_vs_rest(machine: OneVsRestClassifier) -> SparseModel:
    """Return one model of all machines; a vector that several of them use is in it once."""
    if machine.multilabel_:
        raise OptionError("OneVsRestClassifier was fitted with several labels per row; give every row one class")
    parts = [_convert(part) for part in machine.estimators_]
    first = parts[0]
    if any(part.calibration is not None for part in parts):
        raise OptionError("the machines of OneVsRestClassifier are calibrated; calibrate OneVsRestClassifier instead")
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
        card={**first.card, "method": f"{first.card['method']}, one-vs-rest"},
    )


def _inputs(model: SparseModel) -> tuple[Any, ...]:
    """Return what machines must have in common to share their vectors."""
    T = model.transform
    arrays = (T.offset, T.scale, np.empty(0) if T.projection is None else T.projection)
    return tuple((kernel.name, kernel.params) for kernel in model.kernels), tuple(a.tobytes() for a in arrays)


def _search(search: Any) -> SparseModel:
    if not hasattr(search, "best_estimator_"):
        raise OptionError(f"{name_of(search)} kept no fitted estimator; search with refit=True")
    return _convert(search.best_estimator_)


def _frozen(frozen: FrozenEstimator) -> SparseModel:
    return _convert(frozen.estimator)


def _calibrated(calibrated: CalibratedClassifierCV) -> SparseModel:
    parts = calibrated.calibrated_classifiers_
    if len(parts) > 1:
        raise OptionError(f"CalibratedClassifierCV averages {len(parts)} classifiers; calibrate with ensemble=False")
    (part,) = parts
    model = _convert(part.estimator)
    if model.calibration is not None:
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


def _pipeline(pipeline: Pipeline) -> SparseModel:
    *front, (_, last) = pipeline.steps
    model = _convert(last)
    steps = [step for _, step in front if not is_passthrough(step)]
    transform = model.transform
    for step in reversed(steps):
        transform = fold(step, transform)
    folded = [name_of(step) for step in steps] + list(model.card.get("folded", []))
    return replace(model, transform=transform, card={**model.card, "folded": folded})


CONVERTERS: dict[type, Callable[[Any], SparseModel]] = {
    SparseClassifier: _own,
    SVC: _svc,
    NuSVC: _svc,
    OneVsRestClassifier: _one_vs_rest,
    LinearSVC: _linear,
    LogisticRegression: _linear,
    RidgeClassifier: _linear,
    RidgeClassifierCV: _linear,
    SGDClassifier: _linear,
    Perceptron: _linear,
    LinearDiscriminantAnalysis: _linear,
    Pipeline: _pipeline,
    GridSearchCV: _search,
    RandomizedSearchCV: _search,
    CalibratedClassifierCV: _calibrated,
    FrozenEstimator: _frozen,
}


# ---- Parts of a model ------------------------------------------------------------------------------------------------


def _model(machine: Any, vectors: Array, coef: Array, intercept: Array, kernel: BoundKernel) -> SparseModel:
    return SparseModel(
        vectors=vectors,
        coef=coef,
        intercept=intercept,
        kernels=(kernel,),
        transform=Transform.identity(vectors.shape[1]),
        classes=model_labels(np.asarray(machine.classes_)),
        card={
            "method": f"sklearn {name_of(machine)}",
            "parameters": {name: _plain(value) for name, value in sorted(machine.get_params(deep=False).items())},
            "sparsegen": __version__,
            "scikit-learn": sklearn.__version__,
        },
    )


def _dense(array: Any) -> Array:
    dense: NDArray[Any] = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
    return np.atleast_2d(np.asarray(dense, dtype=np.float64))


def _plain(value: Any) -> Any:
    """Return a parameter as plain JSON: what is no number, text, list or mapping becomes its type's name."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | None) else type(value).__name__
