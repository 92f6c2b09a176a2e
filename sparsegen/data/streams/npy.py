"""NPY: rows in one file, labels in another, each read by blocks from its place in the file.

Blocks are read and not mapped, so that what was read does not count as this process's memory. Never an object, never a
pickle.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import Labels, checked_labels, default_names, printable
from sparsegen.data.columns import feature_places
from sparsegen.data.streams import STREAMS, Stream, StreamFormat, Wish, check_size, rows_per_block
from sparsegen.errors import DataError

MAX_ITEM_BYTES = 4 * 4 * 200  # of one label; the checks on texts say more


class _Npy(NamedTuple):
    """An array in a file."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return some rows."""
        width = int(np.prod(self.shape[1:], dtype=np.int64))
        start = self.offset + first * width * self.dtype.itemsize
        found = np.fromfile(self.path, self.dtype, (last - first) * width, offset=start)
        return found.reshape(last - first, *self.shape[1:])


class NpyStream(Stream):
    """An array of rows and one of labels."""

    def __init__(self, path: Path, wish: Wish) -> None:
        self.source = printable(path.name)
        if wish.labels is None:
            raise DataError(
                f"{self.source} holds rows without labels; name the NPY file of their labels", change={"labels": "FILE"}
            )
        if wish.label is not None:
            raise DataError(f"{self.source} has no column of labels, since these are in {printable(wish.labels.name)}")
        self._X, self._y = _opened(path), _opened(wish.labels)
        if len(self._X.shape) != 2 or self._X.dtype.kind not in "biuf":
            raise DataError(
                f"{self.source} holds {self._X.dtype} in {len(self._X.shape)} dimensions; save rows and columns of "
                "real numbers"
            )
        if self._y.shape not in ((self._X.shape[0],), (self._X.shape[0], 1)):
            raise DataError(
                f"{self.source} has {self._X.shape[0]} rows, but the labels have the shape {self._y.shape}; save one "
                "label per row"
            )
        self.n_rows, width = self._X.shape
        check_size(self.n_rows, width, self.source)
        names = default_names(width)
        self._places = feature_places(names, wish.keep, wish.drop, self.source)
        self.feature_names = tuple(names[place] for place in self._places)

    def label_blocks(self) -> Iterator[Labels]:
        """Yield the labels of every block."""
        for first, last in self._cuts():
            yield checked_labels(self._y.rows(first, last), self.source)

    def row_blocks(self) -> Iterator[Array]:
        """Yield the rows of every block."""
        for first, last in self._cuts():
            rows = self._X.rows(first, last)
            yield np.asarray(rows if len(self._places) == rows.shape[1] else rows[:, self._places], np.float64)

    def _cuts(self) -> Iterator[tuple[int, int]]:
        step = rows_per_block(self._X.shape[1])
        for first in range(0, self.n_rows, step):
            yield first, min(self.n_rows, first + step)


def _opened(path: Path) -> _Npy:
    """Return what an NPY file says it holds, once it is known to hold that."""
    source = printable(path.name)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise DataError(f"there is no file {printable(str(path))}; check the path") from None
    except OSError as error:
        reason = error.strerror or "it is cut short"
        raise DataError(f"{source} cannot be read ({reason}); check its permissions and that it is complete") from None
    except Exception:  # NumPy's header parser raises a dozen types on damaged bytes, and a ValueError on objects
        raise DataError(f"{source} is no NPY file of numbers or texts; save the array again with numpy.save") from None
    if not isinstance(array, np.memmap) or array.dtype.itemsize > MAX_ITEM_BYTES:
        raise DataError(f"{source} is no NPY file of numbers or texts; save the array again with numpy.save")
    if not array.flags.c_contiguous:
        raise DataError(f"{source} is stored column by column; save it row by row, with numpy.ascontiguousarray")
    return _Npy(path, array.shape, array.dtype, int(array.offset))


STREAMS.register("npy")(StreamFormat(NpyStream, lambda path: path.suffix.lower() == ".npy", always=True))
