"""The second and the third pass over a stream: what all rows have in common, the few that are kept, the scaled rest.

The second pass hashes the rows, finds their ranges, lets a scaler see them, and keeps those of the test and the sample.
The third writes the training rows, scaled, to the scratch file, and finds which test rows are copies of them. Neither
keeps more than a block, the test and the sample.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.data.checks import Labels
from sparsegen.data.dataset import Dataset, from_arrays
from sparsegen.data.streams import Stream
from sparsegen.data.streams.draw import Drawn, Places
from sparsegen.data.streams.scratch import Scratch

Hashes = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Scanned:
    """What the second pass found."""

    test: Dataset | None
    """The held-out rows; ``None`` where there are none."""
    sample: Dataset
    low: Array
    """Smallest value of every feature over the training rows"""
    high: Array
    sha256: str
    """Of all rows and labels: that of the dataset which `read` returns of the same rows."""


class _Digest:
    """The hash of rows that come block by block; see ``Dataset.sha256``."""

    def __init__(self, stream: Stream, classes: Labels) -> None:
        self._stream, self._has_texts = stream, classes.dtype.kind != "i"
        head = json.dumps([[stream.n_rows, len(stream.feature_names)], list(stream.feature_names)])
        self._hash = hashlib.sha256(f"{head[:-1]}, [".encode())
        if self._has_texts:  # the labels stand before the rows
            quoted = {label: json.dumps(label) for label in classes.tolist()}
            separator = ""
            for labels in stream.label_blocks():
                self._hash.update((separator + ", ".join(quoted[str(label)] for label in labels.tolist())).encode())
                separator = ", "
        self._hash.update(b"]]")

    def add(self, X: Array) -> None:
        """Take in the rows of a block."""
        self._hash.update(np.ascontiguousarray(X, dtype="<f8").data)

    def hexdigest(self) -> str:
        """Return the hash, once all rows were taken in."""
        if not self._has_texts:
            for labels in self._stream.label_blocks():
                self._hash.update(np.ascontiguousarray(labels, dtype="<i8").data)
        return self._hash.hexdigest()


def scan(stream: Stream, drawn: Drawn, scalers: Collection[Any] = ()) -> Scanned:
    """Return what the second pass finds; scalers, of which some may be ``None``, have then seen all training rows."""
    digest = _Digest(stream, drawn.classes)
    low, high = np.full((2, len(stream.feature_names)), np.inf) * [[1.0], [-1.0]]
    kept: tuple[list[Array], list[Array]] = ([], [])
    labels_of: tuple[list[Labels], list[Labels]] = ([], [])
    with progress.task("reading rows", stream.n_rows) as advance:
        for first, X, labels in stream.blocks():
            digest.add(X)
            for places, rows, own in zip((drawn.test, drawn.sample), kept, labels_of, strict=True):
                here = _within(places, first, len(X))
                rows.append(X[here])
                own.append(drawn.classes[drawn.coded(labels[here])])
            train = training_rows(X, first, drawn.test)
            if len(train):
                low, high = np.minimum(low, train.min(axis=0)), np.maximum(high, train.max(axis=0))
                for scaler in scalers:
                    if scaler is not None:
                        scaler.partial_fit(train)
            advance("")
    test, sample = (
        from_arrays(np.concatenate(rows), np.concatenate(own), stream.feature_names, stream.source)
        if len(places)
        else None
        for places, rows, own in zip((drawn.test, drawn.sample), kept, labels_of, strict=True)
    )
    if sample is None:
        raise AssertionError("a sample has rows of every class")
    return Scanned(test, sample, low, high, digest.hexdigest())


def write(
    stream: Stream,
    drawn: Drawn,
    scratch: Scratch,
    scaled: Callable[[Array], Array],
    test: Dataset,
    hashes_of: Callable[[Array], Hashes],
) -> tuple[Hashes, int]:
    """Write the training rows to the scratch file.

    Returns the hashes of the test rows that no training row has, ascending, and how many test rows are exact copies of
    training rows.
    """
    wanted = Counter(_bytes(row) for row in test.X)
    every = left = np.unique(hashes_of(test.X))
    copies = 0
    with progress.task("scaling rows", stream.n_rows) as advance:
        for first, X, labels in stream.blocks():
            is_train = np.ones(len(X), dtype=bool)
            is_train[_within(drawn.test, first, len(X))] = False
            rows = X[is_train]
            scratch.append(np.asarray(scaled(rows), np.float32), drawn.coded(labels[is_train]))
            found = hashes_of(rows)
            alike = np.isin(found, every)
            left = np.setdiff1d(left, found[alike])
            for row in rows[alike]:
                copies += wanted.pop(_bytes(row), 0)
            advance("")
    return left, copies


def training_rows(X: Array, first: int, test: Places) -> Array:
    """Return the rows of a block that are not held out."""
    here = _within(test, first, len(X))
    return X if len(here) == 0 else np.delete(X, here, axis=0)


def _within(places: Places, first: int, count: int) -> Places:
    """Return which rows of a block are among ascending places of all rows."""
    low, high = np.searchsorted(places, [first, first + count])
    return places[low:high] - first


def _bytes(row: Array) -> bytes:
    return bytes((row + 0.0).tobytes())  # a zero has no sign then
