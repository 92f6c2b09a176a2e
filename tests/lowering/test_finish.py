"""The quantization-aware finish: scores come closer on its rows, never further, and labels are regained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integer_models import INTEGER_FORMATS, INTEGERS, integer_cases, quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.coefficients import score_error
from sparsegen.lowering.finish import finish


@settings(max_examples=15, deadline=None)
@given(integer_cases(raw=True), st.sampled_from(INTEGER_FORMATS))
def test_it_never_raises_the_error_on_its_rows(case, dtype):
    wanted = case.model.scores(case.rows)
    rough = quantized(case.model, dtype, "f32", case.rows, finished=False)
    finished = finish(rough, case.model, case.rows)
    assert score_error(finished, case.rows, wanted) <= score_error(rough, case.rows, wanted)
    assert np.array_equal(finished.vectors, rough.vectors)


def test_it_regains_most_of_what_rounding_the_vectors_lost():
    case = make_integer_case(2, d=8, m=12, n_classes=3)
    wanted = case.model.scores(case.rows)
    rough = quantized(case.model, "q7", "f32", case.rows, finished=False)
    moved = replace(
        rough, vectors=np.clip(rough.vectors + np.random.default_rng(0).integers(-3, 4, rough.vectors.shape), 0, 255)
    )
    before, after = (score_error(p, case.rows, wanted) for p in (moved, finish(moved, case.model, case.rows)))
    assert after < 0.5 * before


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quantize_finishes_by_default(dtype):
    case = make_integer_case(5, m=10)
    wanted = case.model.scores(case.rows)
    errors = [
        score_error(quantized(case.model, dtype, "f32", case.rows, finished=f), case.rows, wanted)
        for f in (True, False)
    ]
    assert errors[0] < errors[1]


def test_a_linear_program_stays_as_it_is():
    case = make_integer_case(1, "linear")
    program = quantized(case.model, "q7", "f32", case.rows)
    assert finish(program, case.model, case.rows) is program


def test_one_row_and_rows_far_from_every_vector_are_no_trouble():
    case = make_integer_case(3, m=9)
    rough = quantized(case.model, "q7", "f32", case.rows, finished=False)
    for rows in (case.rows[:1], case.rows[:3] + 1e6):
        finished = finish(rough, case.model, rows)
        assert np.isfinite(finished.unit)
        assert np.abs(finished.coef).max() <= 32767


@pytest.mark.parametrize("n_classes", [2, 3])
def test_coefficients_solve_the_damped_least_squares(n_classes):
    """The objective of the module, solved as one long least-squares problem per output."""
    case = make_integer_case(2, d=4, m=5, n_classes=n_classes, octaves=(0, 1))
    rough = quantized(case.model, "q15", "f32", case.rows, finished=False)
    moved = replace(rough, vectors=np.clip(rough.vectors + 500, 0, rough.levels))
    found = finish(moved, case.model, case.rows)
    K = moved.kernel_values(moved.seen(moved.inputs(case.rows))).reshape(len(case.rows), -1) / 2.0**15
    Phi = np.column_stack([K, np.ones(len(K))])
    wanted = case.model.scores(case.rows)
    damping = np.full(Phi.shape[1], 1e-4 * (Phi**2).sum() / Phi.shape[1])
    damping[-1] = 1e-9 * len(K)
    for o in range(moved.n_outputs):
        start = np.append(moved.coef[o].ravel() * 2.0**15, moved.intercept[o]) * moved.unit
        long = np.vstack([Phi, np.diag(np.sqrt(damping))])
        expected = np.linalg.lstsq(long, np.append(wanted[:, o], np.sqrt(damping) * start), rcond=None)[0]
        solved = np.append(found.coef[o].ravel() * 2.0**15, found.intercept[o]) * found.unit
        assert np.abs(solved - expected).max() <= 0.6 * found.unit * 2.0**15
