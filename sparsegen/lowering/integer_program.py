"""IntegerProgram: a model as the integer loops a device runs, and a simulator of them that is exact to the bit.

In this order, with every value an integer::

    q_j = min(max((x_j * multiplier_j + bias_j) >> shift_j, 0), levels)      the grid; see :class:`Reader`
    q_i = min(max((weights_i . q + bias_i) >> shift, 0), levels)             left out where `projection` is None
    d_u = |q - v_u|^2   or   sum_j |q_j - v_uj|                              for every vector u
    K_u = 2^15 * 2^-(d_u << a) / 2^octave                                    for every kernel, by `half_power`
    out += coef[:, k, u] * K_u
    out += intercept

A score is worth `unit` of the real-valued model's. For a linear kernel ``out = intercept + coef . q``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.model import Label

Integers = NDArray[np.int64]

KERNEL_BITS = 15  # K = 1 is 2^15
INTERVALS = 16  # of the table of 2^-f for f from 0 to 1
FRACTION_BITS = 12  # of the exponent: 4 choose the interval, 8 the place in it, so that bytes need no shifting
PLACE_BITS = 8
OCTAVES = 16  # beyond, K is less than half a unit; 4 bits, which make the exponent 16
CHORD = (math.log(2.0) / INTERVALS) ** 2 / 16.0  # half of how far a chord of 2^-f lies above it, relative
INT16_MAX = 2**15 - 1
INT32_MAX = 2**31 - 1
BLOCK_ENTRIES = 1 << 22


@dataclass(frozen=True)
class Reader:
    """How a raw feature becomes an index of the grid: 0 to ``levels``.

    ``f32`` computes ``(x - offset) * factor`` in float32 and cuts off the fraction; ``raw-int16`` and ``raw-uint8``
    compute ``(x * multiplier + bias) >> shift``; ``grid`` takes indices as they are.
    """

    kind: str
    levels: int
    offset: NDArray[np.float32]
    factor: NDArray[np.float32]
    multiplier: Integers
    bias: Integers
    shift: Integers

    @property
    def is_identity(self) -> bool:
        """Whether features are indices of the grid already."""
        if self.kind == "raw-uint8" and self.levels == np.iinfo(np.uint8).max:
            one = np.left_shift(1, self.shift)
            return bool(np.all(self.multiplier == one) and np.all(self.bias == one >> 1))
        return self.kind == "grid"

    def __call__(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices of rows in the export's input type."""
        if self.is_identity:
            return inputs.astype(np.int64)
        if self.kind == "f32":
            with np.errstate(over="ignore", invalid="ignore"):  # infinities and NaN are inputs like any other
                real = (inputs.astype(np.float32) - self.offset) * self.factor
            real = np.where(real > 0.0, np.minimum(real, np.float32(self.levels)), np.float32(0.0))
            return real.astype(np.int64)
        t = inputs.astype(np.int64) * self.multiplier + self.bias
        return np.asarray(np.minimum(np.maximum(t, 0) >> self.shift, self.levels))


@dataclass(frozen=True)
class IntegerProjection:
    """A projection from one grid to another."""

    weights: Integers
    bias: Integers
    shift: int
    levels: int

    def __call__(self, q: Integers) -> Integers:
        """Return the grid indices of projected rows."""
        return np.asarray(np.minimum(np.maximum(q @ self.weights.T + self.bias, 0) >> self.shift, self.levels))


@dataclass(frozen=True)
class IntegerProgram:
    """What an integer export computes."""

    dtype: str
    reader: Reader
    low: Array
    """Raw value of index 0 of every feature."""
    step: Array
    """Raw distance between neighbouring indices of every feature."""
    high: Array
    """Largest raw value that guarantees cover."""
    projection: IntegerProjection | None
    kernel_grid: tuple[Array, float]
    """Value of index 0, and step, as the kernels see them; meaningless for ``linear``."""
    form: str
    """``square``, ``absolute`` or ``linear``."""
    vectors: Integers
    """(m, values seen by the kernels); empty for ``linear``"""
    levels: int
    """Largest index that the kernels see."""
    octave: int
    """log2 of the distance over which the widest kernel halves."""
    doublings: tuple[int, ...]
    """For every kernel, log2 of how much faster it falls."""
    coef: Integers
    """(n_outputs, kernels, m), or (n_outputs, 1, values seen) for ``linear``"""
    intercept: Integers
    unit: float
    n_features: int
    classes: tuple[Label, ...]
    card: Mapping[str, Any]

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return len(self.intercept)

    @property
    def input_dtype(self) -> np.dtype[Any]:
        """The type of one feature as the export reads it."""
        if self.reader.kind == "grid":
            return np.dtype("uint8" if self.dtype == "q7" else "uint16")
        return np.dtype({"f32": "float32", "raw-int16": "int16", "raw-uint8": "uint8"}[self.reader.kind])

    def inputs(self, X: Array) -> NDArray[Any]:
        """Return raw rows in the type that the export reads: rounded, and cut off at the type's limits."""
        if self.reader.kind == "grid":
            return np.clip(np.floor((X - self.low) / self.step + 0.5), 0, self.reader.levels).astype(self.input_dtype)
        if self.reader.kind == "f32":
            return X.astype(np.float32)
        limits = np.iinfo(self.input_dtype)
        return np.clip(np.rint(X), limits.min, limits.max).astype(self.input_dtype)

    def seen(self, inputs: NDArray[Any]) -> Integers:
        """Return the grid indices that the kernels see."""
        q = self.reader(inputs)
        return q if self.projection is None else self.projection(q)

    def kernel_values(self, q: Integers) -> Integers:
        """Return K for rows of indices, (n, kernels, m); for ``linear`` the indices themselves."""
        if self.form == "linear":
            return q[:, None, :]
        d = self.distances(q)
        return np.stack([half_power(d << a, self.octave) for a in self.doublings], axis=1)

    def distances(self, q: Integers) -> Integers:
        """Return d for every row and vector."""
        if self.form == "absolute":
            return np.asarray(np.abs(q[:, None, :] - self.vectors).sum(axis=2), dtype=np.int64)
        squares = (q * q).sum(axis=1)[:, None] + (self.vectors * self.vectors).sum(axis=1)
        # Every product and sum is far below 2^53, where float64 is exact and has a fast matrix product.
        product = q.astype(np.float64) @ self.vectors.T.astype(np.float64)
        return np.asarray(squares - 2 * product.astype(np.int64), dtype=np.int64)

    def scores(self, inputs: NDArray[Any]) -> NDArray[np.int32]:
        """Return the scores of rows in the export's input type, as the device computes them."""
        out = np.empty((len(inputs), self.n_outputs), dtype=np.int32)
        rows = max(1, BLOCK_ENTRIES // max(1, self.vectors.size if self.form == "absolute" else self.coef.size))
        for first in range(0, len(inputs), rows):
            K = self.kernel_values(self.seen(inputs[first : first + rows]))
            total = np.einsum("nkm,okm->no", K, self.coef) + self.intercept
            if np.abs(total).max() > INT32_MAX:
                raise AssertionError("an integer program overflows, which its construction rules out")
            out[first : first + rows] = total
        return out

    def predict_index(self, inputs: NDArray[Any]) -> NDArray[np.int64]:
        """Return class indices, as the device computes them."""
        scores = self.scores(inputs)
        if self.n_outputs == 1:
            return np.asarray(scores[:, 0] > 0, dtype=np.int64)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)


def half_power(d: Integers, octave: int) -> Integers:
    """Return ``2^15 * 2^-(d / 2^octave)`` as the device computes it: a table, a line between its entries, a shift."""
    near = d < (OCTAVES << octave)
    d = np.where(near, d, 0)
    z = d >> (octave - FRACTION_BITS) if octave >= FRACTION_BITS else d << (FRACTION_BITS - octave)
    table = half_power_table(octave)
    i, place = (z >> PLACE_BITS) & (INTERVALS - 1), z & ((1 << PLACE_BITS) - 1)
    mantissa = table[i] - (((table[i] - table[i + 1]) * place) >> PLACE_BITS)
    return np.asarray(np.where(near, mantissa >> (z >> FRACTION_BITS), 0))


def half_power_table(octave: int) -> Integers:
    """Return ``2^15 * 2^-f`` at the ends of the intervals, a little less: the lines between them run above the curve.

    Where an exponent's last bits are cut off, f is taken in the middle of what they can be.
    """
    middle = 0.5 / 2**FRACTION_BITS if octave > FRACTION_BITS else 0.0
    f = np.arange(INTERVALS + 1) / INTERVALS + middle
    return np.asarray(np.rint((1.0 - CHORD) * 2.0**KERNEL_BITS * 2.0**-f), dtype=np.int64)
