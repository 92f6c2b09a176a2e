"""Parquet, where pyarrow is installed: columns of numbers are features, whatever the file's compression.

The file says how many rows it has, and no more are read, so that what it takes is known beforehand. Texts are read as
a dictionary of the distinct ones. Feather is not read: what its buffers unpack to is known only after the fact.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import (
    Labels,
    check_matrix,
    check_names,
    check_text,
    checked_labels,
    count,
    labels_of_texts,
    printable,
    read_only,
    short,
)
from sparsegen.data.memory import check_memory
from sparsegen.data.readers import READERS, FileRows, Reader, Wanted
from sparsegen.data.table import columns_of
from sparsegen.errors import DataError

OLDEST = (14, 0, 1)  # of pyarrow: files could run code in those before
INDEX = "__index_level_0__"
"""What pandas calls an index that has no name."""
BYTES_PER_TEXT = 16


def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
    """Return the wanted columns of a file."""
    arrow, parquet = _pyarrow(source)
    try:
        return _read_file(arrow, parquet, raw, source, wanted)
    except DataError:
        raise
    except Exception:  # pyarrow raises a dozen types on damaged bytes
        raise DataError(f"{source} is not a readable Parquet file; save it again with pandas or pyarrow") from None


def _pyarrow(source: str) -> tuple[Any, Any]:
    try:
        arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise DataError(
            f"{source} is a Parquet file, which needs the package pyarrow; install it, or save the rows as CSV or NPZ"
        ) from None
    if tuple(int(part) for part in arrow.__version__.split(".")[:3] if part.isdecimal()) < OLDEST:
        raise DataError(
            f"{source} is a Parquet file, and pyarrow {arrow.__version__} is not safe with files of strangers; install "
            f"{'.'.join(map(str, OLDEST))} or later"
        )
    return arrow, parquet


def _read_file(arrow: Any, parquet: Any, raw: bytes, source: str, wanted: Wanted) -> FileRows:
    names = list(parquet.ParquetFile(arrow.BufferReader(raw)).schema_arrow.names)
    check_names(names, source)
    header = [name for name in names if name != INDEX]
    columns = columns_of(header, wanted, source, index=None)
    if not columns.features:
        raise DataError(f"{source} has no column left to be a feature; it must hold features and a label")
    texts = [header[place] for place in (columns.label, columns.group) if place is not None]
    file = parquet.ParquetFile(arrow.BufferReader(raw), read_dictionary=texts)
    n_rows = file.metadata.num_rows
    check_matrix(np.dtype(np.float64), (n_rows, len(columns.features)), "X", source)
    check_memory(n_rows * (8 * len(columns.features) + BYTES_PER_TEXT * len(texts)), source)
    X = np.empty((n_rows, len(columns.features)))
    for i, place in enumerate(columns.features):
        X[:, i] = _numbers(arrow, file, header[place], source, is_training=wanted.n_features is None)
    notes = []
    if len(header) < len(names):
        notes.append(f"the index that pandas wrote into {source} was left out")
    y = None if columns.label is None else _texts(arrow, file, header[columns.label], "label", source)
    groups = None if columns.group is None else _texts(arrow, file, header[columns.group], "group", source)
    rows = FileRows(X, None, tuple(header[place] for place in columns.features), notes=tuple(notes))
    if groups is not None:
        rows = rows._replace(groups=_complete(groups, "group", source))
    if y is not None and y.mask.all():
        y = None
    if y is not None and y.mask.any() and wanted.missing == "drop" and wanted.n_features is None:
        here, lost = ~y.mask, int(y.mask.sum())
        told = f"{count(lost, 'row')} of {source} without a label {'was' if lost == 1 else 'were'} dropped"
        rows = rows._replace(
            X=rows.X[here], groups=None if rows.groups is None else rows.groups[here], notes=(*rows.notes, told)
        )
        y = y[here]
    return rows._replace(X=read_only(rows.X), y=None if y is None else _complete(y, "label", source))


def _numbers(arrow: Any, file: Any, name: str, source: str, *, is_training: bool) -> Array:
    """Return a column as doubles; what is missing is NaN."""
    column = file.read(columns=[name]).column(name)
    if not _is_number(arrow, column.type):
        raise DataError(
            f"column {short(name)} of {source} holds {printable(str(column.type))}, not numbers; encode it as numbers, "
            "drop the column, or name it as the label column if it holds the classes",
            change={"label": "", "drop": ""} if is_training else {"label": ""},
        )
    return np.asarray(column.cast(arrow.float64(), safe=False).to_numpy())


def _texts(arrow: Any, file: Any, name: str, noun: str, source: str) -> np.ma.MaskedArray[Any, Any]:
    """Return a column of labels or groups as numbers or texts; what is missing is masked."""
    column = file.read(columns=[name]).column(name)
    missing = np.asarray(column.is_null().to_numpy())
    if arrow.types.is_dictionary(column.type):
        whole = column.unify_dictionaries().combine_chunks()
        values = [_text(value, noun, source) for value in whole.dictionary.to_pylist()] or [""]
        codes = np.where(missing, 0, whole.indices.fill_null(0).to_numpy(zero_copy_only=False))
        for code in np.unique(codes[~missing]).tolist():
            check_text(values[code], f"{noun} {short(values[code])} of {source}")
        return np.ma.array(labels_of_texts(values)[codes], mask=missing)
    if not any(
        check(column.type) for check in (arrow.types.is_integer, arrow.types.is_floating, arrow.types.is_boolean)
    ):
        raise DataError(
            f"the {noun}s of {source} hold {printable(str(column.type))}; save them as whole numbers or as strings"
        )
    numbers = np.asarray(column.fill_null(False if arrow.types.is_boolean(column.type) else 0).to_numpy())
    if noun == "label":
        numbers = checked_labels(numbers, source)
    return np.ma.array(numbers, mask=missing)


def _is_number(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _text(value: object, noun: str, source: str) -> str:
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise DataError(f"a {noun} of {source} is not UTF-8 text; save the {noun}s as strings") from None


def _complete(cells: np.ma.MaskedArray[Any, Any], noun: str, source: str) -> Labels:
    """Return labels or groups once it is known that none is missing."""
    if cells.mask.any():
        raise DataError(f"the {noun} in row {int(np.argmax(cells.mask)) + 1} of {source} is empty; fill it in")
    return np.asarray(cells.data)


READERS.register("parquet")(Reader(read, suffixes=(".parquet", ".pq"), is_text=False))
