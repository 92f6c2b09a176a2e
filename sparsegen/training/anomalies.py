"""From rows of which some are known to be normal to a detector of anomalies: it learns from normal rows only.

Known anomalies test it: how many are detected, beside how many new normal rows are false alarms. Where there are enough
of them, those among the training rows choose gamma, and only the others test.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sparsegen import data
from sparsegen.data import Dataset
from sparsegen.data.alike_rows import copied_rows
from sparsegen.data.checks import listed
from sparsegen.data.normal import ANOMALY as ANOMALOUS
from sparsegen.data.normal import NORMAL, normal_label, part_of, require_normal_rows, told_apart
from sparsegen.errors import DataError, OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods import method_for
from sparsegen.methods.shared.detector import SparseDetector
from sparsegen.model import SparseModel
from sparsegen.model.confusion import Confusion
from sparsegen.model.detector_quality import DetectorQuality
from sparsegen.model.held_out import remember
from sparsegen.model.task import ANOMALY
from sparsegen.promised import Accuracy, percent, worth
from sparsegen.threads import one_thread
from sparsegen.training.choose import AUTO, SearchResult, searched
from sparsegen.training.choose_gamma import AREA, choose_gamma
from sparsegen.training.from_sklearn import from_sklearn
from sparsegen.training.plain_folds import too_few
from sparsegen.training.report import some, test_accuracy, tested_card
from sparsegen.training.train import check_seed, configured, data_card, joined, make_scalers, training_errors

ENOUGH_TO_CHOOSE = 10
"""Anomalies among the training rows, and as many others, from which on they choose gamma where nobody gives it."""
FAR = 2.0
"""How many times nu the false alarms must surely be before it is told."""
OF_CLASSES = {
    "class_weight": "a detector learns from normal rows only, which are of one class; leave weights of classes out",
    "probability": "a detector has a score and no probabilities; leave them out",
    "ratio": "a detector counts its vectors and knows no share of support vectors; give their number instead",
    "C": "a detector is told by nu how many rows may lie outside, and has no C; give nu instead",
    "loss": "a detector has a loss of its own; leave the loss out",
    "projection": "a detector learns no projection: nothing tells it which directions matter; leave it out",
}
"""What a classifier is told, and why a detector is not."""


@dataclass(frozen=True)
class AnomalyReport:
    """A trained detector and how training went."""

    model: SparseModel
    tested: SparseModel
    """The model that was tested; another than ``model`` where that was trained again on all normal rows."""
    test_set: Dataset
    """The rows of the test, labelled ``normal`` and ``anomaly``."""
    result: DetectorQuality
    """On the test rows."""
    train_rows: int
    seconds: float
    search: SearchResult | None
    warnings: tuple[str, ...]

    @property
    def test_rows(self) -> int:
        """Number of test rows."""
        return len(self.test_set.y)

    @property
    def is_final(self) -> bool:
        """Whether the model was trained again on all normal rows, test rows included."""
        return self.tested is not self.model


def train_anomalies(
    train_set: Dataset,
    test_set: Dataset,
    *,
    method: str = "slmo",
    scale: str = "standard",
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
    metric: str | None = None,
    final: bool = False,
    normal: str | None = None,
) -> AnomalyReport:
    """Return a detector trained on the normal rows of one set and tested on the other.

    ``normal`` is the label of normal rows, as text; where it is not given, it is ``normal``, 1 of labels 1 and -1, or
    the only label. ``parameters`` are the method's own; ``gamma="auto"`` is chosen by cross-validation so that normal
    rows score above the anomalies of ``train_set``, and so it is where gamma is not given and both sets have ten of
    them. Otherwise they are no part of training and go to the test, but for those of a group that has normal training
    rows. ``final`` trains once more on all normal rows.
    """
    check_seed(seed)
    if metric not in (None, AREA):
        raise OptionError(f"a detector of anomalies is chosen for {AREA}, the area under its curve, and not {metric!r}")
    given = dict(parameters or {})
    for name, reason in OF_CLASSES.items():
        if name in given:
            raise OptionError(reason, change={name: ""})
    family = cast("type[SparseDetector]", method_for(method, ANOMALY))
    estimator = configured(family, {**given, "random_state": seed})
    scale, scaler = next(iter(make_scalers(scale).items()))  # where it is to be chosen, the usual one
    label, known, tested_on = _told_apart(train_set, test_set, normal)
    require_normal_rows(known, getattr(estimator, "n_vectors", None))
    usual, others = part_of(known, known.y == NORMAL), _anomalies(known)
    told = {"gamma" if name == KERNELS[estimator.kernel].scale_parameter else name for name in given}
    n_chosen, n_tested = (0 if part is None else int((part.y == ANOMALOUS).sum()) for part in (others, tested_on))
    enough = min(n_chosen, n_tested) >= ENOUGH_TO_CHOOSE and too_few(len(usual.X), usual.groups) is None
    if "gamma" not in told and enough:
        estimator.set_params(gamma=AUTO)
    chooses = bool(searched(estimator, ("gamma",)))
    if not chooses and others is not None:
        tested_on = _with_rows(tested_on, _of_other_groups(others, usual))
    started = time.perf_counter()
    with one_thread():
        model, found, complaints = _fit(estimator, scaler, usual, others, seed)
        fitted, trained = model, usual
        if final:
            trained = joined(usual, part_of(tested_on, tested_on.y == NORMAL))
            fitted, _, also = _fit(estimator, scaler, trained, None, seed)
            complaints += also
        seconds = time.perf_counter() - started
    result, confusion = measure(model, usual, tested_on)
    complaints = [*dict.fromkeys(complaints), *train_set.notes, *data.leaks(usual, tested_on)]
    complaints += _warnings(result, float(estimator.nu), usual)
    if metric is not None and found is None:
        complaints.append(f"nothing was left to choose by cross-validation, so the metric {metric} chose nothing")
    chosen = {} if found is None else {"search": found.as_json()}
    filled = {} if train_set.fill is None else {"fill": train_set.fill.tolist()}
    right = replace(test_accuracy(tested_on, sum(confusion.correct)), copies=copied_rows(usual, tested_on))
    alarms = {"anomalies": {"normal": label, "nu": float(estimator.nu), **result.as_json()}}
    about = {**tested_card(right, confusion), **alarms, **chosen, **filled}
    held_out = {"held_out": remember(tested_on.X, usual.X)}
    tested = replace(model, card={**model.card, **about, **data_card(model, usual, scale), **held_out})
    made = tested
    if final:
        final_card = {**data_card(fitted, trained, scale), "final_rows": len(trained.X)}
        made = replace(fitted, card={**fitted.card, **about, **final_card})
    return AnomalyReport(made, tested, tested_on, result, len(usual.X), seconds, found, tuple(complaints))


def measure(model: SparseModel, trained: Dataset, test_set: Dataset) -> tuple[DetectorQuality, Confusion]:
    """Return false alarms and detections on rows labelled ``normal`` and ``anomaly``, and their counts by class."""
    from sklearn.metrics import roc_auc_score

    scores = model.scores(test_set.X)[:, 0]
    is_normal, called_normal = test_set.y == NORMAL, scores > 0.0
    confusion = Confusion.count(is_normal.astype(np.int64), called_normal.astype(np.int64), len(model.classes))
    copies = copied_rows(trained, part_of(test_set, is_normal))
    alarms = replace(_share(test_set, ~called_normal, is_normal), copies=copies)
    if is_normal.all():
        return DetectorQuality(alarms, None), confusion
    area = float(roc_auc_score(is_normal, scores))
    return DetectorQuality(alarms, _share(test_set, ~called_normal, ~is_normal), area), confusion


def _told_apart(train_set: Dataset, test_set: Dataset, normal: str | None) -> tuple[str, Dataset, Dataset]:
    """Return the label of normal rows, and both sets labelled ``normal`` and ``anomaly``."""
    if test_set.X.shape[1] != train_set.X.shape[1]:
        raise DataError(
            f"{test_set.source} has {test_set.X.shape[1]} features, {train_set.source} has {train_set.X.shape[1]}"
        )
    is_one_file = train_set.rows is not None and test_set.rows is not None and train_set.source == test_set.source
    labels = np.concatenate([train_set.y, test_set.y]) if is_one_file else train_set.y
    label = normal_label(labels, train_set.source, normal)
    tested = told_apart(test_set, label)
    if not (tested.y == NORMAL).any():
        raise DataError(
            f"no test row of {test_set.source} has the label {label!r} of normal rows, so how many false alarms there "
            f"are cannot be tested; its labels are {listed([str(found) for found in np.unique(test_set.y).tolist()])}",
            change={"normal": "LABEL"},
        )
    return label, told_apart(train_set, label), tested


def _warnings(result: DetectorQuality, nu: float, usual: Dataset) -> list[str]:
    """Return what a user should know of a detector's test, and of what it learned from."""
    told = []
    if result.alarms is not None and (least := result.alarms.interval[0]) > FAR * nu:
        told.append(
            f"false alarms on new normal rows are surely more (above {percent(least)}, if they are "
            f"independent) than the {nu:g} that nu aims at, as where normal rows are few or of another recording; "
            "bring more of them, or lower gamma"
        )
    if constant := data.constant_features(usual):
        told.append(
            f"features that never change in normal rows: {some(constant)}; nothing tells how much a change in them "
            "means, so bring rows in which they vary, or drop them"
        )
    if result.detections is None:
        told.append("no anomaly is known, so how many are detected was not tested; bring some for the test")
    elif result.area is not None and result.area <= 0.5:
        told.append("known anomalies score no lower than normal rows do; the features may not tell them")
    return told


def _share(test_set: Dataset, counted: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Accuracy:
    """Return how many of some rows are counted; rows of one group are not independent."""
    n_counted, n = int(np.count_nonzero(counted & rows)), int(np.count_nonzero(rows))
    if test_set.groups is None:
        return Accuracy(n_counted, n)
    sizes = np.unique(test_set.groups[rows], return_counts=True)[1].tolist()
    return Accuracy(n_counted, n, worth(sizes), len(sizes))


def _anomalies(rows: Dataset) -> Dataset | None:
    """Return the anomalies, if there are any."""
    is_anomaly = rows.y == ANOMALOUS
    return part_of(rows, is_anomaly) if is_anomaly.any() else None


def _of_other_groups(others: Dataset, usual: Dataset) -> Dataset | None:
    """Return the anomalies of groups that nothing was trained on."""
    if others.groups is None or usual.groups is None:
        return others
    is_new = ~np.isin(others.groups, usual.groups)
    return part_of(others, is_new) if is_new.any() else None


def _with_rows(test_set: Dataset, others: Dataset | None) -> Dataset:
    """Return the test rows and, behind them, others that were not trained on."""
    if others is None:
        return test_set
    both = joined(test_set, others)
    places = None if test_set.rows is None or others.rows is None else np.append(test_set.rows, others.rows)
    return replace(both, rows=places, source=test_set.source)


def _fit(
    estimator: SparseDetector, scaler: Any, usual: Dataset, others: Dataset | None, seed: int
) -> tuple[SparseModel, SearchResult | None, list[str]]:
    """Return the model, the search for gamma where that is to be chosen, and what training warned of."""
    from sklearn.pipeline import make_pipeline

    with training_errors("gamma") as told:
        rows = usual.X if scaler is None else scaler.fit_transform(usual.X)
        found = None
        if searched(estimator, ("gamma",)):
            known = np.empty((0, rows.shape[1])) if others is None else others.X
            if scaler is not None and len(known):
                known = scaler.transform(known)
            found = choose_gamma(estimator, rows, known, seed, groups=usual.groups)
        estimator.fit(rows)
        model = from_sklearn(estimator if scaler is None else make_pipeline(scaler, estimator))
    return model, found, told
