"""FloatReader: float32 features become indices of the grid in integer arithmetic, by the bits of the float.

A float is ``+-digits * 2^exponent``. Shifted to the right by how much its exponent is smaller than the largest one of
its feature, the digits become a fixed-point number, its place::

    place = floor(|x| / unit), or where the sign is minus, -1 - floor(|x| / unit)
    index = ((place - start) * multiplier) >> shift

Both are kept within what they can be; a NaN counts as the fill of its feature, without one as minus infinity. So a
place is 0 to 1 less than x in units. It has 15 binary digits where that costs next to nothing of a step, otherwise 30,
more than the 24 of a float.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import ModelError
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.curves import Integers
from sparsegen.lowering.formats import InputKind
from sparsegen.lowering.grid_reader import GridReader
from sparsegen.lowering.program import float32

NARROW, WIDE = 15, 30
"""Digits of a place: a place, and the difference of two, fit in 16 and 17 bits, or in 31 and 32."""
FLOAT_DIGITS = 24  # the first of which is not stored
MAX_LOST = 1.0 / 32.0
"""Steps that narrow places, and an exponent that all features share, may cost."""
EXPONENT_OF_ONE = 127
LARGEST_EXPONENT = 254  # of a finite number
INFINITY = 0x7F800000
MIN_STEP = 2.0**-120  # 32 units where they are smallest
BYTE = 8
UPPER_HALF_OFF = 3  # by which the upper half of a wide product may be too small
FLOAT64_ROUNDINGS = 8.0 * 2.0**-52
"""What float64 may lose of an index in this module, relative to the largest place."""


@dataclass(frozen=True)
class FloatReader(GridReader):
    """``((place - start) * multiplier) >> (word + shift)``, kept on the grid."""

    digits: int
    """Of a place."""
    exponent: Integers
    """The largest exponent that a place of each feature holds, as a float stores it."""
    start: Integers
    """The place after which index 0 begins."""
    multiplier: Integers
    shift: int
    """Of a product's upper half."""
    fill: Array | None = None
    """What a NaN counts as in each feature."""

    @property
    def is_identity(self) -> bool:
        """Whether features are already indices of the grid."""
        return False

    @property
    def is_wide(self) -> bool:
        """Whether a place needs more than 16 bits."""
        return self.digits == WIDE

    @property
    def word(self) -> int:
        """Bits of a multiplier, and of either half of a product."""
        return _word(self.digits)

    @property
    def unit(self) -> Array:
        """The distance between neighbouring places of every feature."""
        return _unit(self.digits, self.exponent)

    @property
    def fill_place(self) -> Integers | None:
        """The place of a NaN in each feature; ``None`` for minus infinity."""
        return None if self.fill is None else self._number_place(float32(self.fill))

    def place(self, inputs: NDArray[Any]) -> Integers:
        """Return the fixed-point numbers of float32 features."""
        own, missing = self._number_place(inputs), self.fill_place
        return own if missing is None else np.where(np.isnan(inputs), missing, own)

    def _number_place(self, inputs: NDArray[Any]) -> Integers:
        stored = np.ascontiguousarray(inputs, dtype=np.float32).view(np.uint32).astype(np.int64)
        size = stored & 0x7FFFFFFF
        down = self.exponent - (size >> 23)
        digits = ((stored & 0x7FFFFF) | 0x800000) << self.digits >> FLOAT_DIGITS
        units = np.where(down >= 0, digits >> np.clip(down, 0, self.digits), 2**self.digits - 1)
        is_negative = (stored != size) | (size > INFINITY)
        return np.asarray(np.where(is_negative, -1 - units, units), dtype=np.int64)

    def __call__(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices of rows in the program's input type."""
        above = np.maximum(self.place(inputs) - self.start, 0)
        index = _upper_half(above, self.multiplier, self.word) >> self.shift
        return np.asarray(np.minimum(index, self.levels), dtype=np.int64)

    def lost(self, low: Array, step: Array, inside: Box) -> Array:
        """Return how far what is rounded down to an index may lie from what it should be, in steps.

        A place is 0 to 1 less than its feature in units. The rest is linear in the feature and in that loss, so it is
        largest at one of their ends.
        """
        begin, unit, scale = low - step / 2.0, self.unit, self.multiplier / 2.0 ** (self.word + self.shift)
        found = np.zeros(len(low))
        for x in (inside.low, inside.high):
            held = np.clip(x / unit, -(2.0**self.digits), 2.0**self.digits)
            beyond = np.abs(x - held * unit) / step
            for rounded in (0.0, 1.0):
                read = (held - rounded - self.start) * scale
                found = np.maximum(found, np.abs(read - (x - begin) / step) + beyond)
        size = np.max(np.abs([begin, begin + (self.levels + 1) * step, inside.low, inside.high]), axis=0)
        found += FLOAT64_ROUNDINGS * size * (1.0 / step + scale / unit)
        return np.asarray(found + (UPPER_HALF_OFF * 2.0**-self.shift if self.is_wide else 0.0))

    def error(self, low: Array, step: Array, inside: Box) -> Array:
        """Return how far an index may lie from its feature, in steps, for inputs between the ends of a box."""
        beyond = np.maximum(low - inside.low, inside.high - (low + step * self.levels)) / step
        rounded = 0.0 if self.fill is None else np.abs(float32(self.fill) - self.fill) / step
        return np.asarray(np.maximum(0.5 + self.lost(low, step, inside), beyond) + rounded)

    def intervals(self) -> dict[str, tuple[int, int]]:
        """Return the smallest and largest value of every intermediate result, whatever the inputs are."""
        ends = [int(edge - start) for edge in (-(2**self.digits), 2**self.digits - 1) for start in self.start]
        above = 2**self.digits - 1 - self.start
        return {
            "feature above its start": (min(ends), max(ends)),
            "unsigned scaled feature": (0, int(_upper_half(above, self.multiplier, self.word).max())),
        }


def make_float_reader(kind: InputKind, low: Array, step: Array, levels: int, fill: Array | None = None) -> FloatReader:
    """Return how floats become indices: ``low`` is index 0, neighbours are ``step`` apart.

    It has the shortest tables that cost next to nothing of a step, or where none do, the longest.
    """
    if np.any(step < MIN_STEP):
        raise ModelError(f"a step of {step.min():g} is too small to read; rescale the features before training")
    ends = Box(low - step / 2.0, low + (levels + 0.5) * step)
    _, power = np.frexp(np.maximum(np.abs(ends.low), np.abs(ends.high)))  # all are less than 2^power
    own = power.astype(np.int64) + EXPONENT_OF_ONE - 1
    for digits in (NARROW, WIDE):
        for exponent in (np.full_like(own, own.max()), own):
            reader = replace(_with_exponents(kind, digits, exponent, low, step, levels), fill=fill)
            if np.all(reader.lost(low, step, ends) <= MAX_LOST):
                return reader
    return reader


def _with_exponents(
    kind: InputKind, digits: int, exponent: Integers, low: Array, step: Array, levels: int
) -> FloatReader:
    """Return the reader with places that hold some exponents."""
    # From the least exponent on, what is left of a subnormal number, whose first digit is not 1, is 0.
    exponent = np.clip(exponent, digits, LARGEST_EXPONENT)
    unit, word = _unit(digits, exponent), _word(digits)
    shift = int(np.clip(np.floor(np.log2(np.min(step / unit) * (2.0**word - 1.0))) - word, 0, word - 1))
    if digits == WIDE and shift >= BYTE:
        shift -= shift % BYTE  # 8-bit processors then drop registers and shift nothing
    factor = 2.0 ** (word + shift)
    multiplier = np.clip(np.rint(factor * unit / step), 1.0, 2.0**word - 1.0)
    # Exact in the middle of the grid, for a place that has lost half a unit.
    middle = (low + step * (levels / 2.0)) / unit - 0.5
    start = np.rint(middle - (levels + 1) / 2.0 * factor / multiplier)
    start = np.clip(start, 1.0 - 2.0**digits, 2.0**digits - 1.0)
    return FloatReader(kind, levels, digits, exponent, start.astype(np.int64), multiplier.astype(np.int64), shift)


def _word(digits: int) -> int:
    return 16 if digits == NARROW else 32


def _unit(digits: int, exponent: Integers) -> Array:
    return np.ldexp(1.0, exponent - EXPONENT_OF_ONE - (digits - 1))


def _upper_half(a: Integers, b: Integers, word: int) -> Integers:
    """Return the upper half of products of two words, as the program computes it."""
    if word == 16:
        return np.asarray(a * b >> 16)
    high_a, high_b, low = a >> 16, b >> 16, 2**16 - 1
    return np.asarray(high_a * high_b + (high_a * (b & low) >> 16) + ((a & low) * high_b >> 16))
