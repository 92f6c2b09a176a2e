"""Refuse models whose numbers are so large or so small that integers cannot be scaled for them."""

from __future__ import annotations

import numpy as np

from sparsegen.errors import ModelError
from sparsegen.model import SparseModel

LARGEST = 1e30  # float32, which devices read, ends at 3.4e38; squares and sums of these stay far within float64
SMALLEST_SCALE = 1e-30


def check_magnitudes(model: SparseModel) -> None:
    """Raise an error where a number of the model, or the inverse of a scale, is beyond what scales are chosen from."""
    T = model.transform
    arrays = {
        "vectors": model.vectors,
        "coef": model.coef,
        "intercept": model.intercept,
        "offset": T.offset,
        "scale": T.scale,
        "projection": np.zeros(1) if T.projection is None else T.projection,
        "fill": np.zeros(1) if T.fill is None else T.fill,
    }
    for name, values in arrays.items():
        largest = float(np.abs(values).max())
        if largest > LARGEST:
            raise ModelError(f"{name} holds values up to {largest:.3g}, too large for integers; rescale the features")
    if np.abs(T.scale).min() < SMALLEST_SCALE:
        raise ModelError(f"scale holds {np.abs(T.scale).min():.3g}, too small for integers; remove constant features")
