"""The bound of the guarantee by its definition, one term after the other, in plain loops.

|out * unit - f(x)| <= |F - f| + |F(x) - F(x')| + sum_u |c_u| * (error of K); what float64 loses is not counted here.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.read_floats import FloatReader
from sparsegen.lowering.read_integers import WholeReader
from sparsegen.model import SparseModel


def error(program: IntegerProgram, model: SparseModel) -> list[float]:
    read = [reading_error(program, j) for j in range(program.n_features)]
    bound = linear_error if program.is_linear else kernel_error
    return [bound(program, model, o, read) for o in range(program.n_outputs)]


def reading_error(program: IntegerProgram, j: int) -> float:
    """The farthest that an index lies from its feature, in steps."""
    reader, low, step = program.reader, float(program.low[j]), float(program.step[j])
    least, largest = float(program.range.low[j]), float(program.range.high[j])
    if reader.kind.is_grid:
        return 0.0
    if isinstance(reader, WholeReader):
        worst = 0.0
        for x in range(int(least), int(largest) + 1):
            index = (x * int(reader.multiplier[j]) + int(reader.bias[j])) >> int(reader.shift[j])
            worst = max(worst, abs(min(max(index, 0), reader.levels) - (x - low) / step))
        return worst
    assert isinstance(reader, FloatReader)
    lost = max(lost_by_reading(reader, j, x, low, step) for x in (least, largest))
    return max(0.5 + lost, (low - least) / step, (largest - (low + step * reader.levels)) / step)


def lost_by_reading(reader: FloatReader, j: int, x: float, low: float, step: float) -> float:
    """The farthest that a float's product lies from (x - low) / step + 1/2, where x is an end of the range."""
    unit = Fraction(2) ** (int(reader.exponent[j]) - 127 - reader.digits + 1)
    scale = Fraction(int(reader.multiplier[j]), 2 ** (reader.word + reader.shift))
    wanted = (Fraction(x) - Fraction(low)) / Fraction(step) + Fraction(1, 2)
    assert abs(Fraction(x) / unit) <= 2**reader.digits, "places hold the range"
    above = [Fraction(x) / unit - lost - int(reader.start[j]) for lost in (0, 1)]
    found = max(abs(place * scale - wanted) for place in above)
    return float(found) + (3 / 2**reader.shift if reader.word == 32 else 0.0)


def last_index(program: IntegerProgram, j: int) -> int:
    row = program.range.high[None].astype(program.input_dtype)
    return int(program.reader(row)[0, j])


def kernel_error(program: IntegerProgram, model: SparseModel, o: int, read: list[float]) -> float:
    T, m = model.transform, len(program.vectors)
    if T.projection is None:
        Z = (program.low + program.vectors * program.step - T.offset) * T.scale
    else:
        first, step = program.kernel_grid
        Z = first + program.vectors * step
    apart = distance_to_grid(program, model, read)
    total = abs(int(program.intercept[o]) * program.unit - float(model.intercept[o]))
    for k, kernel in enumerate(model.kernels):
        own = [int(program.coef[o, k, u]) * program.unit * 2**15 for u in range(m)]
        points = np.vstack([Z, model.vectors])
        weights = own + [-float(c) for c in model.coef[o, k]]
        here, there = np.zeros((1, points.shape[1])), np.zeros((1, points.shape[1]))
        there[0, 0] = apart
        fall = 1.0 - float(kernel.gram(here, there)[0, 0])
        total += length(kernel, weights, points) + sqrt(2 * fall) * length(kernel, own, points[:m])
        total += sum(map(abs, own)) * program.curves[k].error
    return total


def length(kernel, weights, points) -> float:
    """The length in the feature space of a weighted sum of points."""
    K = kernel.gram(points, points)
    return sqrt(max(0.0, sum(a * b * K[i, j] for i, a in enumerate(weights) for j, b in enumerate(weights))))


def distance_to_grid(program: IntegerProgram, model: SparseModel, read: list[float]) -> float:
    T = model.transform
    if program.projection is None or T.projection is None:
        moved = [read[j] * program.step[j] * abs(T.scale[j]) for j in range(program.n_features)]
    else:
        first, step = program.kernel_grid
        moved = []
        for i, (weights, bias) in enumerate(zip(program.projection.weights, program.projection.bias, strict=True)):
            exact = [T.projection[i, j] * T.scale[j] * program.step[j] for j in range(program.n_features)]
            at_zero = sum(T.projection[i, j] * (program.low[j] - T.offset[j]) * T.scale[j] for j in range(len(exact)))
            start = (at_zero - np.broadcast_to(first, len(program.projection.bias))[i]) / step + 0.5
            unit = 2**program.projection.shift
            lost = abs(int(bias) / unit - start) + 0.5
            for j, w in enumerate(exact):
                lost += abs(int(weights[j]) / unit - w / step) * last_index(program, j) + abs(w / step) * read[j]
            moved.append(lost * step)
    return sqrt(sum(v * v for v in moved)) if program.form == "square" else sum(moved)


def linear_error(program: IntegerProgram, model: SparseModel, o: int, read: list[float]) -> float:
    T = model.transform
    seen = sum(c * z for c, z in zip(model.coef[o, 0], model.vectors, strict=True))
    weights = seen if T.projection is None else [float(seen @ T.projection[:, j]) for j in range(program.n_features)]
    start, total = float(model.intercept[o]), 0.0
    for j in range(program.n_features):
        exact = weights[j] * T.scale[j]
        start += exact * (program.low[j] - T.offset[j])
        used = int(program.coef[o, 0, j]) * program.unit
        total += abs(used - exact * program.step[j]) * last_index(program, j) + abs(exact * program.step[j]) * read[j]
    return total + abs(int(program.intercept[o]) * program.unit - start)
