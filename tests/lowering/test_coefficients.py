"""Coefficients: 16 bits each, no partial sum beyond 32, and as fine as both allow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integer_models import quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.coefficients import (
    SMALLEST_UNIT,
    partial_sums,
    scale_coefficients,
    score_error,
    with_coefficients,
)

KERNEL = (2**15 - 1, 2**15)
LINEAR = (255, 1)
WIDE_LINEAR = (32767, 1)
SIZES = st.sampled_from([0.0, 1e-30, 1e-3, 1.0, 1e4, 1e30])


@settings(deadline=None)
@given(st.integers(0, 999), st.sampled_from([KERNEL, LINEAR, WIDE_LINEAR]), SIZES, SIZES, st.integers(1, 4))
def test_nothing_leaves_its_type_and_half_of_it_is_used(seed, scale, coef_size, intercept_size, n_outputs):
    rng = np.random.default_rng(seed)
    coef = coef_size * rng.normal(size=(n_outputs, 2, 7))
    intercept = intercept_size * rng.normal(size=n_outputs)
    q, b, unit = scale_coefficients(coef, intercept, *scale)
    up, down = partial_sums(q, b, scale[0])
    assert np.abs(q).max() <= 32767
    assert -(2**31) < down <= 0 <= up < 2**31
    assert np.abs(q * unit * scale[1] - coef).max() <= 0.5000001 * unit * scale[1]
    assert np.abs(b * unit - intercept).max() <= 0.5000001 * unit
    if coef_size or intercept_size:
        fills_its_type = np.abs(q).max() > 16000 or max(up, -down) > 2**30
        assert fills_its_type or unit == SMALLEST_UNIT  # otherwise a smaller unit would have fitted
    assert unit == np.float32(unit)


def test_an_intercept_does_not_make_linear_weights_coarse():
    """An intercept is added as it is, a weight times an index: only their sums share 32 bits."""
    coef, intercept = np.full((1, 1, 4), 1e-3), np.array([-60.0])
    q, _, _ = scale_coefficients(coef, intercept, *WIDE_LINEAR)
    assert q.min() > 10_000


def test_partial_sums_bound_every_order():
    rng = np.random.default_rng(0)
    coef, intercept = rng.integers(-9, 9, (2, 1, 4)), rng.integers(-9, 9, 2)
    up, down = partial_sums(coef, intercept, 3)
    reached = [
        sum(order[:n])
        for o in range(2)
        for values in itertools.product((0, 3), repeat=4)
        for order in itertools.permutations([intercept[o], *(coef[o, 0] * values)])
        for n in range(6)
    ]
    assert (max(reached), min(reached)) == (up, down)


@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_other_coefficients_are_rescaled(name):
    case = make_integer_case(1, name)
    program = quantized(case.model, "q15", "f32", case.rows)
    real = program.coef.astype(np.float64) * program.unit * (1 if name == "linear" else 2**15)
    intercept = program.intercept.astype(np.float64) * program.unit
    twice = with_coefficients(program, 2.0 * real, 2.0 * intercept)
    assert twice.unit == pytest.approx(2.0 * program.unit, rel=1e-3)
    wanted = case.model.scores(case.rows)
    assert score_error(twice, case.rows, 2.0 * wanted) == pytest.approx(
        2.0 * score_error(program, case.rows, wanted), rel=0.1
    )
