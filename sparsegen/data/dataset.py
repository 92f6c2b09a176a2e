"""Labelled data from CSV, NPZ and LIBSVM text: read, checked, split, and matched to a model's features.

Every file is a stranger's: whatever its bytes are, the caller gets arrays that can be used or one sentence
(``DataError``) that says what is wrong, in which row and column, and what to do. Nothing in a file is ever executed.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.data import csv_text, libsvm, npz
from sparsegen.data.checks import (
    MAX_BYTES,
    Labels,
    Rows,
    Wanted,
    checked_matrix,
    default_names,
    frozen,
    gib,
    model_order,
    numeric_matrix,
    plain_labels,
    printable,
)
from sparsegen.errors import DataError, OptionError

READERS: dict[str, Callable[[bytes, str, Wanted], Rows]] = {
    ".csv": csv_text.read,
    ".tsv": csv_text.read,
    ".txt": csv_text.read,  # or LIBSVM, if that is what it looks like
    ".npz": npz.read,
    ".libsvm": libsvm.read,
    ".svm": libsvm.read,
    ".svmlight": libsvm.read,
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with labels that passed every check; the arrays are read-only. Make one with `read` or `from_arrays`."""

    X: Array
    """(n, d), finite"""
    y: Labels
    """(n,) int64 or str"""
    feature_names: tuple[str, ...]
    source: str
    """Name of the file, never its folder: model cards print it."""
    sha256: str
    """Hash of X, y and the feature names, wherever and in whatever format they were stored."""


def read(path: str | Path, label: str | int | None = None, *, part: str = "train") -> Dataset:
    """Return the labelled rows of a CSV, NPZ or LIBSVM file.

    Args:
        path: The file; its suffix says the format, and a ``.txt`` is looked into.
        label: Label column of a CSV by name or by index from 0 (negative: from the end); by default the last.
        part: ``train`` or ``test``: which arrays of an NPZ that holds both.
    """
    rows, source = _read_rows(Path(path), Wanted(label, part))
    if rows.y is None:
        raise DataError(f"every label of {source} is empty; write the class of each row into its label column")
    return from_arrays(rows.X, rows.y, rows.names, source)


def read_features(
    path: str | Path,
    feature_names: Sequence[str] | None,
    label: str | int | None = None,
    *,
    n_features: int | None = None,
    part: str = "test",
) -> tuple[Array, Labels | None]:
    """Return rows in a model's feature order, and their labels if the file has any.

    A CSV that has all of ``feature_names`` may have them in any order, among other columns. Its label column is
    ``label``, which must be there if it is given, or else the last column where that is no feature; it may be missing
    or empty. A model without names takes the columns as they come.
    """
    want = tuple(feature_names or ())
    n = len(want) if n_features is None else n_features
    rows, source = _read_rows(Path(path), Wanted(label, part, n, want))
    names = rows.names or default_names(rows.X.shape[1])
    X = checked_matrix(rows.X, names, source)
    order = model_order(names, want, n, source)
    return X if order == list(range(n)) else frozen(X[:, order]), rows.y


def from_arrays(
    X: ArrayLike, y: ArrayLike, feature_names: Sequence[str] | None = None, source: str = "arrays"
) -> Dataset:
    """Return a dataset of arrays that are checked as strictly as a file's; features without names become x0, x1, ..."""
    matrix = numeric_matrix(np.asarray(X), "X", source)
    names = default_names(matrix.shape[1]) if feature_names is None else tuple(map(str, feature_names))
    matrix, labels = checked_matrix(matrix, names, source), plain_labels(np.asarray(y), source)
    if labels.shape != (len(matrix),):
        raise DataError(f"{source} has {len(matrix)} rows but {labels.size} labels; give one label per row")
    return Dataset(matrix, frozen(labels), names, printable(source), _digest(matrix, labels, names))


def require_classes(dataset: Dataset) -> None:
    """Raise an error unless the labels are at least two classes that a classifier can be trained on."""
    classes = np.unique(dataset.y)
    if len(classes) < 2:
        raise DataError(f"{dataset.source} has one class only ({classes[0].item()!r}); training needs at least two")
    if len(classes) == len(dataset.y) > 10:
        raise DataError(
            f"every row of {dataset.source} has a label of its own; choose a label column that holds a few classes"
        )


def require_rows(dataset: Dataset, n_vectors: int) -> None:
    """Raise an error where there are fewer rows than vectors asked for."""
    if len(dataset.X) < n_vectors:
        raise DataError(
            f"{dataset.source} has {len(dataset.X)} rows for training, fewer than the {n_vectors} vectors asked for; "
            f"ask for at most {len(dataset.X)} vectors or bring more rows"
        )


def constant_features(dataset: Dataset) -> tuple[str, ...]:
    """Return the names of features that have the same value in every row."""
    constant = dataset.X.min(axis=0) == dataset.X.max(axis=0)
    return tuple(name for name, same in zip(dataset.feature_names, constant.tolist(), strict=True) if same)


def split(dataset: Dataset, test_size: float, seed: int) -> tuple[Dataset, Dataset]:
    """Return (train, test), the same for the same seed, with the classes' shares kept where they can be."""
    from sklearn.model_selection import train_test_split

    if not 0 < test_size < 1:
        raise OptionError(f"the share of test rows must lie between 0 and 1, but it is {test_size}")
    if not 0 <= seed < 2**32:
        raise OptionError(f"the seed must lie between 0 and {2**32 - 1}, but it is {seed}")
    n = len(dataset.X)
    n_test = math.ceil(n * test_size)
    if n_test >= n:
        raise DataError(f"{dataset.source} has {n} row(s), too few to keep {test_size:g} of them for testing")
    _, counts = np.unique(dataset.y, return_counts=True)
    stratify = counts.min() >= 2 and len(counts) <= min(n_test, n - n_test)
    train, test = train_test_split(
        np.arange(n), test_size=n_test, random_state=seed, stratify=dataset.y if stratify else None
    )
    return _take(dataset, train), _take(dataset, test)


def match_features(dataset: Dataset, feature_names: Sequence[str] | None, n_features: int) -> Dataset:
    """Return the dataset with its columns in a model's order; by position where either side has no names."""
    order = model_order(dataset.feature_names, feature_names or (), n_features, dataset.source)
    if order == list(range(dataset.X.shape[1])):
        return dataset
    names = tuple(dataset.feature_names[i] for i in order)
    return from_arrays(dataset.X[:, order], dataset.y, names, dataset.source)


def _read_rows(path: Path, wanted: Wanted) -> tuple[Rows, str]:
    """Return what the reader for a file's suffix makes of its bytes, and the file's printable name."""
    raw, source, suffix = _read_bytes(path), printable(path.name), path.suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        raise DataError(f"{source} has a suffix that says no known format; rename it to one of: {', '.join(READERS)}")
    if reader is not npz.read:
        raw = raw.removeprefix(codecs.BOM_UTF8)
        _require_text(raw, source)
    if suffix == ".txt" and libsvm.looks_like_libsvm(raw):
        reader = libsvm.read
    return reader(raw, source, wanted), source


def _read_bytes(path: Path) -> bytes:
    shown = printable(str(path))
    try:
        if path.is_dir():
            raise DataError(f"{shown} is a folder; name a data file in it")
        if not path.exists():
            raise DataError(f"there is no file {shown}; check the path")
        if not path.is_file():
            raise DataError(f"{shown} is not a regular file; copy the data into one")
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{shown} is larger than {gib(MAX_BYTES)}; use a sample of its rows")
        raw = path.read_bytes()
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or "not enough memory"
        raise DataError(f"{shown} cannot be read ({reason}); check its permissions and that it is complete") from None
    if not raw:
        raise DataError(f"{shown} is empty; it must hold a header and rows of data")
    return raw


def _require_text(raw: bytes, source: str) -> None:
    def row(position: int) -> str:
        return f"row {raw.count(10, 0, position) + 1} of {source}"

    zero = raw.find(0)
    if zero >= 0:
        raise DataError(f"{row(zero)} holds a NUL byte, so it is no UTF-8 text; save the data as UTF-8")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{row(error.start)} is not UTF-8 text; save the data as UTF-8") from None


def _take(dataset: Dataset, rows: NDArray[np.intp]) -> Dataset:
    return from_arrays(dataset.X[rows], dataset.y[rows], dataset.feature_names, dataset.source)


def _digest(X: Array, y: Labels, names: Sequence[str]) -> str:
    described = json.dumps([list(X.shape), list(names), [] if y.dtype.kind == "i" else y.tolist()])
    digest = hashlib.sha256(described.encode())
    digest.update(np.ascontiguousarray(X, dtype="<f8").data)
    if y.dtype.kind == "i":
        digest.update(np.ascontiguousarray(y, dtype="<i8").data)
    return digest.hexdigest()
