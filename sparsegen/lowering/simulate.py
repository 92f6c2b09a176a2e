"""The generated float C, statement by statement, in NumPy float32: every operation rounded as on a device.

The exponential is NumPy's own in double precision, rounded, and the root is NumPy's: the generated ones have tests of
their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.kernels.expression import Add, Const, Core, Exp, Exp2, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.program import Part, Program, float32

Floats = NDArray[np.float32]


def float32_scores(program: Program, X: Array) -> Floats:
    """Return the scores of raw rows as a device computes them; they are not finite where float32 overflows."""
    with np.errstate(all="ignore"):
        rows = float32(X) if program.filled is None else program.inputs(X)
        return np.array([_row_scores(program, x) for x in rows])


def _row_scores(program: Program, x: Floats) -> Floats:
    s = _prepared(program, x)
    out = float32(program.intercept)
    for part in program.parts:
        t = _arguments(part, s)
        values = np.stack([np.broadcast_to(_evaluate(outer, t), t.shape) for outer in part.outers])
        terms = float32(part.coef) * values
        out = _summed(out, terms.transpose(0, 2, 1).reshape(len(out), -1))  # vector by vector, kernel by kernel
    return out


def _prepared(program: Program, x: Floats) -> Floats:
    s = x
    if program.offset is not None and program.scale is not None:
        s = (s - float32(program.offset)) * float32(program.scale)
        s = s if program.filled is None else np.where(np.isnan(x), float32(program.filled), s)
    if program.projection is not None and program.projection_shift is not None:
        s = _summed(float32(program.projection_shift), float32(program.projection) * s)
    return s


def _arguments(part: Part, s: Floats) -> Floats:
    v, shift = float32(part.vectors), float32(part.shift)
    if part.form == "dot":
        if part.square is not None:
            q, none = float32(part.square), np.zeros((), np.float32)
            common = bool(np.all(q == q[0]))  # then it is multiplied once, after the sum
            shift = (_summed(none, s * s) * q[0] if common else _summed(none, q * s * s)) + shift
        return _summed(shift, s * v)
    difference = s - v
    size = np.abs(difference) if part.form == "absolute" else difference * difference
    return _summed(np.zeros(len(v), np.float32), size) * np.float32(part.slope) + shift


def _summed(start: Floats, terms: Floats) -> Floats:
    """Return ``start`` plus the last axis of ``terms``, added one after the other."""
    total: Floats = np.add.accumulate(np.concatenate([start[..., None], terms], axis=-1), axis=-1)[..., -1]
    return total


def _evaluate(expr: Expr, t: Floats) -> Floats:
    result: Floats
    match expr:
        case Core():
            result = t
        case Const(value):
            result = float32(np.array(value))
        case Add(a, b):
            result = _evaluate(a, t) + _evaluate(b, t)
        case Mul(a, b):
            result = _evaluate(a, t) * _evaluate(b, t)
        case Exp(a):
            result = np.exp(_evaluate(a, t).astype(np.float64)).astype(np.float32)
        case Exp2(a):
            result = np.exp2(_evaluate(a, t).astype(np.float64)).astype(np.float32)
        case Reciprocal(a):
            result = np.float32(1) / _evaluate(a, t)
        case Sqrt(a):
            result = np.sqrt(np.maximum(_evaluate(a, t), np.float32(0)))
        case Pow(a, Const(n)):
            result = _power(_evaluate(a, t), int(n))
        case _:
            raise TypeError(f"a device has no form for {expr}")
    return result


def _power(base: Floats, n: int) -> Floats:
    if n == 1:
        return base
    half = _power(base, n // 2)
    return half * half * base if n % 2 else half * half
