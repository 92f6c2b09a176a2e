"""Curves: how a kernel falls with an integer distance, as the device computes it. 2^15 stands for 1.

`HalfPower` is ``2^-(d / 2^octave)``: Gaussian and Laplacian, whose grid is chosen so that nothing is multiplied.
`SampledCurve` is any other kernel that falls with its distance, as a table and lines between its entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array

Integers = NDArray[np.int64]

WORD_BITS = 32
KERNEL_BITS = 15  # K = 1 is 2^15
LARGEST_VALUE = 2**KERNEL_BITS - 1
INTERVALS = 16  # per octave of a table
PLACE_BITS = 8  # the place between two table entries has this many bits
FRACTION_BITS = 12  # of an exponent: 4 bits choose the interval, 8 the place in it, a whole byte
OCTAVES = 16  # 2^-16 is half a unit, so larger exponents give 0; with the fraction an exponent has 16 bits
CHORD_CORRECTION = (math.log(2.0) / INTERVALS) ** 2 / 16.0  # half the height of a chord above 2^-f, relative to 2^-f
HALF_UNIT = 2.0 ** -(KERNEL_BITS + 1)
TARGET_ERROR = 2e-4  # of a sampled curve: as good as a half power
NARROW_INTERVALS = INTERVALS << 1  # that have the narrowest width, starting at 0


@dataclass(frozen=True)
class HalfPower:
    """``2^-(d * 2^doubling / 2^octave)``: a table of 2^-f for f from 0 to 1, a line between its entries, a shift."""

    octave: int
    """log2 of the distance over which the widest kernel of the program halves."""
    doubling: int = 0
    """log2 of how much faster this one falls."""

    @property
    def end(self) -> int:
        """The value is 0 from this distance on."""
        return (OCTAVES << self.octave) >> self.doubling

    def __call__(self, d: Integers) -> Integers:
        """Return the values at distances."""
        return half_power(d << self.doubling, self.octave)

    def interval(self, d: Integers) -> Integers:
        """Return the table entry before each distance, where the value is not 0."""
        return _interval(_exponent(d << self.doubling, self.octave))

    @cached_property
    def error(self) -> float:
        """The largest error at any distance, found by trying every exponent."""
        own = self.octave - self.doubling  # log2 of the distance over which this kernel halves
        width = max(0, own - FRACTION_BITS)
        d = np.arange(OCTAVES * 2.0 ** min(own, FRACTION_BITS)).astype(np.int64) << width
        K = self(d) / 2.0**KERNEL_BITS
        last = d + (1 << width) - 1
        exact = np.stack([2.0 ** -(d / 2.0**own), 2.0 ** -(last / 2.0**own)])
        return max(float(np.abs(K - exact).max()), 2.0**-OCTAVES)


def half_power(d: Integers, octave: int) -> Integers:
    """Return ``2^15 * 2^-(d / 2^octave)`` as the device computes it."""
    near = d < (OCTAVES << octave)
    d = np.where(near, d, 0)
    z = _exponent(d, octave)
    mantissa = _between(half_power_table(octave), _interval(z), z)
    return np.asarray(np.where(near, mantissa >> (z >> FRACTION_BITS), 0))


def _exponent(d: Integers, octave: int) -> Integers:
    return d >> (octave - FRACTION_BITS) if octave >= FRACTION_BITS else d << (FRACTION_BITS - octave)


def _interval(z: Integers) -> Integers:
    return (z >> PLACE_BITS) & (INTERVALS - 1)


def half_power_table(octave: int) -> Integers:
    """Return ``2^15 * 2^-f`` at the ends of the intervals, lowered a little: lines between them run above the curve.

    If the last bits of an exponent are dropped, f is the middle of the values that they can have.
    """
    middle = 0.5 / 2**FRACTION_BITS if octave > FRACTION_BITS else 0.0
    f = np.arange(INTERVALS + 1) / INTERVALS + middle
    return np.asarray(np.rint((1.0 - CHORD_CORRECTION) * 2.0**KERNEL_BITS * 2.0**-f), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SampledCurve:
    """A table that is finest near 0: 32 intervals of one width, then 16 of twice the width, 16 of four times, ...

    The device shifts the distance to the right until it is below 32 intervals and counts the shifts, as the exponent of
    a floating-point number does.
    """

    width: int
    """log2 of the narrowest interval."""
    values: Integers
    """At the ends of the intervals, falling."""
    error: float
    """The largest error at any distance."""

    @property
    def shifts(self) -> int:
        """How often the distance can be halved."""
        return (len(self.values) - 1 - NARROW_INTERVALS) // INTERVALS

    @property
    def end(self) -> int:
        """The value is 0 from this distance on."""
        return NARROW_INTERVALS << (self.width + self.shifts)

    @property
    def halved_from(self) -> int | None:
        """From this distance on the device halves first, before it shifts to the left; ``None`` if it never must.

        A distance that large has more bits than places need, so the order makes no difference.
        """
        left = max(0, PLACE_BITS - self.width)
        return 1 << (WORD_BITS - left) if self.end > 1 << (WORD_BITS - left) else None

    @property
    def largest_place(self) -> int:
        """The largest value that the distance takes once it is shifted to count places."""
        return ((self.halved_from or self.end) - 1) << max(0, PLACE_BITS - self.width)

    def __call__(self, d: Integers) -> Integers:
        """Return the values at distances."""
        near = d < self.end
        index, z = self._place(np.where(near, d, 0))
        return np.asarray(np.where(near, _between(self.values, index, z), 0))

    def interval(self, d: Integers) -> Integers:
        """Return the table entry before each distance, where the value is not 0."""
        return self._place(np.minimum(d, self.end - 1))[0]

    def _place(self, d: Integers) -> tuple[Integers, Integers]:
        z = d >> (self.width - PLACE_BITS) if self.width >= PLACE_BITS else d << (PLACE_BITS - self.width)
        start = np.zeros_like(z)
        for _ in range(self.shifts):
            far = z >= NARROW_INTERVALS << PLACE_BITS
            z, start = np.where(far, z >> 1, z), start + np.where(far, INTERVALS, 0)
        return start + (z >> PLACE_BITS), z


def _between(table: Integers, index: Integers, z: Integers) -> Integers:
    """Return the value on the line from an entry to the next; the low bits of z say where."""
    place = z & ((1 << PLACE_BITS) - 1)
    return np.asarray(table[index] - (((table[index] - table[index + 1]) * place) >> PLACE_BITS))


def sample_curve(exact: Callable[[Array], Array], largest: int) -> SampledCurve:
    """Return the shortest table of a falling function that reaches ``TARGET_ERROR`` up to the distance ``largest``.

    If none does, return the most accurate one.
    """
    widest = max(0, (largest // NARROW_INTERVALS).bit_length())  # the narrow intervals alone reach beyond the largest
    tried = []
    for width in reversed(range(widest + 1)):
        tried.append(_sampled(exact, largest, width))
        if tried[-1].error <= TARGET_ERROR:
            break
    return min(tried, key=lambda curve: curve.error)


def _sampled(exact: Callable[[Array], Array], largest: int, width: int) -> SampledCurve:
    shifts = 0
    while (
        NARROW_INTERVALS << (width + shifts) <= largest
        and exact(np.array([float(NARROW_INTERVALS << (width + shifts))]))[0] > HALF_UNIT
    ):
        shifts += 1
    first = np.arange(NARROW_INTERVALS) << width
    later = [np.arange(INTERVALS, NARROW_INTERVALS) << (width + shift) for shift in range(1, shifts + 1)]
    ends = np.concatenate([first, *later, [NARROW_INTERVALS << (width + shifts)]])
    step = np.concatenate(
        [np.zeros(NARROW_INTERVALS), *(np.full(INTERVALS, s) for s in range(1, shifts + 1)), [shifts]]
    )
    cut = np.maximum(2.0 ** (width - PLACE_BITS + step), 1.0) - 1.0  # the most that dropped bits can hold
    at = exact(ends + cut / 2.0)
    # A chord lies above a convex curve: lower each entry by half the mean gap in the middle of its two intervals.
    # An interval of width 1 has no distance inside it.
    bend = (at[:-1] + at[1:]) / 2.0 - exact((ends[:-1] + ends[1:] + cut[:-1]) / 2.0)
    bend[np.diff(ends) == 1] = 0.0
    at = at - (np.append(bend, 0.0) + np.insert(bend, 0, bend[0])) / 4.0
    values = np.clip(np.rint(at * 2.0**KERNEL_BITS), 0, LARGEST_VALUE).astype(np.int64)
    curve = SampledCurve(width, np.minimum.accumulate(values), 0.0)
    return SampledCurve(width, curve.values, _error(curve, exact, largest))


def _error(curve: SampledCurve, exact: Callable[[Array], Array], largest: int) -> float:
    """Return the largest error up to the distance ``largest``, found by trying every place between entries."""
    end = NARROW_INTERVALS << PLACE_BITS
    worst = 0.0 if curve.end > largest else float(exact(np.array([float(curve.end)]))[0])
    for shift in range(curve.shifts + 1):
        z = np.arange(end // 2 if shift else 0, end, dtype=np.int64)
        dropped = curve.width - PLACE_BITS + shift
        first = z << dropped if dropped >= 0 else z[z % (1 << -dropped) == 0] >> -dropped
        last = np.minimum(first + (1 << max(0, dropped)) - 1, largest)
        first, last = first[first <= largest], last[first <= largest]
        K = curve(first) / 2.0**KERNEL_BITS
        worst = max(worst, *(float(np.abs(K - exact(d.astype(np.float64))).max(initial=0.0)) for d in (first, last)))
    return worst
