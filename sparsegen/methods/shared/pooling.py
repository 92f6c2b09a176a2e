"""Local averages: neighbouring features of an image or a series, put together in blocks before a projection sees them.

All features of a block have the same column in the projection, so an export adds them up first and stores one column
for each block. A block of q features is worth their sum over sqrt(q): where neighbours are alike, distances between
rows stay what they were, and gamma keeps its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import OptionError
from sparsegen.methods.shared.layout import parse_layout
from sparsegen.solvers.blocks import row_slices

ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Pooling:
    """Features in rows and columns (row after row), and blocks of them; the last blocks may be smaller."""

    height: int
    width: int
    block_height: int
    block_width: int

    @classmethod
    def parse(cls, text: str, n_features: int) -> Pooling:
        """Return the pooling that ``HEIGHTxWIDTH/ROWSxCOLUMNS`` says, such as ``28x28/2x2``."""
        pooling = cls(*parse_layout("pool", text, n_features))
        if 0 in (pooling.block_height, pooling.block_width):
            raise OptionError(f"the blocks of pool {text!r} are empty; choose larger ones")
        if pooling.block_height > pooling.height or pooling.block_width > pooling.width:
            raise OptionError(f"the blocks of pool {text!r} are larger than the whole; choose smaller ones")
        return pooling

    @property
    def group(self) -> NDArray[np.intp]:
        """The block that each feature belongs to."""
        across = -(-self.width // self.block_width)
        rows = np.arange(self.height) // self.block_height
        return np.asarray((rows[:, None] * across + np.arange(self.width) // self.block_width).ravel())

    @property
    def weight(self) -> Array:
        """What the sum of each block counts."""
        return np.asarray(1.0 / np.sqrt(np.bincount(self.group)))

    def __call__(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return one value for every block, a row for each row of ``X``, in its type."""
        down = np.arange(0, self.height, self.block_height)
        across = np.arange(0, self.width, self.block_width)
        pooled = np.empty((len(X), len(down) * len(across)), dtype=X.dtype)
        weight = self.weight.astype(X.dtype)
        for rows in row_slices(len(X), ROWS_AT_ONCE):
            image = X[rows].reshape(-1, self.height, self.width)
            sums = np.add.reduceat(np.add.reduceat(image, down, axis=1), across, axis=2)
            pooled[rows] = sums.reshape(len(image), -1) * weight
        return pooled

    def spread(self, P: Array) -> Array:
        """Return the projection of the features that does what ``P`` does to the blocks."""
        return np.asarray((P * self.weight)[:, self.group])
