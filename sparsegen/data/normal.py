"""Rows that are normal and rows that are not: what the labels of a data set mean to a detector of anomalies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.data.checks import Labels, count, frozen, listed, short
from sparsegen.data.dataset import Dataset
from sparsegen.errors import DataError, nearest

ANOMALY, NORMAL = "anomaly", "normal"
OUTLIER_LABELS = {"-1", "1"}
"""What scikit-learn's detectors give; 1 is normal."""
MIN_ROWS = 2


def normal_label(dataset: Dataset, wanted: str | None = None) -> str:
    """Return which label is that of normal rows, as text; ``wanted`` says so where the labels do not."""
    labels = [str(label) for label in np.unique(dataset.y).tolist()]
    if wanted is not None:
        if wanted not in labels:
            raise DataError(
                f"no row of {dataset.source} has the label {short(wanted)}{nearest(wanted, labels)}, which normal rows "
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
        f"which of the labels of {dataset.source} is that of normal rows is not clear: {listed(labels)}; name it",
        change={"normal": "LABEL"},
    )


def normal_or_not(y: Labels, normal: str) -> Labels:
    """Return labels as ``normal`` and ``anomaly``: normal where the label, as text, is the one named."""
    distinct, codes = np.unique(y, return_inverse=True)
    return frozen(np.array([NORMAL if str(label) == normal else ANOMALY for label in distinct.tolist()])[codes])


def told_apart(dataset: Dataset, normal: str) -> Dataset:
    """Return the rows with the labels ``normal`` and ``anomaly``."""
    return replace(dataset, y=normal_or_not(dataset.y, normal))


def part_of(dataset: Dataset, rows: Labels) -> Dataset:
    """Return the rows that a mask keeps, with their groups."""
    keep = np.flatnonzero(rows)
    groups = None if dataset.groups is None else dataset.groups[keep]
    places = None if dataset.rows is None else dataset.rows[keep]
    return replace(dataset, X=dataset.X[keep], y=dataset.y[keep], groups=groups, rows=places)


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
