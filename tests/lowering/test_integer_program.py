"""The simulator: equal to its slow twin on every sample, extremes included, and 2^-x as close as it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integer_models import INTEGER_FORMATS, READS, SIXTEEN, integer_cases, quantized
from reference.integer_program import Twin
from reference.integer_program import half_power as slow_half_power

from benchmarks.trust._together import extreme_inputs, make_integer_case
from sparsegen.lowering import integer_program
from sparsegen.lowering.curves import KERNEL_BITS, HalfPower, half_power, half_power_table
from sparsegen.lowering.guarantee import guarantee
from sparsegen.lowering.quantize import MAX_OCTAVE


@settings(max_examples=25, deadline=None)
@given(integer_cases(), st.sampled_from(INTEGER_FORMATS), st.sampled_from(READS))
def test_every_sample_equals_the_twin_and_stays_in_its_intervals(case, dtype, reads):
    if case.model.transform.projection is not None and reads.startswith("raw"):
        case = make_integer_case(
            1, d=case.model.n_features, projected=True, raw=True, n_classes=len(case.model.classes)
        )
    program = quantized(case.model, dtype, reads, case.rows)
    inputs = extreme_inputs(program, case.rows)
    twin = Twin(program)
    assert np.array_equal(program.scores(inputs), twin.scores(inputs))
    bounds = guarantee(program, case.model).intervals
    for name, (least, largest) in twin.ranges.items():
        assert bounds[name][0] <= least <= largest <= bounds[name][1], name
    assert set(twin.ranges) == set(bounds)


def test_labels_are_sign_and_first_of_the_largest():
    two = quantized(SIXTEEN, "q7", "grid")
    inputs = extreme_inputs(two, make_integer_case(0, d=16).rows)
    assert np.array_equal(two.predict_index(inputs), two.scores(inputs)[:, 0] > 0)
    zero = replace(two, coef=0 * two.coef, intercept=0 * two.intercept)
    assert not zero.predict_index(inputs).any()  # a score of 0 is class 0
    case = make_integer_case(3, n_classes=4)
    four = quantized(case.model, "q7", "f32", case.rows)
    tied = replace(four, coef=0 * four.coef, intercept=np.array([-1, 5, 5, 2]))
    assert tied.predict_index(tied.inputs(case.rows)).tolist() == [1] * len(case.rows)


def test_a_nan_and_what_is_below_count_as_index_0_and_infinity_as_the_last():
    case = make_integer_case(4, d=3)
    reader = quantized(case.model, "q15", "f32", case.rows).reader
    odd = np.array([[np.nan, -np.inf, np.inf], [-3e38, 3e38, np.nan]], np.float32)
    assert reader(odd).tolist() == [[0, 0, reader.levels], [0, reader.levels, 0]]


@pytest.mark.parametrize("reads", READS)
def test_reading_gives_the_nearest_index_within_the_grid(reads):
    case = make_integer_case(5, d=4, raw=True)
    program = quantized(case.model, "q7", reads, case.rows)
    inputs = program.inputs(case.rows)
    assert inputs.dtype == program.input_dtype
    raw = program.low + inputs * program.step if reads == "grid" else inputs.astype(np.float64)
    exact = np.clip((raw - program.low) / program.step, 0, program.reader.levels)
    assert np.abs(program.reader(inputs) - exact).max() <= 0.51


def test_blocks_make_no_difference(monkeypatch):
    case = make_integer_case(6, "laplacian")
    program = quantized(case.model, "q7", "f32", case.rows)
    inputs = extreme_inputs(program, case.rows)
    whole = program.scores(inputs)
    monkeypatch.setattr(integer_program, "BLOCK_ENTRIES", 70)
    assert np.array_equal(program.scores(inputs), whole)


def test_an_overflow_is_never_returned():
    program = quantized(SIXTEEN, "q7", "grid")
    broken = replace(program, intercept=np.array([2**33]))
    with pytest.raises(AssertionError, match="overflows"):
        broken.scores(np.zeros((1, 16), np.uint8))


@pytest.mark.parametrize("octave", range(MAX_OCTAVE + 1))
def test_half_power_is_2_to_the_minus_x_within_its_bound_and_falls(octave):
    """Exhaustive up to 2^18 distances; for wider kernels both ends of every step that the exponent can tell."""
    width = max(0, octave - 12)
    d = np.arange(16 << min(octave, 12)) << width
    d = np.arange(16 << octave) if octave <= 14 else np.unique(np.concatenate([d, d + (1 << width) - 1]))
    K = half_power(d, octave)
    error = np.abs(K / 2.0**KERNEL_BITS - 2.0 ** -(d / 2.0**octave))
    assert max(error.max(), 2.0**-16) == HalfPower(octave).error
    assert HalfPower(octave).error < 2.2e-4
    assert K.max() < 2**15
    assert np.all(np.diff(K) <= 0)
    beyond = np.array([16 << octave, (16 << octave) + 1, 2**31 - 1])
    assert not half_power(beyond[beyond >= 16 << octave], octave).any()


@pytest.mark.parametrize("octave", [0, 5, 11, 12, 13, 20, 26])
def test_half_power_equals_the_twin(octave):
    d = np.unique(np.random.default_rng(0).integers(0, 17 << octave, 500))
    assert half_power(d, octave).tolist() == [slow_half_power(int(v), octave) for v in d]


@pytest.mark.parametrize(("octave", "doubling"), [(14, 2), (12, 3), (16, 2), (3, 2), (0, 4), (2, 6), (26, 26)])
def test_the_bound_of_a_narrower_kernel_is_its_maximum_too(octave, doubling):
    own = octave - doubling
    d = np.arange(max(1, int(16 * 2.0**own)))
    error = np.abs(half_power(d << doubling, octave) / 2.0**KERNEL_BITS - 2.0 ** -(d / 2.0**own))
    assert max(float(error.max()), 2.0**-16) == pytest.approx(HalfPower(octave, doubling).error, rel=1e-3)
    assert error.max() <= HalfPower(octave, doubling).error


def test_the_table_falls_by_half_and_fits_16_bits():
    for octave in (5, 20):
        table = half_power_table(octave)
        assert len(table) == 17
        assert table[0] < 2**15
        assert abs(table[0] - 2 * table[-1]) <= 1
        assert np.all(np.diff(table) < 0)
