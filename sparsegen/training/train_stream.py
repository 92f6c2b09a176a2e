"""Training on a file that is larger than memory: the steps of :mod:`.train`, with a block of rows in memory at a time.

Three passes over the file: labels, then ranges and the few rows that are kept, then the scaled rows, which go to a
temporary file as float32. Training reads that: in random order for minibatches, and by blocks for the exact solve.
gamma and C are chosen on a sample, as they are in memory.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import data
from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.data.checks import has_names
from sparsegen.data.columns import Column
from sparsegen.data.data_file import TEST_SIZE
from sparsegen.data.labelled_parts import CodedRows
from sparsegen.data.streams import Stream
from sparsegen.data.streams.draw import Drawn, draw, held_out_rows
from sparsegen.data.streams.scan import Scanned, scan, write
from sparsegen.data.streams.scratch import Scratch
from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.methods.shared.estimator import SparseClassifier
from sparsegen.methods.shared.fit_in_parts import train_in_parts
from sparsegen.model import SparseModel
from sparsegen.model.card import LARGEST
from sparsegen.model.held_out import remembered, row_hashes
from sparsegen.model.transform import Transform
from sparsegen.threads import one_thread
from sparsegen.training import report
from sparsegen.training.choose import ACCURACY, AUTO, BALANCED, SearchResult, require_metric, search, too_few
from sparsegen.training.from_sklearn import from_sklearn
from sparsegen.training.rare_classes import few_counted, weights_by_label
from sparsegen.training.report import TrainingReport, some
from sparsegen.training.train import check_sets, chosen_scale, make_estimator, make_scalers, training_errors

SAMPLE_ROWS = 20_000
MOST_TEST_ROWS = 50_000
KEPT_BYTES = 1 << 26
"""Of the doubles of the sample, and of the test rows, where rows are wide."""
MIN_KEPT_ROWS = 1000


@dataclass(frozen=True, eq=False)
class _Rows:
    """The scaled training rows, and what else is known of the file."""

    scratch: Scratch
    scaler: Any
    drawn: Drawn
    scanned: Scanned

    def scaled(self, X: Array) -> Array:
        """Return rows as training sees them."""
        return X if self.scaler is None else np.asarray(self.scaler.transform(X))


def train_stream(
    stream: Stream,
    test_set: Dataset | None = None,
    *,
    method: str = "slmc",
    scale: str = AUTO,
    test_size: float = TEST_SIZE,
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
    metric: str | None = None,
    final: bool = False,
) -> tuple[TrainingReport, Dataset]:
    """Return a model trained on a stream, and the rows it was tested on: some that were held out, or a test set.

    About ``MOST_TEST_ROWS`` are held out at most. The parameters are those of `train`.
    """
    if not 0 <= seed < 2**32:
        raise OptionError(f"the seed must lie between 0 and {2**32 - 1}, but it is {seed}")
    require_metric(metric or ACCURACY)
    estimator = make_estimator(method, {**(parameters or {}), "random_state": seed})
    if getattr(estimator, "probability", False):
        raise OptionError(
            "probabilities need fits on folds of the rows in memory; train without them, or on a sample of the rows"
        )
    if type(estimator)._train_in_parts is SparseClassifier._train_in_parts:
        raise OptionError(f"method {method!r} cannot train on a file by blocks: {estimator.needs_all_rows}")
    scalers = make_scalers(scale)
    room = max(MIN_KEPT_ROWS, KEPT_BYTES // (8 * len(stream.feature_names)))
    n_test = 0 if test_set is not None else held_out_rows(stream.n_rows, test_size, min(room, MOST_TEST_ROWS))
    started = time.perf_counter()
    with one_thread():
        drawn = draw(stream, test_rows=n_test, sample_rows=min(room, SAMPLE_ROWS), seed=seed)
        scanned = scan(stream, drawn, scalers.values())
        tested_on = scanned.test if test_set is None else test_set
        if tested_on is None:
            raise AssertionError("a share of the rows is at least one row")
        check_sets(scanned.sample, tested_on, None)
        found, chosen_for, told = _choose(estimator, scalers, scanned.sample, parameters or {}, metric, seed)
        scale = chosen_scale(found, scalers)
        with Scratch(len(stream.feature_names), stream.n_rows) as scratch:
            rows = _Rows(scratch, scalers[scale], drawn, scanned)
            hashes, copies = write(stream, drawn, scratch, rows.scaled, tested_on, row_hashes)
            trained = scratch.n_rows
            model, also = _fit(estimator, rows)
            result, confusion = report.measure(model, scanned.sample, tested_on)
            result = replace(result, copies=0 if _must_repeat(scanned.sample, trained) else copies)
            told += also
            about = report.tested_card(result, confusion) | ({} if found is None else {"search": found.as_json()})
            facts = _data_card(estimator.model_, rows, stream, scale) | {"held_out": remembered(hashes)}
            made = tested = replace(model, card={**model.card, **about, **facts})
            if final:
                scratch.append(np.asarray(rows.scaled(tested_on.X), np.float32), drawn.coded(tested_on.y))
                fitted, also = _fit(estimator, rows)
                told += also
                final_card = {
                    **_data_card(estimator.model_, rows, stream, scale, tested_on),
                    "final_rows": scratch.n_rows,
                }
                made = replace(fitted, card={**fitted.card, **about, **final_card})
    seconds = time.perf_counter() - started
    told += data.leaks(scanned.sample, tested_on)
    if found is None and metric not in (None, ACCURACY):
        told.append(f"nothing was left to choose by cross-validation, so the metric {metric} chose nothing")
    if constant := [n for n, a, b in zip(stream.feature_names, scanned.low, scanned.high, strict=True) if a == b]:
        told.append(f"constant features carry no information: {some(constant)}; drop them for a smaller model")
    is_weighed = estimator.class_weight is not None
    told += report.class_warnings(model.classes, confusion, chosen_for == BALANCED, is_weighed)
    of_class = drawn.of_class - (0 if test_set is not None else _counts(drawn, tested_on))
    told += few_counted(drawn.classes, of_class, tested_on.y, estimator.class_weight)
    told = list(dict.fromkeys(told))
    return TrainingReport(made, tested, result, confusion, trained, seconds, found, tuple(told)), tested_on


def test_rows(path: Path, label: Column | None, stream: Stream) -> Dataset:
    """Return the rows of a file of their own to test on, in the order of a stream's features."""
    names = stream.feature_names
    rows = data.read(path, label, part="test", keep=names if has_names(names) else ())
    return data.match_features(rows, names, len(names))


def _choose(
    estimator: SparseClassifier,
    scalers: dict[str, Any],
    sample: Dataset,
    parameters: dict[str, Any],
    metric: str | None,
    seed: int,
) -> tuple[SearchResult | None, str, list[str]]:
    """Set gamma and C where they are not given, on a sample; return the search and what it was for."""
    estimator.set_params(class_weight=weights_by_label(estimator.class_weight, sample.y))
    chosen_for = metric or (ACCURACY if estimator.class_weight is None else BALANCED)
    given = {"gamma" if name == KERNELS[estimator.kernel].scale_parameter else name for name in parameters}
    left = [name for name in estimator.searched if name not in given]
    if left and too_few(sample.y, None) is None:
        estimator.set_params(**dict.fromkeys(left, AUTO))
    with training_errors() as told:
        scalings = {name: np.asarray if one is None else one.transform for name, one in scalers.items()}
        found = search(estimator, sample.X, sample.y, seed, metric=chosen_for, scalings=scalings)
    return found, chosen_for, told


def _fit(estimator: SparseClassifier, rows: _Rows) -> tuple[SparseModel, list[str]]:
    """Return the model of the rows in the scratch file, and what training warned of."""
    from sklearn.pipeline import make_pipeline

    with training_errors() as told:
        train_in_parts(estimator, rows.scratch.labelled(rows.drawn.classes))
        return from_sklearn(estimator if rows.scaler is None else make_pipeline(rows.scaler, estimator)), told


def _data_card(
    learned: SparseModel, rows: _Rows, stream: Stream, scale: str, also: Dataset | None = None
) -> dict[str, Any]:
    """Return what the card of a model tells of its rows: those in the scratch file, of which ``also`` is a part.

    ``learned`` is the model behind the scaler.
    """
    low, high = rows.scanned.low, rows.scanned.high
    if also is not None:
        low, high = np.minimum(low, also.X.min(axis=0)), np.maximum(high, also.X.max(axis=0))
    card = {
        "data": {"source": stream.source, "sha256": rows.scanned.sha256, "rows": rows.scratch.n_rows},
        "scale": scale,
        "feature_names": list(stream.feature_names),
        "ranges": _ranges(low, high),
    }
    if learned.transform.projection is None:
        return card
    ends = list(rows.scratch.labelled(rows.drawn.classes).rows.each(_projected_ends, learned.transform))
    low, high = np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)
    return card | {"projected_ranges": _ranges(low, high)}


def _projected_ends(part: CodedRows, transform: Transform) -> tuple[Array, Array]:
    seen = transform(np.asarray(part.X, np.float64))
    return seen.min(axis=0), seen.max(axis=0)


def _ranges(low: Array, high: Array) -> dict[str, list[float]] | None:
    """Return ends as a card has them; ``None`` where a device could not read them."""
    return None if max(high.max(), -low.min()) > LARGEST else {"low": low.tolist(), "high": high.tolist()}


def _counts(drawn: Drawn, rows: Dataset) -> NDArray[np.int64]:
    """Return how many of some rows are of each class."""
    return np.bincount(drawn.coded(rows.y), minlength=len(drawn.classes))


def _must_repeat(sample: Dataset, n_rows: int) -> bool:
    """Return whether features take so few values, as far as a sample shows, that most rows must be copies."""
    kinds = 1
    for column in sample.X.T:
        kinds *= len(np.unique(column))
        if kinds > n_rows:
            return False
    return True
