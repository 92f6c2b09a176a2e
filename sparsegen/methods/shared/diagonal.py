"""K(x, x) of every row."""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import BoundKernel

DIAGONAL_ROWS = 32  # rows per small Gram block of which only the diagonal is kept


def gram_diagonal(X: Array, kernel: BoundKernel) -> Array:
    """Return K(x, x) for every row, from small blocks."""
    parts = np.array_split(X, len(X) // DIAGONAL_ROWS + 1)
    return np.concatenate([kernel.gram(part, part).diagonal() for part in parts])
