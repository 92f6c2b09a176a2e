"""Columns that know too much: counters, timestamps, ids, and copies of the label.

Thresholds are set between what such columns show and what the features of some thirty real data sets show; see
tests/data/test_leaks.py. Rows and columns are sampled where there are many, so that the time is linear and short.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import Labels, numeric_labels
from sparsegen.data.dataset import Dataset

MIN_ROWS = 30  # below, chance looks like anything
SAMPLE = 4000  # rows
SAMPLE_VALUES = 4_000_000  # of rows times columns
RISING = 0.95  # share of rows whose value is above the one before; real features stay below 0.6
SAME_STEP = 0.6  # share of rows that are the same step above the one before; a counter of three in each recording
EXPLAINED = 0.99  # share of rows outside the largest class that one column tells; real features stay below 0.95
FEW_VALUES = 10  # with more, two classes may well be told apart by one honest measurement
ON_A_LINE = 1.0 - 1e-6  # correlation of a column with values; sensors are noisier than this
MAX_CLASSES = 100
EPOCH = (946_684_800.0, 2_208_988_800.0)  # seconds from 1970 to 2000 and to 2040
EPOCH_UNITS = (1.0, 1e3, 1e6, 1e9)
MOSTLY_DISTINCT = 0.5

_IDS = re.compile(r"(.*[_ .-])?(id|ids|idx|index|uid|uuid|guid|unnamed: \d+)|(id|idx|index)[_ .-].*", re.IGNORECASE)
_GROUPS = re.compile(
    r"(.*[_ .-])?(subject|participant|person|patient|user|session|recording|trial|fold)([_ .-]?(id|no|nr|number))?",
    re.IGNORECASE,
)
_TIMES = re.compile(r"(.*[_ .-])?(timestamp|datetime|date|epoch|unixtime|unix_time|millis)([_ .-].*)?", re.IGNORECASE)


class Words(NamedTuple):
    """What is said of one column and of several."""

    one: str
    many: str


TOLD = {
    "label": Words(
        "alone tells the label of nearly every row; if it was made from the label or is known only afterwards, no "
        "device has it and the accuracy misleads: then drop it",
        "each alone tell the label of nearly every row; if they were made from the label or are known only afterwards, "
        "no device has them and the accuracy misleads: then drop them",
    ),
    "counter": Words(
        "counts up from row to row, so it tells when a row was recorded and not what it is; drop it",
        "count up from row to row, so they tell when a row was recorded and not what it is; drop them",
    ),
    "time": Words(
        "looks like a timestamp: it tells when a row was recorded, which is over when a device runs; drop it",
        "look like timestamps: they tell when a row was recorded, which is over when a device runs; drop them",
    ),
    "id": Words(
        "looks like a number that was given to each row or thing: it can be learned by heart and means nothing for new "
        "ones; drop it",
        "look like numbers that were given to each row or thing: they can be learned by heart and mean nothing for new "
        "ones; drop them",
    ),
    "group": Words(
        "by its name says whose or which recording a row is: a model that reads it fails for new ones; name it as "
        "group, or drop it",
        "by their names say whose or which recording a row is: a model that reads them fails for new ones; name one as "
        "group, and drop them",
    ),
}
"""By the kind of column, most serious first."""


def telling_columns(rows: Dataset, *, has_classes: bool = True) -> dict[str, list[str]]:
    """Return the names of suspicious columns by kind; a column is named once, by what is most certain.

    Where labels are values, a column tells them if it is the same but for its unit.
    """
    if len(rows.X) < MIN_ROWS:
        return {}
    places = np.arange(len(rows.X)) if rows.rows is None else np.argsort(rows.rows)
    n_sampled = min(len(places), max(200, min(SAMPLE, SAMPLE_VALUES // rows.X.shape[1])))
    drawn = np.sort(np.random.default_rng(0).permutation(len(places))[:n_sampled])
    in_order = rows.X[places[drawn]]
    tell = _tells_label if has_classes else _tells_value
    tells = tell(in_order, rows.y[places[drawn]])
    counts = _counts_up(rows, places)
    found: dict[str, list[str]] = {kind: [] for kind in TOLD}
    for j, name in enumerate(rows.feature_names):
        column = in_order[:, j]
        if column.min() == column.max():
            continue
        whole = bool((column == np.floor(column)).all())
        if _TIMES.fullmatch(name) or _is_epoch(column):
            found["time"].append(name)
        elif whole and _GROUPS.fullmatch(name):
            found["group"].append(name)
        elif counts[j]:
            found["counter"].append(name)
        elif whole and (_IDS.fullmatch(name) or _numbers_rows(rows.X[:, j], column)):
            found["id"].append(name)
        elif tells[j]:
            found["label"].append(name)
    return {kind: names for kind, names in found.items() if names}


def _tells_value(X: Array, y: Labels) -> NDArray[np.bool_]:
    """Return which columns are a straight line of the labels, which are numbers."""
    values = numeric_labels(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.corrcoef(np.column_stack([X, values]), rowvar=False)
    return np.asarray(np.abs(both[-1, :-1]) > ON_A_LINE)


def _is_epoch(column: Array) -> bool:
    low, high = column.min(), column.max()
    if len(np.unique(column)) < MOSTLY_DISTINCT * len(column):
        return False
    return any(EPOCH[0] * unit <= low <= high <= EPOCH[1] * unit for unit in EPOCH_UNITS)


def _numbers_rows(column: Array, sample: Array) -> bool:
    """Return whether whole numbers are all different and leave few gaps, as in a numbering in whatever order."""
    if len(np.unique(sample)) < len(sample):
        return False
    return len(np.unique(column)) == len(column) and bool(np.ptp(column) <= 2 * len(column))


def _counts_up(rows: Dataset, places: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which columns rise (or fall) nearly always in the order of the file, or by the same step most times."""
    n_sampled = min(len(places) - 1, max(200, min(SAMPLE, SAMPLE_VALUES // rows.X.shape[1])))
    first = np.sort(np.random.default_rng(1).permutation(len(places) - 1)[:n_sampled])
    at = places if rows.rows is None else rows.rows[places]
    with np.errstate(over="ignore", invalid="ignore"):
        steps = (rows.X[places[first + 1]] - rows.X[places[first]]) / (at[first + 1] - at[first])[:, None]
    steps *= np.where((steps < 0).sum(axis=0) > (steps > 0).sum(axis=0), -1.0, 1.0)
    rises = steps > 0
    typical = np.array([np.median(step[up]) if up.any() else np.inf for step, up in zip(steps.T, rises.T, strict=True)])
    largest = np.maximum(np.abs(rows.X.max(axis=0)), np.abs(rows.X.min(axis=0)))
    with np.errstate(invalid="ignore"):
        same = np.abs(steps - typical) <= 1e-3 * typical + 1e-12 * largest
    same &= np.isfinite(typical)
    return np.asarray((rises.mean(axis=0) >= RISING) | (same.mean(axis=0) >= SAME_STEP))


def _tells_label(X: Array, y: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return which columns, cut into one interval for each class, tell the label of nearly every row."""
    classes, labels = np.unique(y, return_inverse=True)
    n_classes, n_others = len(classes), len(y) - int(np.bincount(labels).max())
    told = np.zeros(X.shape[1], dtype=bool)
    if not 2 <= n_classes <= MAX_CLASSES or n_others < 10:
        return told
    for j, column in enumerate(X.T):
        values, at = np.unique(column, return_inverse=True)
        if n_classes == 2 and len(values) > FEW_VALUES:
            continue
        counts = np.bincount(at * n_classes + labels, minlength=len(values) * n_classes).reshape(-1, n_classes)
        changes = np.count_nonzero(np.diff(counts.argmax(axis=1)))  # of the label that most rows of a value have
        # Every two changes beyond those between one interval per class cost a row at least.
        wrong = len(y) - int(counts.max(axis=1).sum()) + max(0, int(changes) + 2 - n_classes) // 2
        told[j] = wrong <= (1 - EXPLAINED) * n_others
    return told
