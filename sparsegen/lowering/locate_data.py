"""Raw rows like those a model was trained on, made from its expansion vectors, which lie where the data lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.model import SparseModel

STAND_INS = 4000
NOISE = 0.3  # units of the scaler


def raw_inputs(model: SparseModel) -> Array:
    """Return raw rows that the transform takes to the expansion vectors (closest in the least-squares sense)."""
    return model.transform.inverse(model.vectors)


def thinned(rows: NDArray[Any], most: int) -> NDArray[Any]:
    """Return at most ``most`` of the rows, evenly spaced and the same ones every time."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]


def data_like(model: SparseModel) -> Array:
    """Return the raw expansion vectors, points halfway between them, and points one unit of the scaler away.

    Where a NaN counts as something, a row of nothing but NaN belongs to them, as what it counts as.
    """
    rows = raw_inputs(model)
    beside = (-1.0) ** np.add.outer(np.arange(len(rows)), np.arange(rows.shape[1])) / model.transform.scale
    fill = model.transform.fill
    empty = np.empty((0, rows.shape[1])) if fill is None else fill[np.newaxis]
    return np.vstack([rows, (rows + np.roll(rows, 1, axis=0)) / 2.0, rows + beside, empty])


def stand_in_rows(model: SparseModel, low: Array, high: Array) -> Array:
    """Return raw rows within a box, to choose scales on when there is no data: the same ones every time.

    They are those of :func:`data_like` and noisy points on the lines between vectors.
    """
    rng = np.random.default_rng(0)
    rows = raw_inputs(model)
    first, second = rng.integers(0, len(rows), (2, STAND_INS))
    share = rng.random((STAND_INS, 1))
    noise = NOISE * rng.normal(size=(STAND_INS, rows.shape[1])) / model.transform.scale
    between = share * rows[first] + (1.0 - share) * rows[second] + noise
    return np.asarray(np.clip(np.vstack([data_like(model), between]), low, high))
