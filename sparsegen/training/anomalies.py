"""From rows of which some are known to be normal to a detector of anomalies: it learns from normal rows only.

Known anomalies test it: how many are detected, beside how many new normal rows are false alarms. Where there are enough
of them among the training rows, those choose gamma, and only the others test.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sparsegen import data, progress
from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.data.alike_rows import copied_rows
from sparsegen.data.normal import NORMAL, normal_label, part_of, require_normal_rows, told_apart
from sparsegen.errors import DataError, ModelError, OptionError, SparsegenError
from sparsegen.kernels import KERNELS
from sparsegen.methods import method_for
from sparsegen.methods.shared.detector import SparseDetector
from sparsegen.methods.shared.sklearn_private import InvalidParameterError
from sparsegen.model import SparseModel
from sparsegen.model.confusion import Confusion
from sparsegen.model.held_out import remember
from sparsegen.model.task import ANOMALY
from sparsegen.promised import Accuracy, worth
from sparsegen.threads import one_thread
from sparsegen.training.choose import AUTO, MAX_FOLDS, MAX_ROWS, Groups, SearchResult, gamma_values, quick_variant
from sparsegen.training.from_sklearn import from_sklearn
from sparsegen.training.report import some, test_accuracy, tested_card
from sparsegen.training.train import configured, data_card, joined, make_scaler, parameter_sentence

AREA = "auc"
ENOUGH_TO_CHOOSE = 10
"""Anomalies among the training rows from which on they choose gamma where nobody gives it."""
MIN_FOLDS = 2
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
    confusion: Confusion
    normal: Accuracy
    """How many of the normal test rows are called normal; the others are false alarms."""
    detected: Accuracy | None
    """How many of the anomalies are called so; ``None`` where none is known."""
    area: float | None
    """Under the curve of detections against false alarms, over all thresholds."""
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
    rows score above the anomalies of ``train_set``, and so it is where gamma is not given and there are ten of those.
    Otherwise they are no part of training and go to the test. ``final`` trains once more on all normal rows.
    """
    if not 0 <= seed < 2**32:
        raise OptionError(f"the seed must lie between 0 and {2**32 - 1}, but it is {seed}")
    if metric not in (None, AREA):
        raise OptionError(f"a detector of anomalies is chosen for {AREA}, the area under its curve, and not {metric}")
    given = dict(parameters or {})
    for name, reason in OF_CLASSES.items():
        if name in given:
            raise OptionError(reason, change={name: ""})
    family = cast("type[SparseDetector]", method_for(method, ANOMALY))
    estimator = configured(family, {**given, "random_state": seed})
    if test_set.X.shape[1] != train_set.X.shape[1]:
        raise DataError(
            f"{test_set.source} has {test_set.X.shape[1]} features, {train_set.source} has {train_set.X.shape[1]}"
        )
    label = normal_label(joined(train_set, test_set), normal)
    known, tested_on = told_apart(train_set, label), told_apart(test_set, label)
    require_normal_rows(known, getattr(estimator, "n_vectors", None))
    usual, others = part_of(known, known.y == NORMAL), part_of(known, known.y != NORMAL)
    told = {"gamma" if name == KERNELS[estimator.kernel].scale_parameter else name for name in given}
    if "gamma" not in told and len(others.X) >= ENOUGH_TO_CHOOSE and _folds(usual) is not None:
        estimator.set_params(gamma=AUTO)
    chooses = isinstance(estimator.gamma, str) and estimator.gamma == AUTO
    if not chooses:
        tested_on = _with_rows(tested_on, others)
    scaler = make_scaler(scale)
    started = time.perf_counter()
    with one_thread():
        model, found, complaints = _fit(estimator, scaler, usual, others if chooses else None, seed)
        fitted, trained = model, usual
        if final:
            trained = joined(usual, part_of(tested_on, tested_on.y == NORMAL))
            fitted, _, also = _fit(estimator, scaler, trained, None, seed)
            complaints += also
        seconds = time.perf_counter() - started
    confusion, is_normal, detected, area = measure(model, usual, tested_on)
    complaints = [*dict.fromkeys(complaints), *train_set.notes, *data.leaks(usual, tested_on)]
    if constant := data.constant_features(usual):
        complaints.append(
            f"features that never change in normal rows: {some(constant)}; a change in them alone is hardly noticed"
        )
    if detected is None:
        complaints.append("no anomaly is known, so how many would be detected was not tested; bring some for the test")
    searched = {} if found is None else {"search": found.as_json()}
    filled = {} if train_set.fill is None else {"fill": train_set.fill.tolist()}
    right = replace(test_accuracy(tested_on, sum(confusion.correct)), copies=copied_rows(usual, tested_on))
    alarms = {"anomalies": {"normal": label, "area": area, "nu": float(estimator.nu)}}
    about = {**tested_card(right, confusion), **alarms, **searched, **filled}
    held_out = {"held_out": remember(tested_on.X, usual.X)}
    tested = replace(model, card={**model.card, **about, **data_card(model, usual, scale), **held_out})
    made = tested
    if final:
        final_card = {**data_card(fitted, trained, scale), "final_rows": len(trained.X)}
        made = replace(fitted, card={**fitted.card, **about, **final_card})
    return AnomalyReport(
        made, tested, tested_on, confusion, is_normal, detected, area, len(usual.X), seconds, found, tuple(complaints)
    )


def measure(
    model: SparseModel, trained: Dataset, test_set: Dataset
) -> tuple[Confusion, Accuracy, Accuracy | None, float | None]:
    """Return counts by class, how many normal rows are called so, how many anomalies, and the area under the curve."""
    from sklearn.metrics import roc_auc_score

    scores = model.scores(test_set.X)[:, 0]
    truth = (test_set.y == NORMAL).astype(np.int64)
    if not truth.any():
        raise DataError(
            f"no test row of {test_set.source} is normal, so how many false alarms there are cannot be tested; bring "
            "normal rows that are not trained on"
        )
    given = (scores > 0.0).astype(np.int64)
    confusion = Confusion.count(truth, given, len(model.classes))
    copies = copied_rows(trained, part_of(test_set, truth == 1))
    usual = replace(_accuracy(test_set, given == truth, truth == 1), copies=copies)
    if truth.all():
        return confusion, usual, None, None
    return confusion, usual, _accuracy(test_set, given == truth, truth == 0), float(roc_auc_score(truth, scores))


def _accuracy(test_set: Dataset, right: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Accuracy:
    """Return how many of some rows are right; rows of one group are not independent."""
    correct, n = int(np.count_nonzero(right & rows)), int(np.count_nonzero(rows))
    if test_set.groups is None:
        return Accuracy(correct, n)
    sizes = np.unique(test_set.groups[rows], return_counts=True)[1].tolist()
    return Accuracy(correct, n, worth(sizes), len(sizes))


def _with_rows(test_set: Dataset, others: Dataset) -> Dataset:
    """Return the test rows and, behind them, others that were not trained on."""
    both = joined(test_set, others)
    places = None if test_set.rows is None or others.rows is None else np.append(test_set.rows, others.rows)
    return replace(both, rows=places, source=test_set.source)


def _fit(
    estimator: SparseDetector, scaler: Any, usual: Dataset, others: Dataset | None, seed: int
) -> tuple[SparseModel, SearchResult | None, list[str]]:
    """Return the model, the search for gamma, if ``others`` are there for one, and what training warned of."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline

    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rows = usual.X if scaler is None else scaler.fit_transform(usual.X)
            found = None
            if others is not None:
                found = _choose_gamma(
                    estimator, rows, others.X if scaler is None else scaler.transform(others.X), usual, seed
                )
            estimator.fit(rows)
            model = from_sklearn(estimator if scaler is None else make_pipeline(scaler, estimator))
    except InvalidParameterError as error:
        raise OptionError(parameter_sentence(str(error))) from None
    except (ArithmeticError, ValueError) as error:  # NumPy's and SciPy's words for numbers that grew out of range
        if isinstance(error, SparsegenError) and not isinstance(error, ModelError):
            raise
        raise OptionError(
            f"training broke down ({str(error).rstrip('.')}); bring gamma closer to 1, or scale the features"
        ) from error
    told = [str(warning.message) for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    return model, found, list(dict.fromkeys(told))


def _choose_gamma(estimator: SparseDetector, rows: Array, others: Array, usual: Dataset, seed: int) -> SearchResult:
    """Set gamma to the value whose machines, trained on folds, best keep the other folds above the anomalies."""
    from sklearn.metrics import roc_auc_score

    folds = _folds(usual)
    if folds is None or len(others) == 0:
        raise DataError(
            "choosing gamma by cross-validation needs anomalies among the training rows, and two groups of normal "
            "ones; bring some, or give a number in place of auto"
        )
    rng = np.random.default_rng(seed)
    kept = np.sort(rng.permutation(len(rows))[:MAX_ROWS])
    rows, groups = rows[kept], None if usual.groups is None else usual.groups[kept]
    others = others[np.sort(rng.permutation(len(others))[:MAX_ROWS])]
    splits = _splits(len(rows), groups, min(folds, MAX_FOLDS), seed)
    results = []
    values = gamma_values(rows)
    with progress.task("choosing gamma", len(values) * len(splits)) as advance:
        for gamma in values:
            scores, truth = [], []
            for train, test in splits:
                with progress.silence(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # about candidates, none about the result
                    trial = quick_variant(estimator, {"gamma": gamma}, len(train)).fit(rows[train])
                scores += [trial.decision_function(rows[test]), trial.decision_function(others)]
                truth += [np.ones(len(test)), np.zeros(len(others))]
                advance(f"gamma={gamma:g}")
            results.append(({"gamma": gamma}, float(roc_auc_score(np.concatenate(truth), np.concatenate(scores)))))
    chosen = max(results, key=lambda result: result[1])[0]
    estimator.set_params(**chosen)
    n_groups = None if groups is None else len(np.unique(groups))
    return SearchResult(chosen, tuple(results), len(rows) + len(others), len(splits), AREA, n_groups)


def _folds(usual: Dataset) -> int | None:
    """Return how many folds the normal rows allow; ``None`` for fewer than two."""
    n = len(usual.X) // 2 if usual.groups is None else len(np.unique(usual.groups))
    return n if n >= MIN_FOLDS else None


def _splits(n: int, groups: Groups | None, folds: int, seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    from sklearn.model_selection import GroupKFold, KFold

    if groups is None:
        return list(KFold(folds, shuffle=True, random_state=seed).split(np.empty(n)))
    return list(GroupKFold(min(folds, len(np.unique(groups)))).split(np.empty(n), groups=groups))
