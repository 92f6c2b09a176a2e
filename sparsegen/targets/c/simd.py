"""Float loops for processors with vector instructions: the sums of many vectors side by side.

The table holds vectors in blocks, and in a block feature by feature, so that a compiler finds neighbours to add at
once. Every sum keeps the order of the portable loops, so the scores are theirs to the bit. The C is in
templates/c/float_functions.c.j2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array

WIDTH = 32  # gcc -O3 writes loops of up to 16 rounds out, and then adds a vector's features side by side instead
FEWEST_VECTORS = 8  # a block of fewer costs more than they do one after the other


@dataclass(frozen=True)
class Blocks:
    """How the vectors of one loop lie in blocks."""

    n_vectors: int
    leads: bool
    """Whether constant terms precede the features of a block."""
    width: int = WIDTH
    """Vectors of one block; the last is filled up with zeros, which nothing reads as a vector."""

    @property
    def fills_up(self) -> bool:
        """Whether the last block holds fewer vectors."""
        return self.n_vectors % self.width != 0

    @property
    def first_feature(self) -> str:
        """The subscript of the first feature of vector i in a block."""
        return f"i + {self.width}" if self.leads else "i"

    @property
    def first_advance(self) -> int:
        """Numbers in a block up to its second feature."""
        return (1 + self.leads) * self.width

    def table(self, vectors: Array) -> Array:
        """Return a table with one row per vector in the order in which the loops read it."""
        m, n = vectors.shape
        filled = np.zeros((-m % self.width + m, n))
        filled[:m] = vectors
        return filled.reshape(-1, self.width, n).transpose(0, 2, 1)


def make_blocks(n_vectors: int, leads: bool) -> Blocks | None:
    """Return the blocks of so many vectors, or ``None`` where one after the other is faster."""
    return Blocks(n_vectors, leads) if n_vectors >= FEWEST_VECTORS else None
