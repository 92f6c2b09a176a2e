"""How far float32 rounding moves a program's scores, estimated from the sizes of the terms it adds.

A sum is wrong by about 2^-24 times the absolute values of its terms. An error of t reaches the scores through the
kernel and the coefficients. Errors of different vectors are independent; the error of ``square . s^2`` is shared by
all. Large coefficients of opposite sign cost digits in every form of the program, so that loss is not counted: the
estimate holds only what the form adds.
"""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels.expression import Const, Exp, Exp2, Expr, Pow, evaluate
from sparsegen.lowering.locate_data import thinned
from sparsegen.lowering.program import Part, Program

UNIT_ROUNDOFF = 2.0**-24
EXP2_ERROR = 2.0 * UNIT_ROUNDOFF  # relative, near t = 0: elsewhere many squarings leave next to nothing
MAX_ROWS = 64
MAX_ENTRIES = 1 << 22  # rows x vectors x features, all of which differences hold in memory


def rounding_error(program: Program, rows: Array) -> float:
    """Return the estimated error of the scores on ``rows``, relative to a typical score (at least 1)."""
    rows = thinned_for(program, rows)
    error = float(np.max(form_errors(program, rows)))
    scores = float(np.median(np.abs(program.scores(rows)).max(axis=1)))
    relative = error / max(1.0, scores)
    return relative if np.isfinite(relative) else np.inf


def form_errors(program: Program, rows: Array) -> Array:
    """Return the estimated error of every score of ``rows`` that the program's form adds."""
    S = program.prepare(rows)
    dS = _input_error(program, rows, S)
    own = np.zeros((len(rows), program.n_outputs))
    shared = np.zeros_like(own)
    for part in program.parts:
        t = part.arguments(S)
        dt, common = _argument_error(part, S, dS, t)
        for k, outer in enumerate(part.outers):
            own += (_change(outer, t, dt) ** 2 + _squaring_error(outer, t) ** 2) @ (part.coef[:, k, :] ** 2).T
            shared += _change(outer, t, common[:, None]) @ part.coef[:, k, :].T
    return np.asarray(np.sqrt(own) + np.abs(shared))


def sum_errors(program: Program, rows: Array) -> Array:
    """Return the estimated error of every score of ``rows`` that any form has: of kernel values, products, sums."""
    size = np.tile(np.abs(program.intercept), (len(rows), 1))
    for part, t in zip(program.parts, program.arguments(rows), strict=True):
        for k, outer in enumerate(part.outers):
            size += np.abs(evaluate(outer, t)) @ np.abs(part.coef[:, k, :]).T
    return 2.0 * UNIT_ROUNDOFF * size


def _change(outer: Expr, t: Array, dt: Array) -> Array:
    return np.asarray(evaluate(outer, t + dt) - evaluate(outer, t))


def _squaring_error(outer: Expr, t: Array) -> Array | float:
    """Return what squaring adds to the error that every exponential has."""
    times, inner = 1.0, outer
    while isinstance(inner, Pow) and isinstance(inner.exponent, Const):
        times, inner = times * inner.exponent.value, inner.base
    return (times - 1.0) * EXP2_ERROR * evaluate(outer, t) if times > 1.0 and isinstance(inner, Exp | Exp2) else 0.0


def thinned_for(program: Program, rows: Array) -> Array:
    """Return at most so many of the rows that all their differences from the vectors fit in memory."""
    entries = max(part.vectors.size for part in program.parts)
    most = max(1, min(MAX_ROWS, MAX_ENTRIES // entries))
    return thinned(rows, most)


def _input_error(program: Program, rows: Array, S: Array) -> Array:
    """Return the error of the features as the vector loops see them; raw ones are exact."""
    if program.projection is not None and program.projection_shift is not None:
        scaled = program.scaled(rows)
        return 2.0 * UNIT_ROUNDOFF * (np.abs(scaled) @ np.abs(program.projection).T + np.abs(program.projection_shift))
    return np.zeros_like(S) if program.offset is None else 3.0 * UNIT_ROUNDOFF * np.abs(S)


def _argument_error(part: Part, S: Array, dS: Array, t: Array) -> tuple[Array, Array]:
    """Return the error of t for every row and vector, and for every row the error that all vectors share."""
    none = np.zeros(len(S))
    if part.form == "dot":
        size = np.abs(S) + dS / UNIT_ROUNDOFF
        dt = 2.0 * UNIT_ROUNDOFF * (size @ np.abs(part.vectors).T + np.abs(part.shift))
        common = none if part.square is None else UNIT_ROUNDOFF * ((size * np.abs(S)) @ np.abs(part.square))
        return dt, 2.0 * common
    slope = abs(part.slope)
    if part.form == "absolute":
        moved = dS.sum(axis=1)[:, None] + UNIT_ROUNDOFF * np.abs(part.vectors).sum(axis=1)
        return slope * moved + 2.0 * UNIT_ROUNDOFF * np.abs(t), none
    moved = np.linalg.norm(dS, axis=1)[:, None] + UNIT_ROUNDOFF * np.linalg.norm(part.vectors, axis=1)
    distance = np.sqrt(np.maximum((t - part.shift) / part.slope, 0.0))
    return 2.0 * slope * distance * moved + 2.0 * UNIT_ROUNDOFF * np.abs(t), none
