"""Compute exponentials from each other: 2^(4 t) is the square of the square of 2^t, and a squaring costs one product.

Gaussians whose gammas are powers of two apart then cost one exponential and a few squarings per vector, from the
smallest gamma up.

Squaring doubles the relative error of what it squares. A kernel that falls 2^k times as fast as the computed one has
2^k times its error, so the pass goes only as far from a computed exponential as the scores allow.
"""

from __future__ import annotations

import math
from dataclasses import replace

from sparsegen.arrays import Array
from sparsegen.kernels.expression import Const, Core, Exp2, Expr, Mul, Pow
from sparsegen.lowering.fold_preprocessing import MAX_ERROR
from sparsegen.lowering.program import Part, Program
from sparsegen.lowering.rounding import rounding_error

REACHES = (16, 12, 10, 8, 6, 4, 2, 1)  # squarings from one exponential, the most first
MAX_SQUARINGS = 6  # in a row: more would cost as much as the exponential they replace, in software floating point too
MAX_ERROR_GROWTH = 1.1  # allowed where the error already exceeds MAX_ERROR
POWER_TOLERANCE = 1e-12  # how far from a power of two a ratio may be, relatively; float32 resolves 1e-7


def square_up(program: Program, rows: Array) -> Program:
    """Return the program with exponentials replaced by squares as far as float32 allows for ``rows``."""
    if not any(_squared(part, max(REACHES)) is not part for part in program.parts):
        return program
    most = max(MAX_ERROR, MAX_ERROR_GROWTH * rounding_error(program, rows))
    for reach in REACHES:
        squared = replace(program, parts=tuple(_squared(part, reach) for part in program.parts))
        if rounding_error(squared, rows) <= most:
            return squared
    return program


def _squared(part: Part, reach: int) -> Part:
    """Return the part with each exponential up to ``reach`` squarings from a smaller one written as squares of it."""
    outers = list(part.outers)
    chains: list[tuple[float, float, Expr]] = []  # ratio at the start, ratio and expression at the end
    ratios = {k: ratio for k, outer in enumerate(outers) if (ratio := _ratio(outer)) is not None}
    for k in sorted(ratios, key=lambda k: ratios[k]):
        for i, (start, last, expression) in enumerate(chains):
            total, steps = _doublings(ratios[k] / start), _doublings(ratios[k] / last)
            if total is not None and steps is not None and total <= reach and steps <= MAX_SQUARINGS:
                outers[k] = _square(expression, steps)
                chains[i] = (start, ratios[k], outers[k])
                break
        else:
            chains.append((ratios[k], ratios[k], outers[k]))
    return part if len(chains) == len(ratios) else replace(part, outers=tuple(outers))


def _ratio(outer: Expr) -> float | None:
    """Return r of ``2^(r t)``, or ``None`` for any other kernel."""
    match outer:
        case Exp2(Core()):
            return 1.0
        case Exp2(Mul(Const(ratio), Core())) if ratio > 0.0:
            return ratio
    return None


def _doublings(ratio: float) -> int | None:
    """Return how often 1 must be doubled to give ``ratio``, if it is a power of two."""
    steps = round(math.log2(ratio))
    return steps if abs(ratio / 2.0**steps - 1.0) < POWER_TOLERANCE else None


def _square(expression: Expr, times: int) -> Expr:
    for _ in range(times):
        expression = Pow(expression, Const(2.0))
    return expression
