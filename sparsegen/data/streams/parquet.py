"""Parquet, a file or a folder of them, where pyarrow is installed: read by row groups, a block of rows at a time.

A row group is read column by column as its rows are needed, so memory is bounded by a block and by the packed bytes of
one row group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.arrow_columns import cells, numbers, pyarrow, wanted_names
from sparsegen.data.checks import Labels, printable
from sparsegen.data.readers import Wanted
from sparsegen.data.streams import STREAMS, Stream, StreamFormat, Wish, check_size, rows_per_block
from sparsegen.errors import DataError

SUFFIXES = (".parquet", ".pq")


class ParquetStream(Stream):
    """The rows of one file, or of all files in a folder in the order of their names."""

    def __init__(self, path: Path, wish: Wish) -> None:
        self.source = printable(path.name)
        if wish.labels is not None:
            raise DataError(f"{self.source} has a column of labels; name that, and no file of labels")
        self._arrow, self._parquet = pyarrow(self.source, "Parquet", "parquet")
        self._paths = files_of(path)
        self._wanted = Wanted(wish.label, keep=tuple(wish.keep), drop=tuple(wish.drop))
        header: list[str] | None = None
        self.n_rows = 0
        for one in self._paths:
            names, n_rows = self._about(one)
            if header is not None and names != header:
                raise DataError(
                    f"{printable(one.name)} has other columns than {printable(self._paths[0].name)} of {self.source}; "
                    "keep files of one table in a folder"
                )
            header = names
            self.n_rows += n_rows
        self._names = wanted_names(header or [], self._wanted, self.source)
        self.feature_names = self._names.features
        check_size(self.n_rows, len(self.feature_names), self.source)

    def label_blocks(self) -> Iterator[Labels]:
        """Yield the labels of every block."""
        for path, batch in self._batches(self._names.texts):
            column = self._arrow.chunked_array([batch.column(0)])
            found = cells(self._arrow, column, "label", self.source, path.stat().st_size)
            if found.mask.any():
                raise DataError(f"a label of {printable(path.name)} is empty; fill it in, or leave its row out")
            yield np.asarray(found.data)

    def row_blocks(self) -> Iterator[Array]:
        """Yield the rows of every block."""
        for _, batch in self._batches(list(self.feature_names)):
            X = np.empty((batch.num_rows, len(self.feature_names)))
            for place, name in enumerate(self.feature_names):
                column = self._arrow.chunked_array([batch.column(name)])
                X[:, place] = numbers(self._arrow, column, name, self.source, self._wanted)
            yield X

    def _about(self, path: Path) -> tuple[list[str], int]:
        with _Readable(path), self._parquet.ParquetFile(path) as file:
            return list(file.schema_arrow.names), int(file.metadata.num_rows)

    def _batches(self, columns: Sequence[str]) -> Iterator[tuple[Path, Any]]:
        """Yield batches of some columns."""
        step = rows_per_block(len(self.feature_names))
        for path in self._paths:
            with _Readable(path), self._file(path) as file:
                for group in range(file.metadata.num_row_groups):
                    for batch in file.iter_batches(step, row_groups=[group], columns=list(columns), use_threads=False):
                        yield path, batch

    def _file(self, path: Path) -> Any:
        return self._parquet.ParquetFile(path, read_dictionary=self._names.texts, buffer_size=1 << 20)


class _Readable:
    """Turns what pyarrow raises on damaged bytes, a dozen types, into one sentence."""

    def __init__(self, path: Path) -> None:
        self._name = printable(path.name)

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise the sentence in place of the error."""
        if error is not None and isinstance(error, Exception) and not isinstance(error, DataError):
            raise DataError(
                f"{self._name} is not a readable Parquet file; save it again with pandas or pyarrow"
            ) from None


def files_of(path: Path) -> list[Path]:
    """Return the files of a folder in the order of their names, or the one that a path is."""
    if not path.exists():
        raise DataError(f"there is no file {printable(str(path))}; check the path")
    if path.is_file():
        return [path]
    inside = sorted(path.iterdir())
    if any(one.is_dir() and "=" in one.name for one in inside):
        raise DataError(
            f"{printable(path.name)} is partitioned by the names of its folders, which are not read; write the column "
            "into the files"
        )
    return [one for one in inside if one.suffix.lower() in SUFFIXES and one.is_file()]


def takes(path: Path) -> bool:
    """Return whether a path is a Parquet file or a folder that holds some."""
    if path.is_dir():
        return any(one.suffix.lower() in SUFFIXES or (one.is_dir() and "=" in one.name) for one in path.iterdir())
    return path.suffix.lower() in SUFFIXES


STREAMS.register("parquet")(StreamFormat(ParquetStream, takes))
