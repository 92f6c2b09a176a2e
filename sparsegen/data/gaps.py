"""Rows with cells that hold no finite number: refused, dropped, or filled with the means of the training rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import count, listed, read_only, short
from sparsegen.data.readers import FileRows
from sparsegen.errors import DataError, OptionError, nearest

MISSING = ("error", "drop", "mean")
"""What may become of rows with gaps."""


def check_missing(missing: str) -> None:
    """Raise an error where there is no such way with gaps."""
    if missing not in MISSING:
        raise OptionError(
            f"there is no way {missing!r} with missing values{nearest(missing, MISSING)}; choose one of: "
            f"{', '.join(MISSING)}"
        )


def has_gaps(rows: FileRows) -> bool:
    """Return whether a cell holds no finite number."""
    return not np.isfinite(rows.X).all()


def without_gaps(rows: FileRows, source: str) -> FileRows:
    """Return the rows whose cells all hold a number, with a note on the others."""
    whole = np.asarray(np.isfinite(rows.X).all(axis=1))
    if not whole.any():
        raise DataError(
            f"every row of {source} has a cell without a number ({_words(rows, source)}); drop the columns that hold "
            "few, or fill the cells in"
        )
    return rows._replace(
        X=read_only(rows.X[whole]),
        y=None if rows.y is None else rows.y[whole],
        groups=None if rows.groups is None else rows.groups[whole],
        notes=(
            *rows.notes,
            f"{count(int((~whole).sum()), 'row')} of {len(whole)} of {source} dropped for {_words(rows, source)}",
        ),
        gaps=None,
    )


def column_means(X: Array, names: Sequence[str], source: str) -> Array:
    """Return the mean of what is finite in each column, or raise an error where nothing is."""
    finite = np.isfinite(X)
    n_finite = finite.sum(axis=0)
    if not n_finite.all():
        name = names[int(np.argmin(n_finite))]
        raise DataError(
            f"column {short(name)} has no number in any training row of {source}, so it has no mean; drop it",
            change={"drop": ""},
        )
    largest = np.where(finite, np.abs(X), 0.0).max(axis=0)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)  # no sum overflows then, and a power of two rounds nothing
    return np.asarray(np.where(finite, X / scale, 0.0).sum(axis=0) / n_finite * scale)


def filled(rows: FileRows, means: Array, source: str) -> FileRows:
    """Return the rows with each gap filled by its column's mean, and with a note on that."""
    if not has_gaps(rows):
        return rows
    note = f"{_words(rows, source)}: filled with the mean of the training rows, as a device must do before it predicts"
    X = np.where(np.isfinite(rows.X), rows.X, means)
    return rows._replace(X=read_only(X), gaps=None, notes=(*rows.notes, note))


def _words(rows: FileRows, source: str) -> str:
    if rows.gaps is not None:
        return f"{rows.gaps} of {source}"
    bad = ~np.isfinite(rows.X)
    columns = np.flatnonzero(bad.any(axis=0)).tolist()
    named = [f"x{column}" if rows.names is None else rows.names[column] for column in columns]
    cells, places = count(int(bad.sum()), "cell"), count(int(bad.any(axis=1).sum()), "row")
    row, column = np.argwhere(bad)[0].tolist()
    return (
        f"{cells} without a number in {places}, column{'s' * (len(named) > 1)} {listed(named)}, the first in "
        f"X[{row}, {column}] of {source}"
    )
