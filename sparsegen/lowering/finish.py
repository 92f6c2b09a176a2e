"""Quantization-aware finish: rounding moved the vectors and the inputs, so the coefficients are re-solved.

    min_{c, b}  sum_i |sum_u c_u K_u(x_i) + b - f(x_i)|^2 + damping |c - c_0|^2

f is the real-valued model, K_u(x_i) what the integer program computes for a calibration row, its rounding included, and
c_0 the model's coefficients. It needs no labels and serves every method.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from sparsegen.arrays import Array
from sparsegen.lowering.coefficients import score_error, value_range, with_coefficients
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.locate_data import thinned
from sparsegen.model import SparseModel

DAMPING = 1e-4  # of the mean squared kernel value, per row
MAX_ROWS = 20_000


def finish(program: IntegerProgram, model: SparseModel, rows: Array) -> IntegerProgram:
    """Return the program with coefficients re-solved on ``rows``, if that brings its scores closer to the model's."""
    if program.is_linear:
        return program  # it has no rounded vectors that other coefficients could make up for
    rows = thinned(rows, MAX_ROWS)
    Phi, start = columns(program, rows), real_coefficients(program)
    wanted = model.scores(rows)
    step = cho_solve(cho_factor(damped_hessian(Phi)), Phi.T @ (wanted - Phi @ start.T))
    solved = start + step.T
    coef = solved[:, :-1].reshape(program.coef.shape)
    finished = with_coefficients(program, coef, solved[:, -1])
    return min(program, finished, key=lambda candidate: score_error(candidate, rows, wanted))


def columns(program: IntegerProgram, rows: Array) -> Array:
    """Return what the program's coefficients are multiplied with for every row, and a 1 for the intercept."""
    _, one = value_range(program)
    values = program.kernel_values(program.seen(program.inputs(rows))) / one
    return np.column_stack([values.reshape(len(rows), -1), np.ones(len(rows))])


def real_coefficients(program: IntegerProgram) -> Array:
    """Return the coefficients of those columns for every output, in the real-valued model's units."""
    _, one = value_range(program)
    coef = program.coef.reshape(program.n_outputs, -1)
    return np.column_stack([coef, program.intercept / one]) * program.unit * one


def damped_hessian(Phi: Array) -> Array:
    """Return half the second derivative of the objective in the coefficients; the same for every output."""
    H = Phi.T @ Phi
    damping = np.full(len(H), DAMPING * np.trace(H) / len(H))
    damping[-1] = 1e-9 * len(Phi)
    return np.asarray(H + np.diag(damping))
