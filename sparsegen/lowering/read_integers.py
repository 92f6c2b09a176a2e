"""WholeReader: raw integers become indices of the grid by a multiplication, an addition and a shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.curves import Integers
from sparsegen.lowering.formats import InputKind
from sparsegen.lowering.grid_reader import GridReader

INT16_MAX = 2**15 - 1
MAX_SHIFT = 24
MAX_BIAS = 2.0**30 + 2.0**14  # plus a product of two int16, it stays within int32
BYTE_SHIFT = 16  # two whole bytes: 8-bit processors then drop two registers and shift nothing
MULTIPLIER_PER_LEVEL = 4  # a multiplier of at least this many times the levels loses at most an eighth of a step


@dataclass(frozen=True)
class WholeReader(GridReader):
    """``(x * multiplier + bias) >> shift``, kept on the grid."""

    multiplier: Integers
    bias: Integers
    shift: Integers

    @property
    def is_identity(self) -> bool:
        """Whether features are already indices of the grid."""
        if self.kind.dtype != np.uint8 or self.levels != np.iinfo(np.uint8).max:
            return False
        one = np.left_shift(1, self.shift)
        return bool(np.all(self.multiplier == one) and np.all(self.bias == one >> 1))

    def __call__(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices of rows in the program's input type."""
        t = inputs.astype(np.int64) * self.multiplier + self.bias
        return np.asarray(np.minimum(np.maximum(t, 0) >> self.shift, self.levels))

    def error(self, low: Array, step: Array, inside: Box) -> Array:
        """Return how far an index may lie from its feature, in steps: the most of any whole number in the box."""
        found = np.empty(len(low))
        for j in range(len(low)):  # the type has at most 2^16
            x = np.arange(int(inside.low[j]), int(inside.high[j]) + 1)
            t = x * self.multiplier[j] + self.bias[j]
            index = np.minimum(np.maximum(t, 0) >> self.shift[j], self.levels)
            found[j] = np.abs(index - (x - low[j]) / step[j]).max()
        return found

    def intervals(self) -> dict[str, tuple[int, int]]:
        """Return the smallest and largest value of every intermediate result, whatever the inputs are."""
        if self.is_identity or self.kind.dtype is None:
            return {}
        type_ = np.iinfo(self.kind.dtype)
        ends = np.stack([edge * self.multiplier + self.bias for edge in (int(type_.min), int(type_.max))])
        return {"scaled feature": (int(ends.min()), int(ends.max()))}


def make_whole_reader(kind: InputKind, low: Array, step: Array, levels: int) -> WholeReader:
    """Return how whole numbers become indices: ``low`` is index 0, neighbours are ``step`` apart."""
    start = np.abs((low - step / 2.0) / step)
    largest = np.minimum(INT16_MAX * step, np.minimum(2.0**30 / (levels + 1), 2.0**30 / np.maximum(start, 1.0)))
    shift = np.clip(np.floor(np.log2(np.maximum(largest, 1.0))), 0, MAX_SHIFT)
    if np.all(shift >= BYTE_SHIFT) and np.all(2.0**BYTE_SHIFT / step >= MULTIPLIER_PER_LEVEL * levels):
        shift = np.full_like(shift, BYTE_SHIFT)
    factor = 2.0**shift
    multiplier = np.clip(np.rint(factor / step), 0, INT16_MAX)
    # The bias makes the rounded multiplier exact in the middle of the range rather than at 0, which may be far away.
    bias = np.rint((levels / 2.0 + 0.5) * factor - multiplier * (low + step * (levels / 2.0)))
    bias = np.clip(bias, -MAX_BIAS, MAX_BIAS)
    return WholeReader(kind, levels, multiplier.astype(np.int64), bias.astype(np.int64), shift.astype(np.int64))
