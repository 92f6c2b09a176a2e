"""The integer program as its docstring tells it: Python integers, a row at a time, each step checked to fit 32 bits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sparsegen.lowering.curves import HalfPower
from sparsegen.lowering.integer_program import IntegerProgram, IntegerProjection
from sparsegen.lowering.read_floats import FloatReader
from sparsegen.lowering.read_integers import WholeReader

INT32 = (-(2**31), 2**31 - 1)
UINT32 = (0, 2**32 - 1)


class Twin:
    """Computes scores, and remembers the least and largest value of every intermediate result."""

    def __init__(self, program: IntegerProgram) -> None:
        self.program = program
        self.ranges: dict[str, tuple[int, int]] = {}

    def scores(self, inputs) -> list[list[int]]:
        return [self.row_scores(row) for row in inputs]

    def row_scores(self, x) -> list[int]:
        p = self.program
        q = [self.read(x[j], j) for j in range(p.n_features)]
        if p.projection is not None:
            q = [self.project(p.projection, q, i) for i in range(len(p.projection.weights))]
        out = [int(b) for b in p.intercept]
        for b in out:
            self.seen("score", b)
        if p.is_linear:
            for o in range(p.n_outputs):
                for j, index in enumerate(q):
                    out[o] = self.seen("score", out[o] + int(p.coef[o, 0, j]) * index)
            return out
        for u, vector in enumerate(p.vectors.tolist()):
            d = self.distance(q, vector)
            for k, curve in enumerate(p.curves):
                value = self.value(curve, d)
                assert 0 <= value < 2**15
                if p.shift is not None:
                    value = self.seen("shifted kernel value", value << int(p.shift[k, u]))
                for o in range(p.n_outputs):
                    out[o] = self.seen("score", out[o] + int(p.stored_coef[o, k, u]) * value)
        return out

    def read(self, x, j) -> int:
        r = self.program.reader
        if r.is_identity:
            return int(x)
        if isinstance(r, FloatReader):
            x = float(np.float32(r.fill[j])) if r.fill is not None and math.isnan(x) else float(x)
            above = max(self.seen("feature above its start", place(x, r, j) - int(r.start[j])), 0)
            upper = self.seen("unsigned scaled feature", upper_half(above, int(r.multiplier[j]), r.word))
            return min(upper >> r.shift, r.levels)
        assert isinstance(r, WholeReader)
        t = self.seen("scaled feature", int(x) * int(r.multiplier[j]) + int(r.bias[j]))
        return min(max(t, 0) >> int(r.shift[j]), r.levels)

    def project(self, p: IntegerProjection, q, i) -> int:
        t = self.seen("projected value", int(p.bias[i]))
        for index, weight in zip(q, p.weights[i].tolist(), strict=True):
            t = self.seen("projected value", t + weight * index)
        return min(max(t, 0) >> p.shift, p.levels)

    def value(self, curve, d) -> int:
        if isinstance(curve, HalfPower):
            return half_power(d << curve.doubling, curve.octave)
        if d < curve.end:
            halved = d
            while curve.width < 8 and halved >= 2 ** (24 + curve.width):
                halved >>= 1
            self.seen("unsigned place on a curve", halved << 8 >> curve.width if curve.width < 8 else d)
        return sampled(d, curve.width, curve.values.tolist())

    def distance(self, q, vector) -> int:
        if self.program.form == "absolute":
            return self.seen("distance", sum(abs(a - b) for a, b in zip(q, vector, strict=True)))
        squares, norm = sum(a * a for a in q), sum(b * b for b in vector)
        dot = sum(a * b for a, b in zip(q, vector, strict=True))
        both = self.seen("unsigned sum of squares and norm", squares + norm)
        twice = self.seen("unsigned twice the dot product", 2 * dot)
        return self.seen("distance", both - twice)

    def seen(self, name: str, value: int) -> int:
        low, high = UINT32 if name.startswith("unsigned") else INT32
        assert low <= value <= high, f"{name} is {value}"
        least, largest = self.ranges.get(name, (value, value))
        self.ranges[name] = (min(least, value), max(largest, value))
        return value


def place(x: float, r: FloatReader, j: int) -> int:
    """Return the place of x: as many whole units as it has, counted on from -1 where its sign is minus."""
    largest = 2**r.digits - 1
    unit = Fraction(2) ** (int(r.exponent[j]) - 127 - r.digits + 1)
    if math.isnan(x):
        return -1 - largest
    units = largest if math.isinf(x) else min(math.floor(Fraction(abs(x)) / unit), largest)
    return -1 - units if math.copysign(1.0, x) < 0 else units


def upper_half(a: int, b: int, word: int) -> int:
    """Return the upper half of a product of two words; of 32 bits as the program does, without all carries."""
    assert 0 <= a < 2**word
    assert 0 <= b < 2**word
    if word == 16:
        return (a * b) >> 16
    (a1, a0), (b1, b0) = divmod(a, 2**16), divmod(b, 2**16)
    found = a1 * b1 + ((a1 * b0) >> 16) + ((a0 * b1) >> 16)
    assert 0 <= ((a * b) >> 32) - found < 3
    return found


def half_power(d: int, octave: int) -> int:
    """Return 2^15 * 2^-(d / 2^octave): 12 bits of fraction, 4 of them choose a line between powers of 2, 8 a place."""
    if d >= 16 << octave:
        return 0
    z = (d << 12) >> octave
    middle = 0.5 / 4096 if octave > 12 else 0.0
    chord = (np.log(2.0) / 16) ** 2 / 16.0
    i, place = (z >> 8) & 15, z & 255
    above, below = (int(np.rint((1.0 - chord) * 2.0**15 * 2.0 ** -(f / 16 + middle))) for f in (i, i + 1))
    return (above - (((above - below) * place) >> 8)) >> (z >> 12)


def sampled(d: int, width: int, values: list[int]) -> int:
    """Return what lies between the entries around d: ends 0 to 32 times 2^width, then 16 to 32 times twice that, ..."""
    at, first, size = d / 2**width, 0, 1
    while at / size >= 32:
        first, size = first + 16, size * 2
    index = first + int(at / size)
    if index >= len(values) - 1:
        return 0
    place = ((d << 8) >> width) // size % 256
    return values[index] - (((values[index] - values[index + 1]) * place) >> 8)
