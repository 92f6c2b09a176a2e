"""Rows that are copies of others, or so like their neighbours that a split by chance tests what was trained.

Neighbours are compared with random rows of the same class: where a row is a window of a recording, the next one holds
half of its samples, or the same swing of the arm. Where labels change from row to row, no recording was cut up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.dataset import Dataset

MIN_PAIRS = 30
MAX_PAIRS = 2000
MAX_VALUES = 4_000_000  # of pairs times features
OTHERS = 8  # rows of the same class that each pair is compared with
MIN_RUN = 5.0
ALIKE = 0.65  # real data whose rows are independent, in long runs of one label, stay below
NEARER = 0.5  # and above

# Single samples of a time series, such as an accelerometer's and a gyroscope's; windows have more features.
SAMPLES_RUN = 50.0
SAMPLES_NEARER = 0.05
MAX_CHANNELS = 6


@dataclass(frozen=True)
class Neighbours:
    """How rows that are next to each other in the file compare with other rows of their class."""

    pairs: int
    nearer: float
    """How often neighbours are nearer to each other than to others."""
    distance: float
    """Median squared distance between neighbours, as a share of that to others."""
    run: float
    """Rows from one change of label to the next, on average."""
    channels: int

    @property
    def are_alike(self) -> bool:
        """Whether rows must come from the same recording, as overlapping or consecutive windows do."""
        margin = max(ALIKE - 0.5, 1.5 / math.sqrt(self.pairs))  # three standard deviations of as many tossed coins
        return self.run >= MIN_RUN and self.nearer >= 0.5 + margin and self.distance <= NEARER

    @property
    def are_samples(self) -> bool:
        """Whether each row seems to be one sample of a few channels, and not a window of them."""
        return self.channels <= MAX_CHANNELS and self.run >= SAMPLES_RUN and self.distance <= SAMPLES_NEARER


def neighbours(rows: Dataset, names: set[str]) -> Neighbours | None:
    """Return how alike neighbouring rows are in the named columns, or ``None`` where too few rows are left to tell."""
    varies = rows.X.min(axis=0) < rows.X.max(axis=0)
    columns = np.flatnonzero(varies & np.array([name in names for name in rows.feature_names]))
    places = np.arange(len(rows.X)) if rows.rows is None else np.argsort(rows.rows)
    at, y = places if rows.rows is None else rows.rows[places], rows.y[places]
    is_same = y[1:] == y[:-1]
    first = np.flatnonzero((np.diff(at) == 1) & is_same)
    if len(first) < MIN_PAIRS or not len(columns):
        return None
    rng = np.random.default_rng(0)
    first = rng.permutation(first)[: max(MIN_PAIRS, min(MAX_PAIRS, MAX_VALUES // len(columns)))]
    X = rows.X[:, columns] if len(columns) < rows.X.shape[1] else rows.X
    here = X[places[first]]
    with np.errstate(over="ignore"):
        scale = np.maximum(here.std(axis=0), np.finfo(np.float64).tiny)
    to_next = _distances(here, X[places[first + 1]], scale)
    nearer, to_others = np.zeros(len(first)), []
    for _ in range(OTHERS):
        other = _others_of_class(y, first, rng)
        distance = _distances(here, X[places[other]], scale)
        nearer += ((to_next < distance) + 0.5 * (to_next == distance)) / OTHERS
        to_others.append(distance)
    return Neighbours(
        pairs=len(first),
        nearer=float(nearer.mean()),
        distance=float(np.median(to_next) / max(np.median(to_others), np.finfo(np.float64).tiny)),
        run=len(y) / (1 + np.count_nonzero(~is_same)),
        channels=len(columns),
    )


def _others_of_class(y: NDArray[np.generic], rows: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return for each row a random row of its class."""
    others = np.empty_like(rows)
    for label in np.unique(y[rows]):
        wanted = y[rows] == label
        others[wanted] = rng.choice(np.flatnonzero(y == label), np.count_nonzero(wanted))
    return others


def _distances(A: Array, B: Array, scale: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray((((A - B) / scale) ** 2).sum(axis=1))


# ---- Copies ----------------------------------------------------------------------------------------------------------


def copied_rows(train_set: Dataset, test_set: Dataset) -> int:
    """Return how many test rows are copies of training rows; 0 where features take so few values that most must be."""
    if _can_differ(train_set.X) <= len(train_set.X):
        return 0
    seen = {_hash(row): place for place, row in enumerate(train_set.X)}
    places = [(test, seen.get(_hash(row))) for test, row in enumerate(test_set.X)]
    return sum(train is not None and np.array_equal(test_set.X[test], train_set.X[train]) for test, train in places)


def _hash(row: Array) -> int:
    return hash((row + 0.0).tobytes())  # a zero has no sign then


def _can_differ(X: Array) -> int:
    """Return how many different rows the values of the columns allow, counted up to as many as matter."""
    product = 1
    for column in X.T:
        if product > len(X):
            break
        product *= len(np.unique(column))
    return product
