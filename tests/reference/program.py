"""The generated C, statement by statement, in NumPy float32: one row at a time, every operation rounded as on a device.

The exponential is NumPy's own in double precision, rounded, and the root is NumPy's: the generated ones have tests of
their own.
"""

from __future__ import annotations

import numpy as np

from sparsegen.kernels.expression import Add, Const, Core, Exp2, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.program import Program, float32

f32 = np.float32


def scores(program: Program, X):
    with np.errstate(over="ignore", under="ignore"):
        return np.array([row_scores(program, x) for x in float32(X)])


def row_scores(program: Program, x):
    s = prepared(program, x)
    out = float32(program.intercept)
    for part in program.parts:
        t = arguments(part, s)
        for k, outer in enumerate(part.outers):
            value = evaluate(outer, t)
            coef = float32(part.coef[:, k, :])
            for u in range(len(t)):
                out = out + coef[:, u] * value[u]
    return out


def prepared(program: Program, x):
    s = x
    if program.offset is not None:
        assert program.scale is not None
        s = (s - float32(program.offset)) * float32(program.scale)
    if program.projection is not None:
        assert program.projection_shift is not None
        s = summed(float32(program.projection_shift), float32(program.projection) * s)
    return s


def arguments(part, s):
    v, shift = float32(part.vectors), float32(part.shift)
    if part.form == "dot":
        if part.square is not None:
            q = float32(part.square)
            common = bool(np.all(q == q[0]))  # then it is multiplied once, after the sum
            shift = (summed(f32(0), s * s) * q[0] if common else summed(f32(0), q * s * s)) + shift
        return summed(shift, s * v)
    difference = s - v
    size = np.abs(difference) if part.form == "absolute" else difference * difference
    return summed(np.zeros(len(v), f32), size) * f32(part.slope) + shift


def summed(start, terms):
    """Return ``start`` plus the last axis of ``terms``, added one after the other."""
    total = start
    for j in range(terms.shape[-1]):
        total = total + terms[..., j]
    assert total.dtype == f32
    return total


def evaluate(expr, t):
    match expr:
        case Core():
            return t
        case Const(value):
            return f32(value)
        case Add(a, b):
            return evaluate(a, t) + evaluate(b, t)
        case Mul(a, b):
            return evaluate(a, t) * evaluate(b, t)
        case Exp2(a):
            return np.exp2(evaluate(a, t).astype(np.float64)).astype(f32)
        case Reciprocal(a):
            return f32(1) / evaluate(a, t)
        case Sqrt(a):
            return np.sqrt(np.maximum(evaluate(a, t), f32(0)))
        case Pow(a, Const(n)):
            return power(evaluate(a, t), int(n))
    raise TypeError(expr)


def power(base, n):
    if n == 1:
        return base
    half = power(base, n // 2)
    return half * half * base if n % 2 else half * half
