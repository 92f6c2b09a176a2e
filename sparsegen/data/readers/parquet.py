"""Parquet, where pyarrow is installed: columns of numbers are features, whatever the file's compression.

The file says how many rows it has, and no more are read, so that what it takes is known beforehand. Texts are read as
a dictionary of the distinct ones.
"""

from __future__ import annotations

from typing import Any

from sparsegen.data.arrow_columns import Cells, cells, file_rows, numbers, pyarrow, room_for, wanted_names
from sparsegen.data.readers import READERS, FileRows, Reader, Wanted
from sparsegen.errors import DataError


def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
    """Return the wanted columns of a file."""
    arrow, parquet = pyarrow(source, "a Parquet file", "parquet")
    try:
        return _read_file(arrow, parquet, raw, source, wanted)
    except DataError:
        raise
    except Exception:  # pyarrow raises a dozen types on damaged bytes
        raise DataError(f"{source} is not a readable Parquet file; save it again with pandas or pyarrow") from None


def _read_file(arrow: Any, parquet: Any, raw: bytes, source: str, wanted: Wanted) -> FileRows:
    names = wanted_names(parquet.ParquetFile(arrow.BufferReader(raw)).schema_arrow.names, wanted, source)
    file = parquet.ParquetFile(arrow.BufferReader(raw), read_dictionary=names.texts)
    X = room_for(file.metadata.num_rows, names, source)

    def column(name: str) -> Any:
        return file.read(columns=[name]).column(name)

    def texts(name: str | None, noun: str) -> Cells | None:
        return None if name is None else cells(arrow, column(name), noun, source, len(raw))

    for i, name in enumerate(names.features):
        X[:, i] = numbers(arrow, column(name), name, source, wanted)
    return file_rows(X, texts(names.label, "label"), texts(names.group, "group"), names, wanted, source)


READERS.register("parquet")(Reader(read, suffixes=(".parquet", ".pq"), is_text=False))
