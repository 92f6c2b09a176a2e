"""Coefficients of 8 bits: rounding with feedback equals its twin, beats plain rounding, and fits the format."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from integer_models import quantized
from reference import narrow_coefficients as twin

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.agreement import agreement
from sparsegen.lowering.coefficients import partial_sums, score_error, value_range
from sparsegen.lowering.finish import columns, damped_hessian, finish, real_coefficients
from sparsegen.lowering.narrow_coefficients import (
    MAX_SHIFT,
    Feedback,
    narrow_coefficients,
    narrowed,
    round_with_feedback,
)

NARROW = ("q7c8", "q15c8")


def problem(seed, n_outputs=3, n=12):
    """Return coefficients with heavy tails, and the Hessian of columns that resemble each other."""
    rng = np.random.default_rng(seed)
    Phi = np.column_stack([0.5 + 0.5 * rng.random((80, 4)) @ rng.random((4, n)), np.ones(80)])
    W = rng.normal(size=(n_outputs, n + 1)) * np.append(10.0 ** rng.uniform(-1.0, 1.5, n), 1.0)
    return W, damped_hessian(Phi + 0.1 * rng.random(Phi.shape))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("step", "shifts"), [(0.05, True), (1.0, True), (0.5, False), (0.05, False)])
def test_it_equals_its_twin(seed, step, shifts):
    W, H = problem(seed)
    found = round_with_feedback(W, Feedback.of(H), step, 127, shifts=shifts)
    coef, shift, intercept = twin.round_with_feedback(W, H, step, 127, shifts)
    assert found.coef.tolist() == coef.tolist()
    assert found.shift.tolist() == shift
    np.testing.assert_allclose(found.intercept, intercept, rtol=1e-6, atol=1e-9)
    w = np.column_stack([found.coef * step * 2.0**found.shift, found.intercept])
    assert found.error == pytest.approx(np.einsum("oi,ij,oj->", w - W, H, w - W), rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_without_feedback_each_coefficient_goes_to_the_nearest(seed):
    """A diagonal H has nothing to feed back; the objective is then larger, even with the best intercept."""
    W, H = problem(seed)
    plain = round_with_feedback(W, Feedback.of(np.diag(np.diag(H))), 0.05, 127, shifts=True)
    assert plain.coef.tolist() == np.rint(W[:, :-1] / (0.05 * 2.0**plain.shift)).tolist()
    off = plain.coef * 0.05 * 2.0**plain.shift - W[:, :-1]
    off = np.column_stack([off, -off @ H[:-1, -1] / H[-1, -1]])
    fed = round_with_feedback(W, Feedback.of(H), 0.05, 127, shifts=True)
    assert fed.error < 0.7 * np.einsum("oi,ij,oj->", off, H, off)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("seed", [0, 2])
def test_feedback_keeps_labels_that_plain_rounding_loses(seed, dtype):
    """Of a machine fitted to eight classes, on other rows; even with the intercept that suits plain rounding best."""
    rng = np.random.default_rng(seed)
    of = make_integer_case(seed, m=40, d=4, n_classes=8).model
    T, (kernel,) = of.transform, of.kernels
    rows, others = T.inverse(rng.normal(size=(1500, 4))), T.inverse(rng.normal(size=(1500, 4)))
    centres = rng.normal(size=(8, 4))
    nearest = np.argmin(((T(rows)[:, None] - centres) ** 2).sum(axis=2), axis=1)
    Phi = np.column_stack([kernel.gram(T(rows), of.vectors), np.ones(len(rows))])
    w = np.linalg.solve(Phi.T @ Phi + 1e-4 * np.eye(41), Phi.T @ (2.0 * np.eye(8)[nearest] - 1.0)).T
    of = replace(of, coef=w[:, None, :-1], intercept=w[:, -1])
    finished = finish(quantized(of, dtype, "f32", rows, finished=False), of, rows)
    H = damped_hessian(columns(finished, rows))
    rounded = narrowed(finished, np.diag(np.diag(H)))
    left = (of.scores(rows) / rounded.unit - rounded.scores(rounded.inputs(rows))).mean(axis=0)
    rounded = replace(rounded, intercept=rounded.intercept + np.rint(left).astype(np.int64))
    programs = [finished, narrow_coefficients(finished, rows), rounded]
    wide, fed, plain = (agreement(program, of, others).same_labels for program in programs)
    assert fed > wide - 0.01 > 0.97 and plain < 0.95
    errors = [score_error(program, others, of.scores(others)) for program in programs]
    assert errors[1] < 0.3 * errors[2]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    "case",
    [
        make_integer_case(1, m=9, n_classes=4),
        make_integer_case(2, m=9),
        make_integer_case(3, "linear", d=7, n_classes=3),
        make_integer_case(4, octaves=(0, 2), m=9, n_classes=3),
        make_integer_case(5, size=1e12, n_classes=3),
        make_integer_case(6, size=1e-12, n_classes=3, constant=True),
        make_integer_case(7, m=60, n_classes=3, far=100.0),
    ],
    ids=["several", "binary", "linear", "kernels", "huge", "tiny", "far"],
)
def test_everything_fits(case, dtype):
    program = quantized(case.model, dtype, "f32", case.rows)
    stored = program.stored_coef
    assert 60 < np.abs(stored).max() <= 127
    assert np.array_equal(stored << (0 if program.shift is None else program.shift), program.coef)
    up, down = partial_sums(program.coef, program.intercept, value_range(program)[0])
    assert -(2**31) < down <= 0 <= up < 2**31
    assert program.unit == np.float32(program.unit)
    if program.shift is not None:
        assert 0 == program.shift.min() < program.shift.max() <= MAX_SHIFT + 1
        assert program.n_outputs > 1 and not program.is_linear
        used = np.abs(stored).max(axis=0)
        assert np.all(used[program.shift > 0] > 50)  # a smaller shift would not have fitted


@pytest.mark.parametrize("dtype", ["q7", "q15"])
def test_a_program_whose_coefficients_fit_stays_as_it_is(dtype):
    case = make_integer_case(1, m=9, n_classes=4)
    program = quantized(case.model, dtype, "f32", case.rows)
    assert narrow_coefficients(program, case.rows) is program
    narrow = quantized(case.model, f"{dtype}c8", "f32", case.rows)
    assert np.array_equal(narrow.vectors, program.vectors)


def test_one_row_and_rows_far_from_every_vector_are_no_trouble():
    case = make_integer_case(3, m=9, n_classes=3)
    rough = quantized(case.model, "q7c8", "f32", case.rows, finished=False)
    for rows in (case.rows[:1], case.rows[:3] + 1e6):
        narrow = narrow_coefficients(rough, rows)
        assert np.abs(narrow.stored_coef).max() <= 127
        np.testing.assert_allclose(real_coefficients(narrow), real_coefficients(rough), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_several_steps_is_taken(seed):
    """Of a binary program, whose coefficients share one step: a finer one cuts off the largest."""
    case = make_integer_case(seed, m=20, d=3)
    finished = finish(quantized(case.model, "q15c8", "f32", case.rows, finished=False), case.model, case.rows)
    W, H = real_coefficients(finished), damped_hessian(columns(finished, case.rows))
    steps = [2.0 ** (i / 4) * np.abs(W[:, :-1]).max() / 127 for i in (-3, -2, -1, 0, 1)]
    errors = [round_with_feedback(W, Feedback.of(H), step, 127, shifts=False).error for step in steps]
    program = narrow_coefficients(finished, case.rows)
    assert program.shift is None
    assert program.unit * 2**15 == pytest.approx(steps[int(np.argmin(errors))], rel=1e-6)
    assert narrow_coefficients(program, case.rows) is program


def test_vectors_of_little_weight_keep_their_digits():
    case = make_integer_case(1, m=9, n_classes=3)
    weight = 2.0 ** -np.arange(9)
    of = replace(case.model, coef=case.model.coef * weight)
    program = quantized(of, "q15c8", "f32", case.rows, finished=False)
    narrow = narrow_coefficients(program, case.rows)
    assert narrow.shift is not None and narrow.shift.max() >= 8
    assert np.abs(narrow.stored_coef).max(axis=0).min() > 50


def test_many_vectors_of_one_sign_stay_within_32_bits():
    """Of 596 equal coefficients, the finest that fit are 109.96 units, which round to 110: then they do not fit."""
    case = make_integer_case(1, m=596)
    of = replace(case.model, coef=np.full((1, 1, 596), 2.0), intercept=np.zeros(1))
    program = quantized(of, "q7c8", "f32", case.rows, finished=False)
    narrow = narrowed(program, np.eye(597))
    assert set(narrow.coef.ravel().tolist()) == {109}
    assert partial_sums(narrow.coef, narrow.intercept, 2**15 - 1)[0] < 2**31
