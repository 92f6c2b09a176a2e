"""The first pass over a stream: its classes, and which rows are held out and which make up a sample.

Every row gets a random number. Of each class the rows with the smallest numbers are kept, as many as could be needed:
a reservoir, in which every row of the class had the same chance, in whatever order the rows came. The test takes its
share of every class first, the sample takes what follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.data.checks import Labels
from sparsegen.data.streams import Stream
from sparsegen.errors import DataError, OptionError

MAX_CLASSES = 1000
MIN_OF_CLASS = 20
"""Rows of a rare class that the sample takes, if there are as many."""

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """What the labels of a stream tell, and the places of some of its rows, ascending."""

    classes: Labels
    of_class: NDArray[np.int64]
    test: Places
    sample: Places

    def coded(self, labels: Labels) -> NDArray[np.intp]:
        """Return the indices of labels among the classes."""
        return np.searchsorted(self.classes, labels.astype(self.classes.dtype))


class _Reservoir:
    """The places of one class's rows with the smallest random numbers."""

    def __init__(self, room: int) -> None:
        self.count, self._room = 0, room
        self._keys, self._places = np.empty(0), np.empty(0, np.int64)

    def add(self, keys: NDArray[np.float64], places: Places) -> None:
        """Offer rows."""
        self.count += len(keys)
        if len(keys) > self._room:
            few = np.argpartition(keys, self._room)[: self._room]
            keys, places = keys[few], places[few]
        self._keys, self._places = np.append(self._keys, keys), np.append(self._places, places)
        if len(self._keys) > 2 * self._room:
            self._shrink()

    def sorted(self) -> Places:
        """Return the places in the order of their numbers, the smallest first."""
        self._shrink()
        return self._places

    def _shrink(self) -> None:
        order = np.argsort(self._keys, kind="stable")[: self._room]
        self._keys, self._places = self._keys[order], self._places[order]


def draw(stream: Stream, *, test_rows: int, sample_rows: int, seed: int) -> Drawn:
    """Return the classes of a stream, and about so many rows for the test and for a sample, apart from each other."""
    rng = np.random.default_rng([seed, 20])
    found: dict[object, _Reservoir] = {}
    first = 0
    room = test_rows + max(sample_rows, MIN_OF_CLASS)
    with progress.task("reading labels", stream.n_rows) as advance:
        for labels in stream.label_blocks():
            keys = rng.random(len(labels))
            here, index = np.unique(labels, return_inverse=True)
            for k, label in enumerate(here.tolist()):
                own = np.flatnonzero(index == k)
                found.setdefault(label, _Reservoir(room)).add(keys[own], own + first)
            if len(found) > MAX_CLASSES:
                raise DataError(
                    f"{stream.source} has more than {MAX_CLASSES} different labels; choose a label column that holds a "
                    "few classes",
                    change={"label": ""},
                )
            first += len(labels)
            advance("")
    if len({isinstance(label, str) for label in found}) > 1:
        raise DataError(f"some labels of {stream.source} are whole numbers and others texts; write all as texts")
    classes = np.array(sorted(found))  # type: ignore[type-var]
    if len(classes) < 2:
        raise DataError(f"{stream.source} has one class only ({classes[0].item()!r}); training needs at least two")
    test, sample = [], []
    for label in classes.tolist():
        reservoir = found[label]
        share = reservoir.count / first
        n_test = min(int(np.ceil(share * test_rows)), reservoir.count - 1)
        n_sample = max(int(np.ceil(share * sample_rows)), MIN_OF_CLASS)
        places = reservoir.sorted()
        test.append(places[:n_test])
        sample.append(places[n_test : n_test + n_sample])
    of_class = np.array([found[label].count for label in classes.tolist()])
    return Drawn(classes, of_class, np.sort(np.concatenate(test)), np.sort(np.concatenate(sample)))


def held_out_rows(n_rows: int, test_size: float, most: int) -> int:
    """Return how many rows are held out: a share, up to ``most``; rounding up in each class may add some."""
    if not 0 < test_size < 1:
        raise OptionError(f"the share of test rows must lie between 0 and 1, but it is {test_size}")
    return min(most, int(np.ceil(n_rows * test_size)))
