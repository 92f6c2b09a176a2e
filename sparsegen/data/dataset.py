"""Labelled data that passed every check: made from arrays, split, and matched to a model's features."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import (
    Labels,
    checked_labels,
    checked_matrix,
    default_names,
    frozen,
    is_number,
    model_order,
    numeric_labels,
    printable,
    read_only,
    short,
)
from sparsegen.data.frames import matrix_and_names
from sparsegen.data.groups import Codes, checked_groups, group_codes
from sparsegen.data.holdout import TellsNormal, parted
from sparsegen.errors import DataError

MAX_FRACTIONS = 20  # different labels that are fractions and may still be classes, such as doses
ROWS_PER_FRACTION = 10


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
    groups: Codes | None = None
    """(n,) group of every row, numbered by first appearance, or ``None``; the parts of a split keep the numbers."""
    rows: Codes | None = None
    """(n,) place of every row among those read, from 0; set where ``split`` took a part of them."""
    notes: tuple[str, ...] = ()
    """Sentences for the user on what reading and splitting found."""
    fill: Array | None = None
    """(d,) what stands for a missing value: the means of the training rows, where some were missing."""


def from_arrays(
    X: Any,
    y: ArrayLike,
    feature_names: Sequence[str] | None = None,
    source: str = "arrays",
    *,
    groups: ArrayLike | None = None,
) -> Dataset:
    """Return a dataset of arrays that are checked as strictly as a file's; features without names become x0, x1, ...

    ``X`` may be a data frame, whose columns then name the features, or a sparse matrix, which is made dense.
    ``groups`` holds a number or a text per row, such as its recording: ``split`` keeps rows of one group together.
    """
    matrix, columns = matrix_and_names(X, source)
    if feature_names is not None:
        columns = tuple(map(str, feature_names))
    names = default_names(matrix.shape[1]) if columns is None else columns
    matrix, labels = checked_matrix(matrix, names, source), checked_labels(np.asarray(y), source)
    if labels.shape != (len(matrix),):
        raise DataError(f"{source} has {len(matrix)} rows but {labels.size} labels; give one label per row")
    codes = None
    if groups is not None:
        codes = read_only(group_codes(checked_groups(np.asarray(groups), len(matrix), source))[0])
    return Dataset(matrix, frozen(labels), names, printable(source), _digest(matrix, labels, names), codes)


def require_classes(dataset: Dataset) -> None:
    """Raise an error unless the labels are at least two classes that a classifier can be trained on."""
    classes = np.unique(dataset.y)
    if len(classes) < 2:
        raise DataError(f"{dataset.source} has one class only ({classes[0].item()!r}); training needs at least two")
    if len(classes) == len(dataset.y) > 10:
        raise DataError(
            f"every row of {dataset.source} has a label of its own; choose a label column that holds a few classes, or "
            "train a regression where labels are measurements",
            change={"label": "", "task": "regress"},
        )
    if may_be_measurements(dataset) and _are_fractions(classes):
        raise DataError(
            f"the labels of {dataset.source} look like measurements and not like classes: {len(classes)} different "
            f"numbers such as {short(classes[0].item())}; train a regression on them, or, as a classifier needs a few "
            "classes, choose another label column or name ranges of these numbers as classes",
            change={"label": "", "task": "regress"},
        )


def may_be_measurements(dataset: Dataset) -> bool:
    """Return whether the labels are numbers, many different ones, with few rows for each."""
    classes = np.unique(dataset.y)
    is_many = len(classes) > MAX_FRACTIONS and len(dataset.y) < ROWS_PER_FRACTION * len(classes)
    return is_many and (classes.dtype.kind != "U" or all(map(is_number, classes.tolist())))


def _are_fractions(classes: Labels) -> bool:
    """Return whether labels are numbers, and not all whole."""
    return classes.dtype.kind == "U" and all(map(is_number, classes.tolist()))


def targets(dataset: Dataset) -> Array:
    """Return the labels as the numbers that a regression learns; raise an error where one is no finite number."""
    return numeric_labels(dataset.y, dataset.source)


def require_spread(dataset: Dataset) -> None:
    """Raise an error unless the labels are at least two different numbers that a regression can be trained on."""
    values = targets(dataset)
    if values.min() == values.max():
        raise DataError(
            f"every row of {dataset.source} has the value {values[0]:g}; a regression needs values that differ"
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


def split(
    dataset: Dataset,
    test_size: float,
    seed: int,
    *,
    has_classes: bool = True,
    is_normal: TellsNormal | None = None,
) -> tuple[Dataset, Dataset]:
    """Return (train, test), the same for the same seed, with the classes' shares kept where they can be.

    Rows of one group are all in the one or all in the other. Labels that are values, and no classes, are not looked at.
    ``is_normal`` tells normal rows from anomalies by their labels: the two kinds are then split one by one.
    """
    train, test, notes = parted(
        dataset.y, dataset.groups, test_size, seed, dataset.source, has_classes=has_classes, is_normal=is_normal
    )
    return replace(taken(dataset, train), notes=dataset.notes + notes), taken(dataset, test)


def match_features(dataset: Dataset, feature_names: Sequence[str] | None, n_features: int) -> Dataset:
    """Return the dataset with its columns in a model's order; by position where either side has no names."""
    order = model_order(dataset.feature_names, feature_names or (), n_features, dataset.source)
    if order == list(range(dataset.X.shape[1])):
        return dataset
    return with_features(dataset, order)


def with_features(dataset: Dataset, columns: Sequence[int]) -> Dataset:
    """Return the dataset with these of its features, in this order."""
    names = tuple(dataset.feature_names[i] for i in columns)
    fill = None if dataset.fill is None else read_only(dataset.fill[list(columns)])
    moved = from_arrays(read_only(dataset.X[:, list(columns)]), dataset.y, names, dataset.source)
    return replace(moved, groups=dataset.groups, rows=dataset.rows, notes=dataset.notes, fill=fill)


def taken(dataset: Dataset, rows: NDArray[np.intp]) -> Dataset:
    """Return some of the rows, with their groups and places."""
    part = from_arrays(read_only(dataset.X[rows]), dataset.y[rows], dataset.feature_names, dataset.source)
    groups = None if dataset.groups is None else read_only(dataset.groups[rows])
    return replace(part, groups=groups, rows=read_only(rows if dataset.rows is None else dataset.rows[rows]))


def _digest(X: Array, y: Labels, names: Sequence[str]) -> str:
    described = json.dumps([list(X.shape), list(names), [] if y.dtype.kind == "i" else y.tolist()])
    digest = hashlib.sha256(described.encode())
    digest.update(np.ascontiguousarray(X, dtype="<f8").data)
    if y.dtype.kind == "i":
        digest.update(np.ascontiguousarray(y, dtype="<i8").data)
    return digest.hexdigest()
