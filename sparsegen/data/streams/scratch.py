"""Rows ready for training in a temporary file, as float32: read in any order, by blocks that lie together.

Minibatches need rows in random order, which no file of rows gives at a bearable price row by row. So an epoch takes
chunks of neighbouring rows in random order, fills a pool with ``CHUNKS`` of them from all over the file, mixes the rows
of the pool and hands them out; then comes the next pool.

Every row is seen once in an epoch, so over an epoch nothing is favoured. Within a pool rows of one chunk come together:
where the file is sorted, so that a chunk is all of one class, a class with the share p of all rows has a share in the
pool that differs from p by ``sqrt(p (1 - p) / CHUNKS)`` in the standard deviation, 0.016 at most. Where the file is
mixed it is that of a random sample of the pool's rows.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from sparsegen.data.checks import Labels
from sparsegen.data.labelled_parts import CodedRows, Indices, LabelledParts
from sparsegen.data.parts import LocalParts
from sparsegen.errors import DataError

CHUNKS = 1024
POOL_BYTES = 1 << 26
PART_BYTES = 1 << 23
"""Of the float32 rows of a part."""

Floats = NDArray[np.float32]


class Scratch:
    """A temporary file of rows and class indices, gone when the ``with`` ends or the process does."""

    def __init__(self, n_features: int, n_rows: int) -> None:
        self._width = n_features
        folder = tempfile.gettempdir()
        free, needed = shutil.disk_usage(folder).free, n_rows * (4 * n_features + 2)
        if needed > free:
            raise DataError(
                f"{needed >> 20:,} MiB of temporary files are needed, but {free >> 20:,} MiB are free in {folder}; set "
                "the environment variable TMPDIR to a folder with more room"
            )
        self.n_rows = 0
        self._rows: BinaryIO = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._codes: BinaryIO = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove it."""
        self._rows.close()
        self._codes.close()

    def append(self, X: Floats, index: Indices) -> None:
        """Write rows at the end."""
        for file, values in ((self._rows, X.astype("<f4", copy=False)), (self._codes, index.astype("<u2"))):
            file.seek(0, 2)
            _write(file, np.ascontiguousarray(values))
        self.n_rows += len(X)

    def read(self, first: int, count: int) -> tuple[Floats, Indices]:
        """Return rows that lie together, and their class indices."""
        X, codes = np.empty((count, self._width), "<f4"), np.empty(count, "<u2")
        for file, values, width in ((self._rows, X, 4 * self._width), (self._codes, codes, 2)):
            file.seek(first * width)
            _read_into(file, values)
        return X, codes.astype(np.intp)

    def labelled(self, classes: Labels) -> LabelledParts:
        """Return the rows in parts, which are read whenever they are needed, and in random order for minibatches."""
        step = max(1, PART_BYTES // (4 * self._width))
        cuts = [(first, min(step, self.n_rows - first)) for first in range(0, self.n_rows, step)]
        parts = LocalParts(len(cuts), lambda number: CodedRows(*self.read(*cuts[number]), number))
        counts = np.array(list(parts.each(_class_counts, len(classes))))
        return LabelledParts(parts, classes, counts, self._width, shuffled=self.batches)

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[tuple[Floats, Indices]]:
        """Yield minibatches without end; rows that are too few at the end of an epoch sit it out."""
        size = min(size, self.n_rows)
        chunk = max(1, POOL_BYTES // (4 * (self._width + 1)) // CHUNKS)
        while True:
            left: tuple[Floats, Indices] = (np.empty((0, self._width), np.float32), np.empty(0, np.intp))
            order = rng.permutation(-(-self.n_rows // chunk))
            for start in range(0, len(order), CHUNKS):
                few = order[start : start + CHUNKS].tolist()
                read = [left, *(self.read(n * chunk, min(chunk, self.n_rows - n * chunk)) for n in sorted(few))]
                X, index = np.concatenate([X for X, _ in read]), np.concatenate([index for _, index in read])
                mixed = rng.permutation(len(X))
                whole = len(X) // size * size
                for place in range(0, whole, size):
                    rows = mixed[place : place + size]
                    yield X[rows], index[rows]
                left = X[mixed[whole:]], index[mixed[whole:]]


def _class_counts(part: CodedRows, n_classes: int) -> NDArray[np.int64]:
    return np.bincount(part.index, minlength=n_classes)


def _write(file: BinaryIO, values: NDArray[Any]) -> None:
    rest = memoryview(values.data).cast("B")
    while rest:
        rest = rest[file.write(rest) :]


def _read_into(file: BinaryIO, values: NDArray[Any]) -> None:
    rest = memoryview(values.data).cast("B")
    while rest:
        done = file.readinto(rest)  # type: ignore[attr-defined]
        if not done:
            raise DataError("a temporary file was cut short while it was in use; try again")
        rest = rest[done:]
