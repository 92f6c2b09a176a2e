"""Rows that are normal and rows that are not: what the labels of a data set mean to a detector of anomalies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparsegen.data.checks import Labels, count, frozen, listed, printable, short
from sparsegen.data.dataset import Dataset, taken
from sparsegen.data.holdout import TellsNormal
from sparsegen.errors import DataError, nearest

ANOMALY, NORMAL = "anomaly", "normal"
OUTLIER_LABELS = {"-1", "1"}
"""What scikit-learn's detectors give; 1 is normal."""
MIN_ROWS = 2


def normal_label(y: Labels, source: str, wanted: str | None = None) -> str:
    """Return which label is that of normal rows, as text; ``wanted`` says so where the labels do not."""
    labels = [str(label) for label in np.unique(y).tolist()]
    if wanted is not None:
        if wanted not in labels:
            raise DataError(
                f"no row of {source} has the label {short(wanted)}{nearest(wanted, labels)}, which normal rows "
                f"should have; its labels are {listed(labels)}",
                change={"normal": ""},
            )
        return wanted
    if len(labels) == 1:
        return labels[0]
    if NORMAL in labels:
        return NORMAL
    if set(labels) == OUTLIER_LABELS:
        return "1"
    raise DataError(
        f"which of the labels of {source} is that of normal rows is not clear: {listed(labels)}; name it",
        change={"normal": "LABEL"},
    )


def teller(source: str, wanted: str | None = None) -> TellsNormal:
    """Return what tells which labels of rows from ``source`` are normal; it raises an error where that is not clear."""

    def tells(y: Labels) -> NDArray[np.bool_]:
        return np.asarray(normal_or_not(y, normal_label(y, source, wanted)) == NORMAL)

    return tells


def normal_or_not(y: Labels, normal: str) -> Labels:
    """Return labels as ``normal`` and ``anomaly``: normal where the label, as text, is the one named."""
    distinct, codes = np.unique(y, return_inverse=True)
    is_normal = np.array([str(label) == normal for label in distinct.tolist()], dtype=np.bool_)
    return frozen(np.where(is_normal[codes], NORMAL, ANOMALY))


def labels_of_detector(y: Labels, source: str, normal: str | None) -> Labels:
    """Return labels of a file as ``normal`` and ``anomaly``; ``normal`` is what it called normal rows in training.

    They may be called so in the file as well. Where nothing is known of training, 1 is normal and -1 is not.
    """
    labels = {str(label) for label in np.unique(y).tolist()}
    if normal in labels:
        return normal_or_not(y, str(normal))
    if normal is None and labels <= OUTLIER_LABELS:
        return normal_or_not(y, "1")
    if labels <= {ANOMALY, NORMAL}:
        return y
    known = "" if normal is None else f" the label {short(normal)}, as normal rows had in training, nor"
    raise DataError(
        f"no row of {printable(source)} has{known} the label {NORMAL!r}; its labels are {listed(sorted(labels))}: name "
        f"the column that holds the labels, or call the rows {NORMAL!r} and {ANOMALY!r} in it",
        change={"label": ""},
    )


def told_apart(dataset: Dataset, normal: str) -> Dataset:
    """Return the rows with the labels ``normal`` and ``anomaly``."""
    return replace(dataset, y=normal_or_not(dataset.y, normal))


def part_of(dataset: Dataset, rows: NDArray[np.bool_]) -> Dataset:
    """Return the rows that a mask keeps, one at least, with their groups."""
    part = taken(dataset, np.flatnonzero(rows))
    return part if dataset.rows is not None else replace(part, rows=None)


def require_normal_rows(dataset: Dataset, n_vectors: object) -> None:
    """Raise an error unless there are normal rows to train on, one for every vector at least."""
    n = int(np.count_nonzero(dataset.y == NORMAL))
    needed = max(MIN_ROWS, n_vectors) if isinstance(n_vectors, int) else MIN_ROWS
    if n < needed:
        raise DataError(
            f"{count(n, 'normal row')} of {dataset.source} {'is' if n == 1 else 'are'} there to train on, but {needed} "
            "are needed; bring more, or take fewer vectors",
            change={"vectors": ""},
        )
