"""The estimate of float32 rounding, one number at a time.

A sum is wrong by 2^-24 of the sizes of its terms, for each of two roundings (product and sum) per term. The error of an
argument t changes a score by the change of the kernel times the coefficient; errors of different vectors are
independent, so that their squares add up; the error of ``square . s^2`` is shared by all, so that it adds up itself.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsegen.kernels.expression import Const, Exp, Exp2, Pow, evaluate
from sparsegen.lowering.program import Part, Program

U = 2.0**-24


def rounding_error(program: Program, rows) -> float:
    worst = 0.0
    largest_scores = []
    for x in rows:
        independent, common = [0.0] * program.n_outputs, [0.0] * program.n_outputs
        s, ds = inputs(program, x)
        for part in program.parts:
            for u in range(len(part.vectors)):
                t, dt, shared = argument(part, u, s, ds)
                for k, outer in enumerate(part.outers):
                    for o in range(program.n_outputs):
                        c = part.coef[o, k, u]
                        independent[o] += (c * change(outer, t, dt)) ** 2 + (c * squarings(outer, t)) ** 2
                        common[o] += c * change(outer, t, shared)
        worst = max(worst, *(sqrt(i) + abs(c) for i, c in zip(independent, common, strict=True)))
        largest_scores.append(np.abs(program.scores(x[None])).max())
    return worst / max(1.0, float(np.median(largest_scores)))


def inputs(program: Program, x):
    """Features as the vector loops see them, and how wrong each is."""
    s = [float(v) for v in x]
    if program.offset is not None and program.scale is not None:
        s = [(v - o) * f for v, o, f in zip(s, program.offset, program.scale, strict=True)]
    if program.projection is None or program.projection_shift is None:
        return s, [0.0 if program.offset is None else 3.0 * U * abs(v) for v in s]
    seen, errors = [], []
    for weights, shift in zip(program.projection, program.projection_shift, strict=True):
        terms = [w * v for w, v in zip(weights, s, strict=True)]
        seen.append(sum(terms) + shift)
        errors.append(2.0 * U * (sum(map(abs, terms)) + abs(shift)))
    return seen, errors


def argument(part: Part, u: int, s, ds):
    """t of a vector, its own error, and the error that it shares with all vectors."""
    v = part.vectors[u]
    features = range(len(s))
    if part.form == "dot":
        t = part.shift[u] + sum(v[j] * s[j] for j in features)
        size = abs(part.shift[u]) + sum(abs(v[j]) * (abs(s[j]) + ds[j] / U) for j in features)
        if part.square is None:
            return t, 2.0 * U * size, 0.0
        t += sum(part.square[j] * s[j] ** 2 for j in features)
        shared = sum(abs(part.square[j] * s[j]) * (abs(s[j]) + ds[j] / U) for j in features)
        return t, 2.0 * U * size, 2.0 * U * shared
    if part.form == "absolute":
        distance = sum(abs(s[j] - v[j]) for j in features)
        moved = sum(ds) + U * sum(abs(v[j]) for j in features)
        t = part.slope * distance + part.shift[u]
        return t, abs(part.slope) * moved + 2.0 * U * abs(t), 0.0
    distance = sqrt(sum((s[j] - v[j]) ** 2 for j in features))
    moved = sqrt(sum(e**2 for e in ds)) + U * sqrt(sum(w**2 for w in v))
    t = part.slope * distance**2 + part.shift[u]
    return t, 2.0 * abs(part.slope) * distance * moved + 2.0 * U * abs(t), 0.0


def change(outer, t: float, dt: float) -> float:
    return float(evaluate(outer, np.array(t + dt)) - evaluate(outer, np.array(t)))


def squarings(outer, t: float) -> float:
    """Each squaring doubles the relative error of an exponential, two units; the first is everybody's."""
    times, inner = 1.0, outer
    while isinstance(inner, Pow) and isinstance(inner.exponent, Const):
        times *= inner.exponent.value
        inner = inner.base
    if not isinstance(inner, Exp | Exp2):
        return 0.0
    return (times - 1.0) * 2.0 * U * float(evaluate(outer, np.array(t)))
