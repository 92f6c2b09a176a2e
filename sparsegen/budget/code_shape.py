"""The shape of a program's code: what of it can differ between programs of one plan, however many vectors they have.

A lowering chooses by the numbers of a model: whether features go through a buffer, whether all share a step, which
features are added up first. Two programs of one plan and one shape are the same code
around tables of the same kinds, so the cost of one is the cost of the other, vector by vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.kernels.expression import Expr, nodes
from sparsegen.lowering.curves import FRACTION_BITS, HalfPower, SampledCurve
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.program import Part, Program
from sparsegen.lowering.read_floats import FloatReader
from sparsegen.lowering.read_integers import WholeReader

Shape = tuple[object, ...]
NONE, ONE, COMMON, TABLE = "none", "one", "common", "table"


def code_shape(program: Program | IntegerProgram) -> Shape:
    """Return what tells the code of a program from that of others of its plan."""
    return _integer_shape(program) if isinstance(program, IntegerProgram) else _float_shape(program)


def _float_shape(program: Program) -> Shape:
    buffer = tuple(_kind(values) for values in (program.offset, program.scale, program.filled))
    return (*buffer, *(_part_shape(part) for part in program.parts))


def _part_shape(part: Part) -> Shape:
    return (part.form, _kind(part.square), _kind(part.shift), *(_names(outer) for outer in part.outers))


def _names(expression: Expr) -> Shape:
    return tuple(type(node).__name__ for node in nodes(expression))


def _kind(values: NDArray[Any] | None) -> str:
    """Return how the code holds some values: as a table, or as a number that they have in common, which may be 1."""
    if values is None:
        return NONE
    if np.any(values != values[0]):
        return TABLE
    return ONE if values[0] == 1.0 else COMMON


def _integer_shape(program: IntegerProgram) -> Shape:
    groups, reader = program.feature_groups, program.reader
    reading: Shape = (reader.is_identity,)
    if isinstance(reader, FloatReader):
        reading = (reader.digits, *map(_kind, (reader.exponent, reader.start, reader.multiplier)))
    elif isinstance(reader, WholeReader) and not reader.is_identity:
        reading = tuple(_kind(values) for values in (reader.multiplier, reader.bias, reader.shift))
    grouped: Shape = ()
    if groups is not None:
        grouped = (groups.number, groups.blocks, groups.drops_features, groups.sum_dtype.name)
    curves = tuple(_curve_shape(curve) for curve in program.curves)
    return (program.form, reading, grouped, program.shift is None, curves)


def _curve_shape(curve: HalfPower | SampledCurve) -> Shape:
    if isinstance(curve, HalfPower):
        return (int(np.sign(curve.octave - FRACTION_BITS)), curve.doubling > 0)
    return (curve.halved_from is None,)


def curve_bytes(program: Program | IntegerProgram) -> int:
    """Return the bytes of the tables of sampled curves, whose length makes no difference to the code."""
    curves = () if isinstance(program, Program) else program.curves
    entry = np.dtype(np.uint16).itemsize
    return entry * sum(len(curve.values) for curve in curves if isinstance(curve, SampledCurve))
