"""Coefficients as 16-bit integers, scaled so that no sum of an integer program can leave 32 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering.curves import KERNEL_BITS, LARGEST_VALUE, Integers
from sparsegen.lowering.integer_program import INT32_MAX, IntegerProgram
from sparsegen.lowering.program import float32
from sparsegen.lowering.read_integers import INT16_MAX

SMALLEST_UNIT = float(np.finfo(np.float32).tiny)


def scale_coefficients(coef: Array, intercept: Array, largest: int, one: int) -> tuple[Integers, Integers, float]:
    """Return 16-bit coefficients, the intercept and the value of a score unit, so that no sum can leave 32 bits.

    The value is one that float32 holds exactly, as the header of an export states it.

    A coefficient is multiplied with a value from 0 to ``largest``, where ``one`` stands for 1. Whatever the order, a
    partial sum lies between the intercept with all negative terms and the intercept with all positive ones.
    """
    unit = max(float(np.abs(coef).max()) / INT16_MAX / one, smallest_unit(coef, intercept, largest, one))
    while True:
        unit = float32_from(unit)
        q = np.rint(coef / (unit * one)).astype(np.int64)
        b = np.rint(intercept / unit).astype(np.int64)
        if fits_32_bits(q, b, largest) and np.abs(q).max() <= INT16_MAX:
            return q, b, unit
        unit *= 1.001


def smallest_unit(coef: Array, intercept: Array, largest: int, one: int) -> float:
    """Return the least value of a score unit for which no sum can leave 32 bits, but for rounding."""
    up = largest * np.maximum(coef, 0.0).sum(axis=(1, 2)) + one * np.maximum(intercept, 0.0)
    down = largest * np.maximum(-coef, 0.0).sum(axis=(1, 2)) + one * np.maximum(-intercept, 0.0)
    return max(float(np.maximum(up, down).max()) / INT32_MAX / one, SMALLEST_UNIT)


def fits_32_bits(coef: Integers, intercept: Integers, largest: int) -> bool:
    """Return whether no partial sum of any score can leave 32 bits."""
    highest, lowest = partial_sums(coef, intercept, largest)
    return highest <= INT32_MAX and lowest >= -INT32_MAX


def float32_from(value: float) -> float:
    """Return the smallest float32 that is at least a value."""
    nearest = float(float32(np.array(value)))  # NumPy would round the value, too, to compare it with a float32
    return nearest if nearest >= value else float(np.nextafter(np.float32(nearest), np.float32(np.inf)))


def partial_sums(coef: Integers, intercept: Integers, largest: int) -> tuple[int, int]:
    """Return the largest and the smallest value that any partial sum of any score can take."""
    up = largest * np.maximum(coef, 0).sum(axis=(1, 2)) + np.maximum(intercept, 0)
    down = largest * np.minimum(coef, 0).sum(axis=(1, 2)) + np.minimum(intercept, 0)
    return int(up.max()), int(down.min())


def with_coefficients(program: IntegerProgram, coef: Array, intercept: Array) -> IntegerProgram:
    """Return the program with other real coefficients, scaled for it."""
    largest, one = value_range(program)
    q, b, unit = scale_coefficients(coef, intercept, largest, one)
    return replace(program, coef=q, intercept=b, unit=unit)


def value_range(program: IntegerProgram) -> tuple[int, int]:
    """Return the largest value that a coefficient is multiplied with, and the one that stands for 1."""
    return (program.levels, 1) if program.is_linear else (LARGEST_VALUE, 2**KERNEL_BITS)


def score_error(program: IntegerProgram, rows: Array, wanted: Array) -> float:
    """Return the mean absolute difference between the program's scores and the wanted ones."""
    return float(np.mean(np.abs(program.scores(program.inputs(rows)) * program.unit - wanted)))
