"""Columns that pyarrow has read, of Parquet and Feather alike: numbers as doubles, labels and groups as texts."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

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
from sparsegen.data.compressed import check_expansion
from sparsegen.data.memory import check_memory
from sparsegen.data.readers import FileRows, Wanted
from sparsegen.data.table import columns_of
from sparsegen.errors import DataError

OLDEST = (14, 0, 1)  # of pyarrow: files could run code in those before
INDEX = "__index_level_0__"
"""What pandas calls an index that has no name."""
BYTES_PER_TEXT = 16

Cells = np.ma.MaskedArray[Any, Any]


class Names(NamedTuple):
    """Names of the wanted columns of a table."""

    features: tuple[str, ...]
    label: str | None
    group: str | None
    notes: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """The columns that may hold texts."""
        return [name for name in (self.label, self.group) if name is not None]


def pyarrow(source: str, what: str, module: str) -> tuple[Any, Any]:
    """Return pyarrow and one of its modules, or raise an error where it is missing or not safe."""
    try:
        arrow, named = importlib.import_module("pyarrow"), importlib.import_module(f"pyarrow.{module}")
    except ImportError:
        raise DataError(
            f"{source} is {what}, which needs the package pyarrow; install it, or save the rows as CSV or NPZ"
        ) from None
    if tuple(int(digits) for digits in arrow.__version__.split(".")[:3] if digits.isdecimal()) < OLDEST:
        raise DataError(
            f"{source} is {what}, and pyarrow {arrow.__version__} is not safe with files of strangers; install "
            f"{'.'.join(map(str, OLDEST))} or later"
        )
    return arrow, named


def wanted_names(names: Sequence[str], wanted: Wanted, source: str) -> Names:
    """Return which columns are features, label and group; an index that pandas wrote is none of them."""
    check_names(names, source)
    header = [name for name in names if name != INDEX]
    columns = columns_of(header, wanted, source, index=None)
    if not columns.features:
        raise DataError(f"{source} has no column left to be a feature; it must hold features and a label")
    left_out = f"the index that pandas wrote into {source} was left out"
    return Names(
        tuple(header[place] for place in columns.features),
        None if columns.label is None else header[columns.label],
        None if columns.group is None else header[columns.group],
        (left_out,) if len(header) < len(names) else (),
    )


def room_for(n_rows: int, names: Names, source: str, beside: int = 0) -> Array:
    """Return an empty matrix for the features once it is known to fit, and ``beside`` bytes with it."""
    shape = (n_rows, len(names.features))
    check_matrix(np.dtype(np.float64), shape, "X", source)
    check_memory(n_rows * (8 * len(names.features) + BYTES_PER_TEXT * len(names.texts)) + beside, source)
    return np.empty(shape)


def numbers(arrow: Any, column: Any, name: str, source: str, wanted: Wanted) -> Array:
    """Return a chunked column as doubles; what is missing is NaN."""
    if not is_number(arrow, column.type):
        raise DataError(
            f"column {short(name)} of {source} holds {_said(column.type)}, not numbers; encode it as numbers, "
            "drop the column, or name it as the label column if it holds the classes",
            change={"label": "", "drop": ""} if wanted.n_features is None else {"label": ""},
        )
    return np.asarray(column.cast(arrow.float64(), safe=False).to_numpy())


def cells(arrow: Any, column: Any, noun: str, source: str, n_packed: int) -> Cells:
    """Return a chunked column of labels or groups as numbers or texts; what is missing is masked.

    Texts are encoded as a dictionary. ``n_packed`` are the bytes of the file, for an array in which each is as wide as
    the longest is out of proportion if a few bytes say that there are millions.
    """
    is_encoded = arrow.types.is_dictionary(column.type)
    kind = column.type.value_type if is_encoded else column.type
    if not (is_number(arrow, kind) or (is_encoded and is_text(arrow, kind))):
        raise DataError(f"the {noun}s of {source} hold {_said(column.type)}; save them as whole numbers or as strings")
    missing = np.asarray(column.is_null().to_numpy())
    if is_encoded:
        whole = column.unify_dictionaries().combine_chunks()
        codes = np.where(missing, 0, whole.indices.fill_null(0).to_numpy(zero_copy_only=False))
        used, places = np.unique(codes[~missing], return_inverse=True)
        texts = [_text(value, noun, source) for value in whole.dictionary.take(arrow.array(used)).to_pylist()]
        for text in texts:
            check_text(text, f"{noun} {short(text)} of {source}")
        values = labels_of_texts(texts or [""])
        what = f"the {noun} column of {source}"
        check_expansion(len(codes) * values.itemsize, n_packed, what, f"shorten the {noun}s")
        check_memory(len(codes) * values.itemsize, what)
        codes[~missing] = places
        return np.ma.array(values[codes], mask=missing)
    found = np.asarray(column.fill_null(False if arrow.types.is_boolean(column.type) else 0).to_numpy())
    if noun == "label":
        found = checked_labels(found, source)
    return np.ma.array(found, mask=missing)


def file_rows(
    X: Array, label: Cells | None, group: Cells | None, names: Names, wanted: Wanted, source: str
) -> FileRows:
    """Return what a reader returns, once no label and no group is missing that is needed."""
    rows = FileRows(X, None, names.features, notes=names.notes)
    if group is not None:
        rows = rows._replace(groups=_complete(group, "group", source))
    if label is not None and label.mask.all():
        label = None
    if label is not None and label.mask.any() and wanted.missing == "drop" and wanted.n_features is None:
        here, lost = ~label.mask, int(label.mask.sum())
        told = f"{count(lost, 'row')} of {source} without a label {'was' if lost == 1 else 'were'} dropped"
        rows = rows._replace(
            X=rows.X[here], groups=None if rows.groups is None else rows.groups[here], notes=(*rows.notes, told)
        )
        label = label[here]
    return rows._replace(X=read_only(rows.X), y=None if label is None else _complete(label, "label", source))


def is_number(arrow: Any, kind: Any) -> bool:
    """Return whether a column of this type can be a feature."""
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def is_text(arrow: Any, kind: Any) -> bool:
    """Return whether a column of this type holds texts, each with bytes of its own."""
    types = arrow.types
    is_string = types.is_string(kind) or types.is_large_string(kind)
    return bool(is_string or types.is_binary(kind) or types.is_large_binary(kind))


def _said(kind: Any) -> str:
    """Return the name of a type, of which a file may make a book."""
    text = printable(str(kind))
    return text if len(text) <= 40 else f"{text[:37]}..."


def _text(value: object, noun: str, source: str) -> str:
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise DataError(f"a {noun} of {source} is not UTF-8 text; save the {noun}s as strings") from None


def _complete(values: Cells, noun: str, source: str) -> Labels:
    """Return labels or groups once it is known that none is missing."""
    if values.mask.any():
        raise DataError(f"the {noun} in row {int(np.argmax(values.mask)) + 1} of {source} is empty; fill it in")
    return np.asarray(values.data)
