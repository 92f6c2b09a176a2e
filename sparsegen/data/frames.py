"""Rows as Python programs hold them: arrays, data frames and sparse matrices, as a matrix of doubles with names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import check_matrix, check_names, numeric_matrix, read_only, short
from sparsegen.data.memory import check_memory
from sparsegen.errors import DataError


def matrix_and_names(X: Any, source: str) -> tuple[Array, tuple[str, ...] | None]:
    """Return rows as doubles, and the names of a frame's columns, be it of pandas or Polars."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names = tuple(str(name) for name in X.columns)
        check_names(names, source)
        return _frame_matrix(X, names, source), names
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        check_matrix(X.dtype, X.shape, "X", source)
        check_memory(8 * X.shape[0] * X.shape[1], f"X of {source}, which is stored sparse and made dense,")
        return read_only(np.asarray(X.toarray(), dtype=np.float64)), None
    return numeric_matrix(np.asarray(X), "X", source), None


def _frame_matrix(frame: Any, names: tuple[str, ...], source: str) -> Array:
    check_matrix(np.dtype(np.float64), frame.shape, "X", source)
    check_memory(8 * frame.shape[0] * frame.shape[1], f"X of {source}")
    X = np.empty(frame.shape)
    for place, (column, name) in enumerate(zip(frame.columns, names, strict=True)):
        X[:, place] = _numbers(frame[column], name, source)
    return read_only(X)


def _numbers(column: Any, name: str, source: str) -> NDArray[Any]:
    """Return a column's numbers; a missing one is NaN, as in the column types of pandas that know what is missing."""
    kind = getattr(column.dtype, "kind", None)
    if kind is not None and kind in "biuf" and not isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = np.asarray(column.to_numpy())
    if values.dtype.kind not in "biuf":
        raise DataError(
            f"column {short(name)} of {source} holds {column.dtype}, not real numbers; encode it as numbers, or drop it"
        )
    return values
