"""From a data set to a model: scale, choose parameters, train, test, and write the card."""

from __future__ import annotations

import inspect
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.errors import DataError, ModelError, OptionError, SparsegenError, nearest
from sparsegen.kernels import KERNELS
from sparsegen.methods import classifier
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.methods.shared.sklearn_private import InvalidParameterError
from sparsegen.methods.shared.sparse_estimator import SparseEstimator
from sparsegen.model import SparseModel
from sparsegen.model.card import LARGEST
from sparsegen.model.held_out import remember
from sparsegen.threads import one_thread
from sparsegen.training import report
from sparsegen.training.choose import ACCURACY, AUTO, BALANCED, Scaling, SearchResult, require_metric, search, too_few
from sparsegen.training.from_sklearn import from_sklearn
from sparsegen.training.probabilities import probability_card
from sparsegen.training.rare_classes import few_row_warnings, weights_by_label
from sparsegen.training.report import TrainingReport, some

SCALERS = ("standard", "minmax", "none")
Kind = TypeVar("Kind", bound=SparseEstimator)
CHOSEN_SCALERS = ("standard", "minmax")


def train(
    train_set: Dataset,
    test_set: Dataset,
    *,
    method: str = "slmc",
    scale: str = AUTO,
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
    metric: str | None = None,
    final: bool = False,
) -> TrainingReport:
    """Return a model trained on one set and tested on the other.

    ``parameters`` are the method's own; ``"auto"`` for ``gamma`` or ``C`` chooses by cross-validation, with the rows of
    each group of ``train_set`` together. A method may ask for that by itself where they are not given (``searched``)
    and every class has two rows, or two groups. ``scale`` is one of ``SCALERS``; ``"auto"`` chooses ``standard`` or
    ``minmax`` together with gamma, and takes ``standard`` where gamma is not chosen. ``class_weight`` may name labels
    by their text. ``metric`` is what the choice is for: ``accuracy``, ``balanced`` accuracy or macro-averaged ``f1``;
    ``None`` is ``accuracy``, or ``balanced`` where classes have weights. ``final`` trains once more on all rows with
    the same parameters, after the test.
    """
    check_seed(seed)
    require_metric(metric or ACCURACY)
    estimator = make_estimator(method, {**(parameters or {}), "random_state": seed})
    estimator.set_params(class_weight=weights_by_label(estimator.class_weight, train_set.y))
    # Of machines that weigh classes, the most accurate one is often that which minds the weights least.
    chosen_for = metric or (ACCURACY if estimator.class_weight is None else BALANCED)
    complaints = []
    given = {"gamma" if name == KERNELS[estimator.kernel].scale_parameter else name for name in parameters or {}}
    if left := [name for name in estimator.searched if name not in given]:
        lacking = too_few(train_set.y, train_set.groups)
        if lacking is None:
            estimator.set_params(**dict.fromkeys(left, AUTO))
        elif train_set.groups is not None:
            complaints.append(f"{' and '.join(left)} kept the default: cross-validation needs {lacking}")
    scalers = make_scalers(scale)
    check_sets(train_set, test_set, getattr(estimator, "n_vectors", None))
    started = time.perf_counter()
    with one_thread():
        model, scale, found, told = _fit(estimator, scalers, train_set, seed, chosen_for)
        result, confusion = report.measure(model, train_set, test_set)
        fitted, trained = model, train_set
        if final:
            trained = joined(train_set, test_set)
            fitted, _, _, also = _fit(estimator, make_scalers(scale), trained, seed, chosen_for)
            told += also
        seconds = time.perf_counter() - started
    complaints += [*dict.fromkeys(told), *train_set.notes, *data.leaks(train_set, test_set)]
    if found is None and metric not in (None, ACCURACY):
        complaints.append(f"nothing was left to choose by cross-validation, so the metric {metric} chose nothing")
    if constant := data.constant_features(train_set):
        complaints.append(f"constant features carry no information: {some(constant)}; drop them for a smaller model")
    complaints += report.class_warnings(
        model.classes, confusion, chosen_for == BALANCED, estimator.class_weight is not None
    )
    complaints += few_row_warnings(train_set.y, test_set.y, estimator.class_weight)
    searched = {} if found is None else {"search": found.as_json()}
    filled = {} if train_set.fill is None else {"fill": train_set.fill.tolist()}
    probabilities = probability_card(model, train_set, test_set)
    about = {**report.tested_card(result, confusion), **probabilities, **searched, **filled}
    held_out = {"held_out": remember(test_set.X, train_set.X)}
    tested = replace(model, card={**model.card, **about, **data_card(model, train_set, scale), **held_out})
    made = tested
    if final:
        final_card = {**data_card(fitted, trained, scale), "final_rows": len(trained.X)}
        made = replace(fitted, card={**fitted.card, **about, **final_card})
    return TrainingReport(made, tested, result, confusion, len(train_set.X), seconds, found, tuple(complaints))


def data_card(model: SparseModel, trained: Dataset, scale: str) -> dict[str, Any]:
    """Return what a model's card tells of the rows it was trained on."""
    projected = None if model.transform.projection is None else _ranges(model.transform(trained.X))
    return {
        "data": {"source": trained.source, "sha256": trained.sha256, "rows": len(trained.X)},
        "scale": scale,
        "feature_names": list(trained.feature_names),
        "ranges": _ranges(trained.X),
    } | ({} if projected is None else {"projected_ranges": projected})


def joined(train_set: Dataset, test_set: Dataset) -> Dataset:
    """Return the rows of both sets, for the last training: what it learns from is tested no more."""
    X, y = (np.concatenate([getattr(part, name) for part in (train_set, test_set)]) for name in ("X", "y"))
    joined = data.from_arrays(X, y, train_set.feature_names, train_set.source)
    if train_set.groups is None or test_set.groups is None:
        return joined
    return replace(joined, groups=np.concatenate([train_set.groups, test_set.groups]))


def _ranges(rows: Array) -> dict[str, list[float]] | None:
    """Return the smallest and largest value of every column; ``None`` where a device could not read them."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    if max(high.max(), -low.min()) > LARGEST:
        return None
    return {"low": low.tolist(), "high": high.tolist()}


def make_estimator(method: str, parameters: dict[str, Any]) -> SparseClassifier:
    """Return a classification method's estimator; see ``configured``."""
    return configured(classifier(method), parameters)


def configured(family: type[Kind], parameters: dict[str, Any]) -> Kind:
    """Return a method's estimator; ``parameters`` are the method's and, by their own names, the kernel's."""
    method, known = family.method, list(inspect.signature(family).parameters)
    own = {name: value for name, value in parameters.items() if name in known}
    others = {name: value for name, value in parameters.items() if name not in known}
    if others:
        kernel = KERNELS[str(own.get("kernel", family().kernel))]
        unknown = next((name for name in others if name not in kernel.parameters), None)
        if unknown is not None:
            names = [*known, *(name for name in kernel.parameters if name not in known)]
            raise OptionError(
                f"method {method!r} has no parameter {unknown!r}{nearest(unknown, names)}; it has: {', '.join(names)}"
            )
        if kernel.scale_parameter in others:
            if "gamma" in own:
                raise OptionError(f"gamma and {kernel.scale_parameter} are one parameter here; give one of them")
            own["gamma"] = others.pop(kernel.scale_parameter)
        if others:
            own["kernel_params"] = {**(own.get("kernel_params") or {}), **others}
    return family(**own)


def _fit(
    estimator: SparseClassifier, scalers: dict[str, Any], train_set: Dataset, seed: int, metric: str
) -> tuple[SparseModel, str, SearchResult | None, list[str]]:
    """Return the model, how its features were scaled, the search for its parameters, and what training warned of."""
    from sklearn.pipeline import make_pipeline

    with training_errors() as told:
        scalings = {name: _fitted(scaler, train_set.X) for name, scaler in scalers.items()}
        X, y = train_set.X, train_set.y
        found = search(estimator, X, y, seed, groups=train_set.groups, metric=metric, scalings=scalings)
        scale = chosen_scale(found, scalers)
        scaler, rows = scalers[scale], scalings[scale](X)
        together = {"groups": train_set.groups} if getattr(estimator, "probability", False) else {}
        estimator.fit(rows, y, **together)
        model = from_sklearn(estimator if scaler is None else make_pipeline(scaler, estimator))
    return model, scale, found, told


def chosen_scale(found: SearchResult | None, scalers: dict[str, Any]) -> str:
    """Return the name of the scaler that a search chose, or of the first where it chose none."""
    first = next(iter(scalers))
    return first if found is None else str(found.chosen.get("scale", first))


def check_seed(seed: int) -> None:
    """Raise an error for what is no seed of a random draw."""
    if not 0 <= seed < 2**32:
        raise OptionError(f"the seed must lie between 0 and {2**32 - 1}, but it is {seed}")


@contextmanager
def training_errors(parameters: str = "gamma and C") -> Iterator[list[str]]:
    """Turn what breaks inside into sentences; the list is of what training warned of, once it is over.

    ``parameters`` are those that may be too far from 1.
    """
    from sklearn.exceptions import ConvergenceWarning

    told: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield told
    except InvalidParameterError as error:
        raise OptionError(parameter_sentence(str(error))) from None
    except (ArithmeticError, ValueError) as error:  # NumPy's and SciPy's words for numbers that grew out of range
        if isinstance(error, SparsegenError) and not isinstance(error, ModelError):
            raise
        raise OptionError(
            f"training broke down ({str(error).rstrip('.')}); bring {parameters} closer to 1, or scale the features"
        ) from error
    # Overflow on the way (RuntimeWarning) is no news to the user where the model came out finite.
    unsolved = [warning for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    told += dict.fromkeys(str(warning.message) for warning in unsolved)


def parameter_sentence(text: str) -> str:
    """Return scikit-learn's complaint about a parameter as one sentence without its types and sets."""
    match = re.fullmatch(r"The '(\w+)' parameter of \w+ must be (.+)\. Got (.+) instead\.", text, re.DOTALL)
    if match is None:
        return " ".join(text.split())
    name, allowed, value = match.groups()
    allowed = re.sub(r"an? (?:str|\w+) among \{(.*?)\}", lambda m: " or ".join(sorted(m[1].split(", "))), allowed)
    allowed = re.sub(r"(an int|a float) in the range ([\[(])(\S+), (\S+)([\])])", _range_words, allowed)
    allowed = allowed.replace("an instance of 'str'", "a name").replace("an instance of 'dict'", "a mapping")
    allowed = allowed.replace(" or None", "")
    return f"{name} is {' '.join(value.split())[:60]}, but must be {allowed}"


def _range_words(match: re.Match[str]) -> str:
    kind, opening, low, high, closing = match.groups()
    limits = [f"{'>=' if opening == '[' else '>'} {float(low):g}"] if low != "-inf" else []
    limits += [f"{'<=' if closing == ']' else '<'} {float(high):g}"] if high != "inf" else []
    return f"a {'whole' if kind == 'an int' else 'finite'} number {' and '.join(limits)}".rstrip()


def check_sets(train_set: Dataset, test_set: Dataset, n_vectors: object) -> None:
    """Raise an error where training on one set and testing on the other makes no sense."""
    if test_set.X.shape[1] != train_set.X.shape[1]:
        raise DataError(
            f"{test_set.source} has {test_set.X.shape[1]} features, {train_set.source} has {train_set.X.shape[1]}"
        )
    seen = set(train_set.y.tolist())
    unseen = [repr(label) for label in dict.fromkeys(test_set.y.tolist()) if label not in seen]
    if unseen:
        if len(seen) > 1:
            data.require_classes(train_set)  # of measurements nearly every one is new, which is no news
        told = f"the test rows of {test_set.source} have labels that no training row has: {some(unseen)}; "
        if test_set.rows is None:
            raise DataError(f"{told}add such rows to the training data or remove them from the test")
        kind = "rows" if test_set.groups is None else "groups"
        values, regress = "", {}
        if data.may_be_measurements(train_set):
            values, regress = ", or train a regression if they are measurements", {"task": "regress"}
        raise DataError(
            f"{told}a class needs {kind} for both, so bring more {kind} of them, remove them, or choose another label "
            f"column if these are no classes{values}",
            change={"label": "", **regress},
        )
    data.require_classes(train_set)
    if isinstance(n_vectors, int):
        data.require_rows(train_set, n_vectors)


def make_scalers(scale: str) -> dict[str, Any]:
    """Return the scalers to choose from, the one to take where there is no choice first."""
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    if scale not in (AUTO, *SCALERS):
        known = AUTO, *SCALERS
        raise OptionError(f"scale {scale!r} is unknown{nearest(scale, known)}; choose one of: {', '.join(known)}")
    named = {"standard": StandardScaler(), "minmax": MinMaxScaler(), "none": None}
    return {name: named[name] for name in (CHOSEN_SCALERS if scale == AUTO else (scale,))}


def make_scaler(scale: str) -> Any:
    """Return the scikit-learn scaler of a name, or ``None`` for none."""
    return make_scalers(scale)[scale]


def _fitted(scaler: Any, X: Array) -> Scaling:
    """Return what scales rows as these rows need it."""
    return np.asarray if scaler is None else scaler.fit(X).transform
