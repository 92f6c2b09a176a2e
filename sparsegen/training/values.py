"""From rows whose labels are measurements to a regression: scale, choose parameters, train, test, write the card."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, cast

from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.data.alike_rows import copied_rows
from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods import method_for
from sparsegen.methods.shared.regressor import SparseRegressor
from sparsegen.model import SparseModel
from sparsegen.model.held_out import remember
from sparsegen.model.task import REGRESSION
from sparsegen.model.value_quality import ValueQuality, measure_values
from sparsegen.threads import one_thread
from sparsegen.training.choose import AUTO, SearchResult
from sparsegen.training.choose_values import require_metric, search_values
from sparsegen.training.from_sklearn import from_sklearn
from sparsegen.training.plain_folds import too_few
from sparsegen.training.report import some
from sparsegen.training.train import check_seed, configured, data_card, joined, make_scalers, training_errors

R2 = "r2"
OF_CLASSES = {
    "class_weight": "weights of classes mean nothing to a regression, which has no classes; leave them out",
    "probability": "a regression has no classes and so no probabilities of them; leave them out",
    "ratio": "a regression counts its vectors and knows no share of support vectors; give their number instead",
    "loss": "a regression has a loss of its own; give epsilon and delta, which shape it, instead",
}
"""What a classifier is told, and why a regression is not."""


@dataclass(frozen=True)
class ValueReport:
    """A trained regression and how training went."""

    model: SparseModel
    tested: SparseModel
    """The model that was tested; another than ``model`` where that was trained again on all rows."""
    result: ValueQuality
    """On the test rows."""
    train_rows: int
    seconds: float
    search: SearchResult | None
    warnings: tuple[str, ...]

    @property
    def test_rows(self) -> int:
        """Number of test rows."""
        return self.result.rows

    @property
    def is_final(self) -> bool:
        """Whether the model was trained again on all rows, test rows included."""
        return self.tested is not self.model


def train_values(
    train_set: Dataset,
    test_set: Dataset,
    *,
    method: str = "slmr",
    scale: str = "standard",
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
    metric: str | None = None,
    final: bool = False,
) -> ValueReport:
    """Return a regression trained on one set and tested on the other.

    ``parameters`` are the method's own; ``"auto"`` for ``gamma``, ``C`` or ``epsilon`` chooses by cross-validation,
    for ``metric``: ``r2`` or ``mae``; ``None`` is ``r2``. A method may ask for that by itself where gamma and C are not
    given (``searched``). ``final`` trains once more on all rows with the same parameters, after the test.
    """
    check_seed(seed)
    require_metric(metric or R2)
    given = dict(parameters or {})
    for name, reason in OF_CLASSES.items():
        if name in given:
            raise OptionError(reason, change={name: ""})
    estimator = configured(
        cast("type[SparseRegressor]", method_for(method, REGRESSION)), {**given, "random_state": seed}
    )
    _check_sets(train_set, test_set, getattr(estimator, "n_vectors", None))
    complaints = _ask_for_a_choice(estimator, given, train_set)
    scaler = next(iter(make_scalers(scale).values()))  # where it is for the search to say, the usual one
    started = time.perf_counter()
    with one_thread():
        model, found, told = _fit(estimator, scaler, train_set, seed, metric or R2)
        result = measure(model, train_set, test_set)
        fitted, trained = model, train_set
        if final:
            trained = joined(train_set, test_set)
            fitted, _, also = _fit(estimator, scaler, trained, seed, metric or R2)
            told += also
        seconds = time.perf_counter() - started
    complaints += [*dict.fromkeys(told), *train_set.notes, *data.leaks(train_set, test_set, has_classes=False)]
    if found is None and metric is not None:
        complaints.append(f"nothing was left to choose by cross-validation, so the metric {metric} chose nothing")
    if result.mean_mae is not None and result.mae >= result.mean_mae:
        complaints.append(
            "on the test rows the model is no better than the mean of the training rows; the features may say nothing "
            "about the values, or more rows or other parameters are needed"
        )
    if constant := data.constant_features(train_set):
        complaints.append(f"constant features carry no information: {some(constant)}; drop them for a smaller model")
    searched = {} if found is None else {"search": found.as_json()}
    filled = {} if train_set.fill is None else {"fill": train_set.fill.tolist()}
    about = {"values": result.as_json(), **searched, **filled}
    held_out = {"held_out": remember(test_set.X, train_set.X)}
    tested = replace(model, card={**model.card, **about, **data_card(model, train_set, scale), **held_out})
    made = tested
    if final:
        final_card = {**data_card(fitted, trained, scale), "final_rows": len(trained.X)}
        made = replace(fitted, card={**fitted.card, **about, **final_card})
    return ValueReport(made, tested, result, len(train_set.X), seconds, found, tuple(complaints))


def measure(model: SparseModel, train_set: Dataset, test_set: Dataset) -> ValueQuality:
    """Return how far a model's values are from the test rows', and how far the mean of the training rows is."""
    return measure_values(
        model.predict(test_set.X),
        data.targets(test_set),
        mean=float(data.targets(train_set).mean()),
        groups=test_set.groups,
        copies=copied_rows(train_set, test_set),
    )


def _ask_for_a_choice(estimator: SparseRegressor, given: dict[str, Any], train_set: Dataset) -> list[str]:
    """Let what the method searches by itself be chosen where it was not given; return why not, where it cannot be."""
    told = {"gamma" if name == KERNELS[estimator.kernel].scale_parameter else name for name in given}
    left = [name for name in estimator.searched if name not in told]
    if not left:
        return []
    lacking = too_few(len(train_set.y), train_set.groups)
    if lacking is None:
        estimator.set_params(**dict.fromkeys(left, AUTO))
        return []
    return [f"{' and '.join(left)} kept the default: cross-validation needs {lacking}"]


def _fit(
    estimator: SparseRegressor, scaler: Any, train_set: Dataset, seed: int, metric: str
) -> tuple[SparseModel, SearchResult | None, list[str]]:
    """Return the model, the search for its parameters, and what training warned of."""
    from sklearn.pipeline import make_pipeline

    y: Array = data.targets(train_set)
    with training_errors() as told:
        rows = train_set.X if scaler is None else scaler.fit_transform(train_set.X)
        found = search_values(estimator, rows, y, seed, groups=train_set.groups, metric=metric)
        estimator.fit(rows, y)
        model = from_sklearn(estimator if scaler is None else make_pipeline(scaler, estimator))
    return model, found, told


def _check_sets(train_set: Dataset, test_set: Dataset, n_vectors: object) -> None:
    """Raise an error where training on one set and testing on the other makes no sense."""
    if test_set.X.shape[1] != train_set.X.shape[1]:
        raise DataError(
            f"{test_set.source} has {test_set.X.shape[1]} features, {train_set.source} has {train_set.X.shape[1]}"
        )
    data.require_spread(train_set)
    data.targets(test_set)
    if isinstance(n_vectors, int):
        data.require_rows(train_set, n_vectors)
