"""The float program one number after the other, each rounded to float32."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsegen.kernels.expression import Add, Const, Core, Exp, Exp2, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.program import Part, Program

F = np.float32
ZERO = F(0)


def scores(program: Program, x: Any) -> list[np.float32]:
    s = [F(v) for v in x]
    if program.offset is not None and program.scale is not None:
        s = [(v - F(o)) * F(f) for v, o, f in zip(s, program.offset, program.scale, strict=True)]
        if program.filled is not None:
            s = [F(filled) if math.isnan(v) else v for v, filled in zip(s, program.filled, strict=True)]
    if program.projection is not None and program.projection_shift is not None:
        s = [total(F(b), [F(w) * v for w, v in zip(row, s, strict=True)])
             for row, b in zip(program.projection, program.projection_shift, strict=True)]  # fmt: skip
    out = [F(b) for b in program.intercept]
    for part in program.parts:
        for u in range(len(part.vectors)):
            t = argument(part, u, s)
            for k, outer in enumerate(part.outers):
                value = evaluate(outer, t)
                out = [score + F(part.coef[o, k, u]) * value for o, score in enumerate(out)]
    return out


def total(start: np.float32, terms: list[np.float32]) -> np.float32:
    for term in terms:
        start = start + term
    return start


def argument(part: Part, u: int, s: list[np.float32]) -> np.float32:
    v, shift = [F(value) for value in part.vectors[u]], F(part.shift[u])
    if part.form == "dot":
        if part.square is not None:
            q = [F(value) for value in part.square]
            if len(set(q)) == 1:
                norm = total(ZERO, [a * a for a in s]) * q[0]
            else:
                norm = total(ZERO, [b * a * a for a, b in zip(s, q, strict=True)])
            shift = norm + shift
        return total(shift, [a * b for a, b in zip(s, v, strict=True)])
    apart = [a - b for a, b in zip(s, v, strict=True)]
    sizes = [abs(a) if part.form == "absolute" else a * a for a in apart]
    return total(ZERO, sizes) * F(part.slope) + shift


def evaluate(expr: Expr, t: np.float32) -> np.float32:
    match expr:
        case Core():
            return t
        case Const(value):
            return F(value)
        case Add(a, b):
            return evaluate(a, t) + evaluate(b, t)
        case Mul(a, b):
            return evaluate(a, t) * evaluate(b, t)
        case Exp(a):
            return F(math.exp(evaluate(a, t)))
        case Exp2(a):
            return F(2.0 ** float(evaluate(a, t)))
        case Reciprocal(a):
            return F(1) / evaluate(a, t)
        case Sqrt(a):
            return F(math.sqrt(max(float(evaluate(a, t)), 0.0)))
        case Pow(a, Const(n)):
            return power(evaluate(a, t), int(n))
    raise TypeError(str(expr))


def power(base: np.float32, n: int) -> np.float32:
    """Square and multiply, from the highest bit of n down."""
    result = base
    for bit in bin(n)[3:]:
        result = result * result
        if bit == "1":
            result = result * base
    return result
