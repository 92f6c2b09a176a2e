"""Choose rows for a self-test so that damage to any part of a program shows in a score of one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.kernels.expression import derivative, evaluate
from sparsegen.lowering.curves import HalfPower, SampledCurve
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.program import Part, Program

DAMAGE = 0.01  # relative change of a constant that should show
CLASS_SHARE = 0.5  # what seeing every class counts, compared with seeing every constant


def choose_rows(noticed: Array, classes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the indices of up to ``most`` rows that together notice most, one after the other.

    ``noticed`` is (rows, constants), from 0 to 1: how well damage to a constant shows in a row.
    """
    seen = np.zeros(noticed.shape[1])
    per_class = CLASS_SHARE * noticed.shape[1] / len(np.unique(classes))
    chosen: list[int] = []
    for _ in range(min(most, len(noticed))):
        gain = np.maximum(noticed - seen, 0.0).sum(axis=1)
        gain += per_class * ~np.isin(classes, classes[chosen])
        gain[chosen] = -1.0
        chosen.append(int(np.argmax(gain)))
        seen = np.maximum(seen, noticed[chosen[-1]])
    return np.array(chosen)


def noticed_in_floats(program: Program, rows: Array, allowed: Array) -> Array:
    """Return how well damage to every constant shows in raw rows whose scores may differ by ``allowed``, (rows,)."""
    S = program.prepare(rows)
    effects = [effect.reshape(len(rows), -1) for part in program.parts for effect in _effects(part, S)]
    changes = DAMAGE * np.nan_to_num(np.hstack(effects), nan=0.0, posinf=0.0)
    return np.asarray(np.minimum(changes / allowed[:, None], 1.0))


def _effects(part: Part, S: Array) -> list[Array]:
    """Return the relative change of a constant, times what it does to the scores: of coefficients and of vectors."""
    t = part.arguments(S)
    values = np.stack([np.broadcast_to(evaluate(outer, t), t.shape) for outer in part.outers], axis=1)
    slopes = np.stack([np.broadcast_to(evaluate(derivative(outer), t), t.shape) for outer in part.outers], axis=1)
    coefficients = np.abs(part.coef).max(axis=0) * np.abs(values)
    moved = np.abs(np.einsum("nku,oku->nou", slopes, part.coef)).max(axis=1)  # what a change of t does
    v = np.abs(part.vectors)
    if part.form == "dot":
        return [coefficients, moved * np.abs(part.shift), moved[:, :, None] * v * np.abs(S)[:, None, :]]
    moved = abs(part.slope) * moved[:, :, None]
    if part.form == "absolute":
        return [coefficients, moved * v]
    return [coefficients, 2.0 * moved * v * np.abs(S[:, None, :] - part.vectors)]


def noticed_in_integers(program: IntegerProgram, q: NDArray[np.int64]) -> Array:
    """Return which vectors and which intervals of the curves show in rows of grid indices: 1 or 0."""
    if program.is_linear:
        return np.asarray(q > 0, dtype=np.float64)
    d = program.distances(q)
    curves: Sequence[HalfPower | SampledCurve] = program.curves
    vectors = [curve(d) > 0 for curve in curves]
    intervals = [_visits(curve.interval(d), used) for curve, used in zip(curves, vectors, strict=True)]
    return np.hstack([*vectors, *intervals]).astype(np.float64)


def _visits(intervals: NDArray[np.int64], used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, for every row, which intervals its distances fall into."""
    visited = (intervals[:, :, None] == np.arange(intervals.max() + 1)) & used[:, :, None]
    return np.asarray(visited.any(axis=1))
