"""Round coefficients to 8 bits, and let the coefficients that are still real make up for each rounding.

    min_w  (w - W)' H (w - W),    w_u = step_u * (an integer of 8 bits)

W are the finished coefficients of an output, and H = Phi' Phi + damping holds what the integer program computes for
every vector on the rows: the objective is what rounding adds to that of `finish`. H is the same for every output. With
H = R' R, R upper triangular, it is a sum of squares

    sum_i (R_ii e_i + sum_{j > i} R_ij e_j)^2,    e = w - W

so from the last coefficient to the first, each takes the integer that makes its own square smallest, given the errors
of those already rounded (GPTQ; Babai's nearest plane). The columns with the largest diagonal of H are rounded first;
the intercept, which has 32 bits, comes last.

Coefficients have heavy tails, but those of one vector are of a size. So each vector has a step of its own, a power of
two times the smallest: a device shifts its kernel value to the left, once for all outputs. A binary program has one
coefficient per vector and kernel, and a linear one has no vectors: their steps are all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky

from sparsegen.arrays import Array
from sparsegen.lowering.coefficients import fits_32_bits, float32_from, smallest_unit, value_range
from sparsegen.lowering.curves import Integers
from sparsegen.lowering.finish import MAX_ROWS, columns, damped_hessian, real_coefficients
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.locate_data import thinned

MAX_SHIFT = 15  # what is 2^15 times smaller than the largest coefficient changes nothing
STEPS_TRIED = 2.0 ** (np.arange(-3, 2) / 4.0)  # of the smallest step; within an octave, where shifts make up the rest


@dataclass(frozen=True)
class Feedback:
    """What an error of one coefficient asks of the others, the same for every output and step."""

    order: NDArray[np.intp]
    """The intercept, then the columns from the last to be rounded to the first."""
    R: Array
    """Upper triangular, in that order."""

    @classmethod
    def of(cls, H: Array) -> Feedback:
        """Return the feedback of a Hessian, whose last row and column are the intercept's."""
        order = np.append(len(H) - 1, np.argsort(np.diag(H)[:-1], kind="stable"))
        return cls(order, cholesky(H[np.ix_(order, order)]))


@dataclass(frozen=True)
class Rounded:
    """Coefficients as integers, (n_outputs, columns), the shift of each column, and the real intercepts."""

    coef: Integers
    shift: Integers
    intercept: Array
    error: float
    """What the objective has grown by, over all outputs."""


def narrow_coefficients(program: IntegerProgram, rows: Array) -> IntegerProgram:
    """Return the program with coefficients in its format's width, rounded so that scores on ``rows`` change least."""
    if np.abs(program.coef).max() <= program.numbers.largest_coef:
        return program
    return narrowed(program, damped_hessian(columns(program, thinned(rows, MAX_ROWS))))


def narrowed(program: IntegerProgram, H: Array) -> IntegerProgram:
    """Return the program with rounded coefficients, by the best of several steps; H says what moves its scores."""
    W, largest = real_coefficients(program), program.numbers.largest_coef
    shifts = program.numbers.shifts_vectors(program.n_outputs) and not program.is_linear
    top = float(np.abs(W[:, :-1]).max())
    feedback = Feedback.of(H)
    made = [_with_step(program, W, feedback, factor * top / largest, shifts) for factor in STEPS_TRIED]
    return min(made, key=lambda candidate: candidate[1])[0]


def _with_step(
    program: IntegerProgram, W: Array, feedback: Feedback, step: float, shifts: bool
) -> tuple[IntegerProgram, float]:
    """Return the program with a step for the largest coefficients, and how far rounding moves its scores."""
    largest, one = value_range(program)
    least = smallest_unit(W[:, None, :-1], W[:, -1], largest, one)
    unit = step / one
    if shifts:
        room = int(np.clip(np.floor(np.log2(unit / least)), 0, MAX_SHIFT))
        unit /= 2.0**room
    unit = float32_from(max(unit, least))
    while True:
        found = round_with_feedback(W, feedback, unit * one, program.numbers.largest_coef, shifts=shifts)
        spare = int(found.shift[np.any(found.coef != 0, axis=0)].min(initial=MAX_SHIFT))
        worth = unit * 2.0**spare
        shift = np.maximum(found.shift - spare, 0)
        coef = (found.coef << shift).reshape(program.coef.shape)
        intercept = np.rint(found.intercept / worth).astype(np.int64)
        if fits_32_bits(coef, intercept, largest):
            kept = shift.reshape(program.coef.shape[1:]) if shift.any() else None
            return replace(program, coef=coef, intercept=intercept, unit=worth, shift=kept), found.error
        unit = float32_from(unit * 1.01)


def round_with_feedback(W: Array, feedback: Feedback, step: float, largest: int, *, shifts: bool) -> Rounded:
    """Return W, (n_outputs, columns and an intercept), rounded to multiples of ``step``, integers up to ``largest``.

    With ``shifts``, a column whose coefficients would be larger gets a step twice as large, or four times, and so on.
    """
    order, R, n = feedback.order, feedback.R, len(feedback.R) - 1
    target, off = W[:, order], np.zeros_like(W)
    coef, shift = np.zeros((len(W), n), dtype=np.int64), np.zeros(n, dtype=np.int64)
    for i in range(n, 0, -1):
        wanted = (target[:, i] - off[:, i + 1 :] @ R[i, i + 1 :] / R[i, i]) / step
        most = float(np.abs(wanted).max())
        s = int(np.ceil(np.log2(most / (largest + 0.5)))) if shifts and most > largest + 0.5 else 0
        q = np.clip(np.rint(wanted / 2.0**s), -largest, largest).astype(np.int64)
        off[:, i] = q * (step * 2.0**s) - target[:, i]
        coef[:, order[i]], shift[order[i]] = q, s
    intercept = target[:, 0] - off[:, 1:] @ R[0, 1:] / R[0, 0]
    off[:, 0] = intercept - target[:, 0]
    return Rounded(coef, shift, intercept, float(((off @ R.T) ** 2).sum()))
