"""The guarantee: no score within the box is further from the model's than it says, and no clear label changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integer_models import INTEGER_FORMATS, INTEGER_KERNELS, INTEGERS, READS, SIXTEEN, integer_cases, quantized

from benchmarks.trust._together import make_integer_case
from sparsegen.lowering.guarantee import Guarantee, guarantee, reading_error, real_vectors

ROUNDING = 1 + 1e-9  # of the bound itself, which is computed in float64


def inputs_in_range(program, rows, seed=0):
    """Return inputs in range, as the export takes them: corners, edges, all over it, and given rows."""
    rng, low, high = np.random.default_rng(seed), program.range.low, program.range.high
    shares = [
        rng.integers(0, 2, (60, len(low))),
        rng.choice([0.0, 0.5, 1.0], (40, len(low))),
        rng.random((60, len(low))),
    ]
    inside = np.vstack([low + (high - low) * share for share in shares])
    if not program.reader.kind.is_float:
        inside = np.rint(inside)
    inputs = np.vstack([inside.astype(program.input_dtype), program.inputs(rows)])
    return inputs[program.in_range(inputs)]


def meant_by(program, inputs):
    """Return the raw values that inputs stand for."""
    raw = inputs.astype(np.float64)
    return program.low + raw * program.step if program.reader.kind.is_grid else raw


@settings(max_examples=30, deadline=None)
@given(integer_cases(), st.sampled_from(INTEGER_FORMATS), st.sampled_from(READS))
def test_no_score_and_no_clear_label_is_off(case, dtype, reads):
    if case.model.transform.projection is not None and reads.startswith("raw"):
        case = make_integer_case(
            1, d=case.model.n_features, projected=True, raw=True, n_classes=len(case.model.classes)
        )
    program = quantized(case.model, dtype, reads, case.rows)
    proof = guarantee(program, case.model)
    inputs = inputs_in_range(program, case.rows)
    X = meant_by(program, inputs)
    wanted = case.model.scores(X)
    assert np.all(np.abs(program.scores(inputs) * program.unit - wanted) <= proof.error)
    lead = np.abs(wanted[:, 0]) if wanted.shape[1] == 1 else np.diff(np.sort(wanted, axis=1)[:, -2:]).ravel()
    clear = lead > proof.margin
    assert np.array_equal(program.predict_index(inputs)[clear], case.model.predict_index(X)[clear])


@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("centre", [0.0, 1e4])
def test_no_index_is_further_off_than_reading_allows(reads, centre):
    """Far from 0, float32 rounds the offset by more than a step's fraction."""
    for dtype in INTEGERS:
        case = make_integer_case(3, d=9, centre=centre, raw=reads.startswith("raw"))
        program = quantized(case.model, dtype, reads, case.rows)
        inputs = inputs_in_range(program, case.rows)
        off = np.abs(program.reader(inputs) - (meant_by(program, inputs) - program.low) / program.step)
        assert len(inputs) > 100
        assert np.all(off <= reading_error(program) + 1e-7)


@pytest.mark.parametrize("name", INTEGER_KERNELS)
def test_the_bound_is_small_enough_to_be_useful(name):
    """Not only true, but small: below a fifth of the coefficients, and smaller for 16 bits."""
    case = make_integer_case(1, name, d=4, m=4)
    errors = {d: guarantee(quantized(case.model, d, "f32", case.rows), case.model).error.max() for d in INTEGERS}
    assert errors["q7"] < 0.2 * np.abs(case.model.coef).sum()
    assert errors["q15"] < errors["q7"] / 5


@pytest.mark.parametrize(
    ("name", "octaves"), [("rbf", (0, 2, 3)), *((name, (0,)) for name in INTEGER_KERNELS if name != "linear")]
)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_what_kernel_values_lose_is_counted(name, octaves, dtype):
    """Of a model that lies on the grid, nothing else is lost; a row can lose most of what the bound allows."""
    case = make_integer_case(2, name, octaves=octaves, d=2, m=1)
    program = quantized(case.model, dtype, "grid", case.rows, finished=False)
    coef = program.coef.astype(np.float64) * program.unit * 2.0**15
    intercept = program.intercept.astype(np.float64) * program.unit
    of = replace(case.model, vectors=real_vectors(program, case.model), coef=coef, intercept=intercept)
    bound = guarantee(program, of).error[0]
    inputs = np.minimum(np.arange(4000)[:, None] * np.array([1, 0]) + program.vectors, program.levels)
    inputs = inputs.astype(program.input_dtype)
    X = program.low + inputs * program.step
    lost = np.abs(program.scores(inputs) * program.unit - of.scores(X)).max()
    assert 0.3 * bound < lost <= bound * ROUNDING


def test_a_wrong_coefficient_is_beyond_the_bound_of_the_right_one():
    case = make_integer_case(2, d=4)
    program = quantized(case.model, "q15", "f32", case.rows)
    wrong = replace(program, intercept=program.intercept + round(0.1 / program.unit))
    assert guarantee(wrong, case.model).error[0] >= guarantee(program, case.model).error[0] + 0.0999


def test_margin_is_the_error_of_one_score_or_of_the_two_worst():
    assert Guarantee(np.array([0.25]), {}).margin == 0.25
    assert Guarantee(np.array([0.25, 1.0, 0.5]), {}).margin == 1.5


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"intercept": np.array([2**31])}, "score"),
        ({"vectors": np.full((16, 16), 2**16)}, "unsigned"),
        ({"levels": 2**15}, "unsigned"),
    ],
)
def test_a_program_that_could_overflow_is_never_exported(change, what):
    broken = replace(quantized(SIXTEEN, "q15", "grid"), **change)
    with pytest.raises(AssertionError, match=f"{what}.* overflows"):
        guarantee(broken, SIXTEEN)
