"""GridReader: how a raw feature becomes an index of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.curves import Integers
from sparsegen.lowering.formats import InputKind
from sparsegen.lowering.program import float32

INT16_MAX = 2**15 - 1
MAX_SHIFT = 24
MAX_BIAS = 2.0**30 + 2.0**14  # plus a product of two int16, it stays within int32
BYTE_SHIFT = 16  # two whole bytes: 8-bit processors then drop two registers and shift nothing
MULTIPLIER_PER_LEVEL = 4  # a multiplier of at least this many times the levels loses at most an eighth of a step


@dataclass(frozen=True)
class GridReader:
    """How a raw feature becomes an index of the grid: 0 to ``levels``.

    Floats: ``(x - offset) * factor`` in float32, truncated. Raw integers: ``(x * multiplier + bias) >> shift``.
    Indices are taken as they are.
    """

    kind: InputKind
    levels: int
    offset: NDArray[np.float32]
    factor: NDArray[np.float32]
    multiplier: Integers
    bias: Integers
    shift: Integers

    @property
    def is_identity(self) -> bool:
        """Whether features are already indices of the grid."""
        if self.kind.dtype == np.uint8 and self.levels == np.iinfo(np.uint8).max:
            one = np.left_shift(1, self.shift)
            return bool(np.all(self.multiplier == one) and np.all(self.bias == one >> 1))
        return self.kind.is_grid

    @property
    def common_shift(self) -> int | None:
        """The shift that all features share, or ``None`` if they differ."""
        return int(self.shift[0]) if np.all(self.shift == self.shift[0]) else None

    def __call__(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices of rows in the program's input type."""
        if self.is_identity:
            return inputs.astype(np.int64)
        if self.kind.is_float:
            with np.errstate(over="ignore", invalid="ignore"):  # infinities and NaN are valid inputs
                real = (inputs.astype(np.float32) - self.offset) * self.factor
            real = np.where(real > 0.0, np.minimum(real, np.float32(self.levels)), np.float32(0.0))
            return real.astype(np.int64)
        t = inputs.astype(np.int64) * self.multiplier + self.bias
        return np.asarray(np.minimum(np.maximum(t, 0) >> self.shift, self.levels))


def make_reader(kind: InputKind, low: Array, step: Array, levels: int) -> GridReader:
    """Return how raw features of a kind become indices: ``low`` is index 0, neighbours are ``step`` apart."""
    half = low - step / 2.0
    start = np.abs(half / step)
    largest = np.minimum(INT16_MAX * step, np.minimum(2.0**30 / (levels + 1), 2.0**30 / np.maximum(start, 1.0)))
    shift = np.clip(np.floor(np.log2(np.maximum(largest, 1.0))), 0, MAX_SHIFT)
    if np.all(shift >= BYTE_SHIFT) and np.all(2.0**BYTE_SHIFT / step >= MULTIPLIER_PER_LEVEL * levels):
        shift = np.full_like(shift, BYTE_SHIFT)
    factor = 2.0**shift
    multiplier = np.clip(np.rint(factor / step), 0, INT16_MAX)
    # The bias makes the rounded multiplier exact in the middle of the range rather than at 0, which may be far away.
    bias = np.rint((levels / 2.0 + 0.5) * factor - multiplier * (low + step * (levels / 2.0)))
    bias = np.clip(bias, -MAX_BIAS, MAX_BIAS)
    return GridReader(
        kind,
        levels,
        float32(half),
        float32(1.0 / step),
        multiplier.astype(np.int64),
        bias.astype(np.int64),
        shift.astype(np.int64),
    )
