"""Dask arrays, data frames and series as parts: what is computed from a block is computed where the block lives.

Any of Dask's schedulers will do; on a cluster the blocks stay in the workers' memory, and those that are lost with a
worker are made again from where they came. Functions travel by name, so every worker needs sparsegen installed.

Note: between the machines of a cluster Dask itself uses pickle; nothing of ours is ever stored that way.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sparsegen.data.checks import default_names, numeric_matrix, short
from sparsegen.data.labelled_parts import CodedRows, LabelledParts
from sparsegen.data.parts import Parts
from sparsegen.errors import DataError, SparsegenError, ToolError

T = TypeVar("T")
R = TypeVar("R")

SOURCE = "the Dask array"


def dask() -> Any:
    """Return the package, which has no types."""
    return importlib.import_module("dask")


def is_dask(data: object) -> bool:
    """Return whether this is one of Dask's collections; Dask need not be installed to know."""
    return hasattr(data, "__dask_graph__")


@dataclass(frozen=True, eq=False)
class Given:
    """Arguments that all tasks of a pass share; one object, so that a cluster sends it to each worker once."""

    values: tuple[Any, ...]


class DaskParts(Parts[T]):
    """Parts that are delayed values of Dask."""

    def __init__(self, blocks: list[Any]) -> None:
        self._blocks = blocks

    def each(self, function: Callable[..., R], *given: Any) -> list[R]:
        """Return what the function makes of every part, computed side by side."""
        with Said():
            return list(dask().compute(*self._tasks(function, given)))

    def then(self, function: Callable[..., R], *given: Any) -> DaskParts[R]:
        """Return parts that the workers keep as long as somebody here refers to them."""
        with Said():
            return DaskParts(list(dask().persist(*self._tasks(function, given))))

    def in_turn(self, function: Callable[..., R], state: R, *given: Any) -> R:
        """Return the state after the last part; the state travels from block to block."""
        delayed = dask().delayed
        shared, last = delayed(Given(given), traverse=False, pure=False), delayed(state, traverse=False, pure=False)
        for block in self._blocks:
            last = delayed(_continued, pure=False)(function, block, last, shared)
        with Said():
            return cast(R, last.compute())

    def _tasks(self, function: Callable[..., Any], given: tuple[Any, ...]) -> list[Any]:
        delayed = dask().delayed
        shared = delayed(Given(given), traverse=False, pure=False)
        return [delayed(_applied, pure=False)(function, block, shared) for block in self._blocks]


def _applied(function: Callable[..., R], part: Any, given: Given) -> R:
    return function(part, *given.values)


def _continued(function: Callable[..., R], part: Any, state: R, given: Given) -> R:
    return function(part, state, *given.values)


class Said:
    """Turns what a cluster raises into one sentence."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise the sentence in place of the error."""
        if error is None or isinstance(error, SparsegenError):
            return
        name = type(error).__name__
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "sparsegen":
            raise ToolError(
                "a worker of the cluster has no sparsegen; install the same version on every worker"
            ) from error
        if name == "KilledWorker":
            raise ToolError(
                "workers died again and again on one block of rows, mostly for lack of memory; make the blocks smaller "
                "or give workers more memory"
            ) from error
        if name in ("CommClosedError", "FutureCancelledError", "CancelledError", "TimeoutError") or isinstance(
            error, OSError
        ):
            raise ToolError(f"the Dask cluster was lost ({name}); check that its scheduler still runs") from error


def labelled_parts(X: Any, y: Any) -> LabelledParts:
    """Return the rows of a Dask array or data frame with the labels of another, read once and kept by the workers."""
    names = feature_names(X)
    blocks, labels = _row_blocks(X), _label_blocks(y, X)
    if len(blocks) != len(labels):
        raise DataError(
            f"X has {len(blocks)} blocks of rows but y has {len(labels)}; give both the same chunks or partitions"
        )
    with Said():
        return _coded(blocks, labels, names)


def _coded(blocks: list[Any], labels: list[Any], names: NDArray[Any] | None) -> LabelledParts:
    delayed, persist = dask().delayed, dask().persist
    checked = list(persist(*map(delayed(checked_block, pure=False), blocks, labels)))
    read: DaskParts[tuple[NDArray[Any], NDArray[Any]]] = DaskParts(checked)
    seen = list(read.each(labels_of_block))
    filled = [number for number, (classes, _, _) in enumerate(seen) if len(classes)]
    if not filled:
        raise DataError(f"{SOURCE} has no rows")
    widths = {width for _, _, width in seen}
    if len(widths) > 1:
        raise DataError(f"blocks of {SOURCE} have {min(widths)} and {max(widths)} columns; they must have the same")
    if len({seen[number][0].dtype.kind == "U" for number in filled}) > 1:
        raise DataError("some blocks of y hold numbers and others texts; give labels of one kind")
    classes = np.unique(np.concatenate([seen[number][0] for number in filled]))
    if len(classes) < 2:
        raise DataError(f"training needs two classes or more, but every row has the one class {classes[0]!r}")
    counts = np.zeros((len(filled), len(classes)), np.int64)
    for place, number in enumerate(filled):
        here, sizes, _ = seen[number]
        counts[place, np.searchsorted(classes, here)] = sizes
    tasks = [delayed(coded_block, pure=False)(checked[number], classes, place) for place, number in enumerate(filled)]
    return LabelledParts(DaskParts(list(persist(*tasks))), classes, counts, widths.pop(), names)


def feature_names(X: Any) -> NDArray[Any] | None:
    """Return the names of a data frame's columns, as scikit-learn keeps them; ``None`` of an array."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(list(columns), dtype=object)


def _row_blocks(X: Any) -> list[Any]:
    """Return one delayed matrix for each block of rows."""
    if hasattr(X, "columns"):
        return list(X.to_delayed(optimize_graph=False))  # or X and y may be cut in different places
    if not hasattr(X, "rechunk"):
        raise DataError(f"X is a {type(X).__name__} of Dask; give an array or a data frame")
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimensions; give rows and columns")
    return [row[0] for row in X.rechunk({1: -1}).to_delayed()]


def _label_blocks(y: Any, X: Any) -> list[Any]:
    """Return one delayed array of labels for each block of rows of ``X``."""
    if not is_dask(y):
        y = importlib.import_module("dask.array").from_array(np.asarray(y), chunks=-1)
    are_arrays = hasattr(y, "rechunk") and hasattr(X, "chunks") and y.ndim == 1
    if are_arrays and not np.isnan([*X.chunks[0], *y.chunks[0]]).any():  # a block of unknown size has NaN rows
        if len(y) != len(X):
            raise DataError(f"X has {len(X)} rows but y has {len(y)} labels; give one label per row")
        y = y.rechunk((X.chunks[0],))
    return list(np.asarray(y.to_delayed(optimize_graph=False), dtype=object).reshape(-1))


def checked_block(X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a block's rows as numbers and its labels, once they can be trained on."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        for name in columns:
            if getattr(X[name].dtype, "kind", "O") not in "biuf":
                raise DataError(f"column {short(str(name))} holds {X[name].dtype}, not numbers; leave it out of X")
        X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    X = np.asarray(X)
    rows = np.ascontiguousarray(X if X.dtype == np.float32 and X.ndim == 2 else numeric_matrix(X, "X", SOURCE))
    labels = _class_labels(np.asarray(y))
    if len(labels) != len(rows):
        raise DataError(f"a block of X has {len(rows)} rows but that of y has {len(labels)} labels; they must agree")
    finite = np.isfinite(rows)
    if not finite.all():
        column = int(np.argmin(finite.all(axis=0)))
        name = default_names(rows.shape[1])[column] if columns is None else str(columns[column])
        raise DataError(
            f"{SOURCE} holds NaN or infinite values in feature {short(name)}; replace them or drop the rows"
        )
    return rows, labels


def _class_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels that can be sorted: whole numbers as they are, texts as texts."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(f"y has {y.ndim} dimensions; give one label per row")
    if y.dtype.kind == "O" and all(isinstance(label, str) for label in y):
        return y.astype(np.str_)
    if y.dtype.kind == "f" and not (np.isfinite(y).all() and np.array_equal(y, np.rint(y))):
        raise DataError("y holds fractions or missing values, which are no classes; give whole numbers or texts")
    if y.dtype.kind not in "biufU":
        raise DataError(f"y holds {y.dtype}; give whole numbers or texts, none of them missing")
    return y


def labels_of_block(block: tuple[NDArray[Any], NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64], int]:
    """Return a block's classes, how many rows each has, and its number of columns."""
    rows, labels = block
    classes, counts = np.unique(labels, return_counts=True)
    return classes, counts, rows.shape[1]


def coded_block(block: tuple[NDArray[Any], NDArray[Any]], classes: NDArray[Any], number: int) -> CodedRows:
    """Return a block with class indices in place of labels."""
    return CodedRows(block[0], np.searchsorted(classes, block[1]), number)
