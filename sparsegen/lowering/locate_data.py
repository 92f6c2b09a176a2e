"""Raw rows like those a model was trained on, made from its expansion vectors, which lie where the data lies."""

from __future__ import annotations

import numpy as np

from sparsegen.expression import Array
from sparsegen.model import SparseModel


def raw_inputs(model: SparseModel) -> Array:
    """Return raw rows that the transform takes to the expansion vectors (closest in the least-squares sense)."""
    T = model.transform
    scaled = model.vectors if T.projection is None else model.vectors @ np.linalg.pinv(T.projection).T
    return np.asarray(T.offset + scaled / T.scale)


def data_like(model: SparseModel) -> Array:
    """Return the raw expansion vectors, points halfway between them, and points one unit of the scaler beside them."""
    rows = raw_inputs(model)
    beside = (-1.0) ** np.add.outer(np.arange(len(rows)), np.arange(rows.shape[1])) / model.transform.scale
    return np.vstack([rows, (rows + np.roll(rows, 1, axis=0)) / 2.0, rows + beside])
