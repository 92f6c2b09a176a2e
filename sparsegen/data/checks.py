"""Checks on the numbers, labels and names of a data set, which all readers share, and the words of their messages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import DataError, nearest

Labels = NDArray[Any]  # int64, or fixed-width str

MAX_BYTES = 4 << 30  # of a file and of X in memory: refused before it is allocated, not after the machine swaps
MAX_FEATURES = 100_000  # as many as a model file has room to name
MAX_TEXT = 200  # characters of a label or a feature name

_NUMBER = re.compile(r"[ \t]*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[ \t]*", re.ASCII)


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def is_number(text: str) -> bool:
    """Return whether a cell is a plain decimal; ``float`` also takes ``1_0``, ``nan`` and digits of other scripts."""
    return _NUMBER.fullmatch(text) is not None


def is_finite(text: str) -> bool:
    """Return whether a cell is a plain decimal that a double can hold."""
    return is_number(text) and math.isfinite(float(text))


def numeric_matrix(array: NDArray[Any], key: str, source: str) -> Array:
    """Return an array as a matrix of doubles, or raise an error that says why it cannot be one."""
    check_matrix(array.dtype, array.shape, key, source)
    return np.asarray(array, dtype=np.float64)


def check_matrix(dtype: np.dtype[Any], shape: tuple[int, ...], key: str, source: str) -> None:
    """Raise an error where an array of this type and shape cannot be rows of features."""
    if dtype.kind not in "biuf":
        raise DataError(f"{key} of {source} holds {dtype}, not real numbers; convert it with astype(float)")
    if len(shape) != 2:
        raise DataError(
            f"{key} of {source} has {count(len(shape), 'dimension')}, not rows and columns; save "
            f"{key}.reshape(len({key}), -1)"
        )
    if shape[1] > MAX_FEATURES or math.prod(shape) * 8 > MAX_BYTES:
        raise DataError(f"{key} of {source} has shape {shape}, too large for a small model; use fewer features")


def check_shape(X: Array, names: Sequence[str], source: str) -> None:
    """Raise an error unless there are rows and features, and a usable name for each feature."""
    if 0 in X.shape:
        raise DataError(f"{source} has {count(X.shape[0], 'row')} of {count(X.shape[1], 'feature')}; add data")
    if len(names) != X.shape[1]:
        raise DataError(f"{source} has {count(len(names), 'feature name')} for {count(X.shape[1], 'feature')}")
    check_names(names, source)


def checked_matrix(X: Array, names: Sequence[str], source: str) -> Array:
    """Return X, read-only, once it is known to be finite, named and not empty."""
    check_shape(X, names, source)
    finite = np.isfinite(X)
    if not finite.all():
        row, column = np.argwhere(~finite)[0].tolist()
        n_bad, n_rows = int((~finite).sum()), int((~finite).any(axis=1).sum())
        others = "" if n_bad == 1 else f" (one of {n_bad} such values in {count(n_rows, 'row')})"
        raise DataError(
            f"X[{row}, {column}] of {source} (row {row + 1}, feature {short(names[column])}) is {X[row, column]}"
            f"{others}; replace it or drop the row"
        )
    return frozen(X)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array contiguous and read-only, without freezing the caller's own.

    An array that nobody else holds is made read-only beforehand, which saves the copy.
    """
    if array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.flags.writeable = False
    return array


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that nobody else holds, now read-only."""
    array.flags.writeable = False
    return array


# ---- Labels ----------------------------------------------------------------------------------------------------------


def checked_labels(y: NDArray[Any], source: str) -> Labels:
    """Return labels as int64 where all are whole numbers, as str otherwise."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(f"the labels of {source} have {count(y.ndim, 'dimension')}; save one label per row")
    kind = y.dtype.kind
    if kind in "bi":
        return y.astype(np.int64)
    if kind == "f" and not np.isfinite(y).all():
        raise DataError(f"label {int(np.flatnonzero(~np.isfinite(y))[0]) + 1} of {source} is not a finite number")
    if kind not in "ufUS" and not (kind == "O" and all(isinstance(label, str) for label in y)):
        raise DataError(f"the labels of {source} hold {y.dtype}; save them as whole numbers or as strings")
    distinct, codes = np.unique(y, return_inverse=True)
    try:
        texts = [c.decode() if isinstance(c, bytes) else str(c) for c in distinct.tolist()]
    except UnicodeDecodeError:
        raise DataError(f"a label of {source} is not UTF-8 text; save the labels as strings") from None
    for text in texts:
        check_text(text, f"label {short(text)} of {source}")
    return (labels_of_texts(texts) if kind in "uf" else np.array(texts, dtype=np.str_))[codes]


def labels_of_texts(texts: list[str]) -> Labels:
    """Return int64 where every text is a whole number (``1``, ``1.0``, ``1e0``), the texts otherwise."""
    numbers = [_whole(text) for text in texts]
    if any(number is None for number in numbers):
        return np.array(texts, dtype=np.str_)
    return np.array(numbers, dtype=np.int64)


def numeric_labels(y: NDArray[Any], source: str = "the data") -> NDArray[np.float64]:
    """Return labels as the numbers that they are; raise an error where one is no finite number."""
    distinct, codes = np.unique(y, return_inverse=True)
    texts = [str(label) for label in distinct.tolist()]
    wrong = next((i for i, text in enumerate(texts) if not is_finite(text)), None)
    if wrong is not None:
        raise DataError(
            f"label {int(np.argmax(codes == wrong)) + 1} of {source} is {short(texts[wrong])}, which is no number; "
            "values are numbers, so choose another label column, or a classifier",
            change={"label": ""},
        )
    return np.array([float(text) for text in texts])[codes]


def _whole(text: str) -> int | None:
    if not is_number(text):
        return None
    if re.fullmatch(r"[+-]?\d+", text.strip(), re.ASCII):
        return int(text) if -(2**63) <= int(text) < 2**63 else None
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= 2**53 else None


# ---- Names -----------------------------------------------------------------------------------------------------------


def default_names(n: int) -> tuple[str, ...]:
    """Return x0, x1, ... for features without names."""
    return tuple(f"x{i}" for i in range(n))


def has_names(names: Sequence[str]) -> bool:
    """Return whether somebody chose the names; x0, x1, ... and x1, x2, ... were only counted."""
    return any(name != f"x{i + (names[0] == 'x1')}" for i, name in enumerate(names))


def check_names(names: Sequence[str], source: str) -> None:
    """Raise an error where a name cannot be printed or occurs twice."""
    seen: set[str] = set()
    for name in names:
        check_text(name, f"the column name {short(name)} of {source}")
        if name in seen:
            raise DataError(f"{source} has two columns called {short(name)}; rename one of them")
        seen.add(name)


def model_order(have: Sequence[str], want: Sequence[str], n_features: int, source: str) -> list[int]:
    """Return the column of a file for each feature of a model; by position where either side has no names."""
    place = {name: i for i, name in enumerate(have)}
    if want and len(have) == n_features and place.keys() == set(want):
        return [place[name] for name in want]
    if has_names(want) and has_names(have):
        for name in want:
            if name not in place:
                raise DataError(f"feature {short(name)} of the model is not in {source}{nearest(name, have)}")
        extra = listed(name for name in have if name not in set(want))
        raise DataError(f"{source} has columns that the model does not know: {extra}; remove them")
    if len(have) != n_features:
        raise DataError(
            f"{source} has {count(len(have), 'feature')} where the model has {n_features}; "
            "use the columns that it was trained on"
        )
    return list(range(n_features))


# ---- Words for messages ----------------------------------------------------------------------------------------------


def check_text(text: str, what: str) -> None:
    """Raise an error where a label or a name is empty, long, or not printable."""
    if not text.strip():
        raise DataError(f"{what} is empty; fill it in")
    if len(text) > MAX_TEXT:
        raise DataError(f"{what} is longer than {MAX_TEXT} characters; shorten it")
    if not text.isprintable():
        raise DataError(f"{what} holds a control or invisible character; remove it")


def printable(text: str) -> str:
    """Return the text with ``?`` for every character that could move a terminal's cursor."""
    return "".join(c if c.isprintable() else "?" for c in text)


def short(value: object) -> str:
    """Return a quoted value of at most about 40 characters."""
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}...{shown[-1]}"


def listed(names: Iterable[str]) -> str:
    """Return the first names, quoted."""
    shown = [short(name) for name in names]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")


def count(n: int, noun: str) -> str:
    """Return ``1 row`` or ``2 rows``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def gib(n: int) -> str:
    """Return a number of bytes in GiB."""
    return f"{n >> 30} GiB"
