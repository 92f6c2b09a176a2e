"""Rows shifted at random: images and series that a sensor might as well have seen a little further to one side.

Training on shifted rows teaches a support vector machine what a shift leaves alone (virtual vectors; Schoelkopf, Burges
and Vapnik 1996). A minibatch shifts each of its rows anew, so nothing is stored, and a prediction costs what it did.
Where a shift leaves a gap, the nearest feature is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.compiled import compiled
from sparsegen.errors import OptionError
from sparsegen.methods.shared.layout import parse_layout
from sparsegen.methods.shared.pooling import Pooling

Indices = NDArray[np.intp]
MOST_ENTRIES = 10_000_000  # of the table of sources: 80 MB


@dataclass(frozen=True)
class Shifting:
    """Rows whose features lie in rows and columns, each shifted by at most so many of either, both ways."""

    sources: Indices
    """(n_shifts, d): the feature that each feature of a shifted row comes from."""
    pooling: Pooling | None = None
    """What adds up a row once it is shifted."""

    @classmethod
    def parse(cls, text: str, n_features: int, pooling: Pooling | None = None) -> Shifting:
        """Return the shifting that ``HEIGHTxWIDTH/ROWSxCOLUMNS`` says, such as ``28x28/1x1`` or ``1x128/0x2``."""
        height, width, most_down, most_across = parse_layout("shifts", text, n_features)
        if most_down >= height or most_across >= width:
            raise OptionError(f"shifts {text!r} push everything out of sight; choose smaller ones")
        if (2 * most_down + 1) * (2 * most_across + 1) * n_features > MOST_ENTRIES:
            raise OptionError(f"shifts {text!r} are too many; choose smaller ones")
        down, across = np.arange(-most_down, most_down + 1), np.arange(-most_across, most_across + 1)
        row = np.clip(np.arange(height) - down[:, None], 0, height - 1)
        column = np.clip(np.arange(width) - across[:, None], 0, width - 1)
        sources = row[:, None, :, None] * width + column[None, :, None, :]
        return cls(np.ascontiguousarray(sources.reshape(-1, n_features)), pooling)

    def draw(self, X: NDArray[Any], rows: Indices, rng: np.random.RandomState) -> NDArray[Any]:
        """Return these rows of ``X``, each shifted at random and then pooled; all shifts are equally likely."""
        shift = rng.randint(len(self.sources), size=len(rows))
        block = np.arange(X.shape[1]) if self.pooling is None else self.pooling.group
        sums = np.zeros((len(rows), int(block[-1]) + 1), X.dtype)
        add_shifted(X, rows, self.sources, shift, block, sums)
        return sums if self.pooling is None else sums * self.pooling.weight.astype(X.dtype)


@compiled
def add_shifted(
    X: NDArray[Any], rows: Indices, sources: Indices, shift: Indices, block: Indices, sums: NDArray[Any]
) -> None:
    """Add row ``rows[i]`` of ``X``, its features taken from ``sources[shift[i]]``, to row i of ``sums`` by blocks."""
    for i in range(len(rows)):
        row, source = X[rows[i]], sources[shift[i]]
        for j in range(len(block)):
            sums[i, block[j]] += row[source[j]]
