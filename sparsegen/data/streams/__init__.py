"""Files that are larger than memory, read in passes: block after block, always in the same order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import MAX_FEATURES, Labels, count, printable, short
from sparsegen.data.columns import Column, require_one_choice
from sparsegen.errors import DataError
from sparsegen.registry import Registry

BLOCK_BYTES = 1 << 25
"""Of the doubles of one block."""
LARGE_BYTES = 1 << 30
"""Of the doubles of all rows, from which on a file that could be read as a whole is streamed."""


class Wish(NamedTuple):
    """What a caller wants from a file that is streamed."""

    label: Column | None = None
    labels: Path | None = None
    """The file of the labels, where the rows have none beside them."""
    keep: Sequence[Column] = ()
    drop: Sequence[Column] = ()
    group: Column | None = None
    missing: str = "error"


class Stream(ABC):
    """Rows with labels that can be read in as many passes as are needed."""

    source: str
    """Name of the file or folder, made printable."""
    feature_names: tuple[str, ...]
    n_rows: int

    @abstractmethod
    def label_blocks(self) -> Iterator[Labels]:
        """Yield the labels of every block."""

    @abstractmethod
    def row_blocks(self) -> Iterator[Array]:
        """Yield the rows of every block as doubles."""

    @property
    def n_bytes(self) -> int:
        """What the rows would take in memory, as doubles."""
        return 8 * self.n_rows * len(self.feature_names)

    def blocks(self) -> Iterator[tuple[int, Array, Labels]]:
        """Yield the place of a block's first row, its rows, which are finite, and its labels."""
        first = 0
        labels_of = _Recut(self.label_blocks())
        for X in self.row_blocks():
            labels = labels_of.take(len(X))
            finite = np.isfinite(X)
            if not finite.all():
                row, column = np.argwhere(~finite)[0].tolist()
                raise DataError(
                    f"row {first + row + 1} of {self.source} has {X[row, column]} in feature "
                    f"{short(self.feature_names[column])}; a file that is streamed may have no gaps, so fill it or "
                    "drop the row"
                )
            yield first, X, labels
            first += len(X)


class _Recut:
    """Blocks of labels, cut in other places."""

    def __init__(self, blocks: Iterator[Labels]) -> None:
        self._blocks, self._left = blocks, np.empty(0, np.int64)

    def take(self, n: int) -> Labels:
        """Return the next n labels."""
        while len(self._left) < n:
            self._left = np.concatenate([self._left, next(self._blocks)]) if len(self._left) else next(self._blocks)
        taken, self._left = self._left[:n], self._left[n:]
        return taken


@dataclass(frozen=True)
class StreamFormat:
    """A format that can be streamed."""

    opened: Callable[[Path, Wish], Stream]
    """Returns the stream of a file or folder, once its structure is checked."""
    takes: Callable[[Path], bool]
    """Whether a path is of this format, by its name and by what is in a folder."""
    always: bool = False
    """Whether no reader takes the format as a whole, so that it is streamed however small it is."""


STREAMS: Registry[StreamFormat] = Registry("stream", __name__)


def format_of(path: Path) -> StreamFormat | None:
    """Return the format that streams a path, or ``None`` where none does."""
    return next((one for one in STREAMS.values() if one.takes(path)), None)


def open_stream(path: str | Path, wish: Wish) -> Stream:
    """Return the stream of a file or folder."""
    require_one_choice(wish.keep, wish.drop)
    found = format_of(Path(path))
    source = printable(Path(path).name)
    if found is not None and wish.group is not None:
        raise DataError(f"rows of one group cannot be kept together where {source} is streamed; use a sample of groups")
    if found is not None and wish.missing != "error":
        raise DataError(f"missing values are neither dropped nor filled where {source} is streamed; fill them before")
    if found is None:
        raise DataError(
            f"{printable(str(path))} cannot be streamed; that takes a Parquet file, a folder of them, or an NPY file"
        )
    return found.opened(Path(path), wish)


def stream_if_large(path: Path, wish: Wish, *, always: bool = False) -> Stream | None:
    """Return the stream of a file or folder, or ``None`` where it is better read as a whole."""
    found = format_of(path)
    if always or wish.labels is not None or (found is not None and (found.always or path.is_dir())):
        return open_stream(path, wish)
    if found is None or path.stat().st_size == 0:
        return None
    stream = found.opened(path, wish)
    return open_stream(path, wish) if stream.n_bytes > LARGE_BYTES else None


def rows_per_block(n_features: int) -> int:
    """Return how many rows a block has."""
    return max(1, BLOCK_BYTES // (8 * n_features))


def check_size(n_rows: int, n_features: int, source: str) -> None:
    """Raise an error where there is nothing to train on, or rows wider than a model can be."""
    if n_rows == 0 or n_features == 0:
        raise DataError(f"{source} has {count(n_rows, 'row')} of {count(n_features, 'feature')}; add data")
    if n_features > MAX_FEATURES:
        raise DataError(f"{source} has {n_features} features, too many for a small model; use fewer")
