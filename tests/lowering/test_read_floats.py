"""Reading floats by their bits: every pattern has the index of its twin, and none is further off than the bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.integer_program import place, upper_half

from sparsegen.errors import ModelError
from sparsegen.lowering.calibrate import Box
from sparsegen.lowering.formats import FLOAT_INPUT
from sparsegen.lowering.input_range import covered
from sparsegen.lowering.read_floats import MAX_LOST, NARROW, WIDE, FloatReader, make_float_reader

LEVELS = (100, 255, 4095, 11585, 32767)


def reader_of(low, step, levels=255) -> FloatReader:
    return make_float_reader(FLOAT_INPUT, np.atleast_1d(np.float64(low)), np.atleast_1d(np.float64(step)), levels)


def patterns(seed=0, n=4000):
    """Return floats of random bits, all powers of two with their neighbours, and whatever is special."""
    random = np.random.default_rng(seed).integers(0, 2**32, n, dtype=np.uint32).view(np.float32)
    powers = np.arange(256, dtype=np.uint32) << 23
    near = (powers[:, None] + np.array([0, 1, 2**22, 2**23 - 1], dtype=np.uint32)).ravel().view(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45], dtype=np.float32)
    return np.concatenate([random, near, -near, special])


def borders(low, step, levels):
    """Return the floats on both sides of where one index ends and the next begins, for some indices, and of ends."""
    indices = np.unique(np.rint(np.linspace(-1, levels + 2, 100)))
    at = (low + (indices - 0.5) * step).astype(np.float32)
    at = np.concatenate([at, (low + indices * step).astype(np.float32)])
    return np.concatenate([at, *(np.nextafter(at, np.float32(to)) for to in (-np.inf, np.inf))])


grids = st.tuples(
    st.sampled_from(LEVELS),
    st.floats(-31, 31).map(lambda power: 10.0**power),
    st.one_of(st.sampled_from([0.0, -0.5, -1.0, 1.0]), st.floats(-1e3, 1e3), st.floats(-1e6, 1e6)),
)
"""Levels, length of the grid, and where it begins, in lengths."""


@settings(max_examples=100, deadline=None)
@given(grids, st.integers(0, 2**32 - 1))
def test_every_pattern_has_the_index_of_its_twin(grid, seed):
    levels, length, begin = grid
    reader = reader_of(begin * length, length / levels, levels)
    x = np.concatenate([patterns(seed, 100)[::7], borders(begin * length, length / levels, levels)[::5]])
    found = reader.place(x[:, None])[:, 0]
    assert found.tolist() == [place(float(v), reader, 0) for v in x]
    above = [max(int(p) - int(reader.start[0]), 0) for p in found]
    upper = [upper_half(a, int(reader.multiplier[0]), reader.word) for a in above]
    assert reader(x[:, None])[:, 0].tolist() == [min(u >> reader.shift, levels) for u in upper]
    assert max(upper) <= reader.intervals()["unsigned scaled feature"][1] < 2**32


@settings(max_examples=200, deadline=None)
@given(grids)
def test_no_index_is_further_off_than_the_bound(grid):
    """At the borders between indices and right beside them, in exact arithmetic."""
    levels, length, begin = grid
    low, step = begin * length, length / levels
    reader = reader_of(low, step, levels)
    x = borders(low, step, levels)
    inside = covered(Box(np.array([low - step / 2]), np.array([low + (levels + 0.5) * step])), reader)
    x = np.concatenate([x, [np.float32(inside.low[0]), np.float32(inside.high[0])]])
    x = x[(x >= inside.low[0]) & (x <= inside.high[0])]
    bound = Fraction(float(reader.error(np.array([low]), np.array([step]), inside)[0]))
    for value, index in zip(x.tolist(), reader(x[:, None])[:, 0].tolist(), strict=True):
        assert abs(index - (Fraction(value) - Fraction(low)) / Fraction(step)) <= bound


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("begin", [0.0, -0.3, -0.5, -1.0, 0.5, 4.0, 1000.0])
def test_a_grid_that_float32_resolves_loses_next_to_nothing(levels, begin):
    low, step = np.array([begin * 7.0]), np.array([7.0 / levels])
    reader = reader_of(low, step, levels)
    ends = Box(low - step / 2, low + (levels + 0.5) * step)
    if 2.0 * np.spacing(np.float32(ends.high[0])) < step[0]:
        assert reader.error(low, step, ends)[0] <= 0.5 + MAX_LOST
    assert reader.digits == (NARROW if max(begin + 1, 1) * levels <= 500 else WIDE)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("begin", [-0.5, 0.0, 3.0])
def test_indices_never_fall_as_features_rise(levels, begin):
    reader = reader_of(begin, 1.0 / levels, levels)
    x = patterns()
    x = np.sort(x[~np.isnan(x) & (x != 0.0)])  # sorting does not tell apart the two zeros
    assert np.all(np.diff(reader(x[:, None])[:, 0]) >= 0)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize(("low", "step"), [(10.0, 0.5), (-1e-34, 1e-36), (-2e38, 1e33), (0.0, 1e30), (-1e-3, 1e-5)])
def test_special_floats_have_an_index(levels, low, step):
    reader = reader_of(low, step, levels)
    special = np.array([-np.inf, np.nan, -np.nan, -3.4e38, np.inf], dtype=np.float32)
    found = reader(special[:, None])[:, 0].tolist()
    assert found[:3] == [0, 0, 0]
    assert found[3] == 0
    assert found[4] == levels


def test_floats_are_rounded_and_kept_on_the_grid():
    reader = reader_of(10.0, 0.5, 7)
    x = np.array([[9.0], [10.0], [10.2], [10.3], [13.0], [13.5], [99.0]], dtype=np.float32)
    assert reader(x)[:, 0].tolist() == [0, 0, 0, 1, 6, 7, 7]


def test_an_exponent_is_shared_where_that_loses_next_to_nothing():
    alike = reader_of([0.0, 0.0, -1.0], [0.004, 0.005, 0.008])
    assert alike.exponent.tolist() == [127] * 3
    apart = reader_of([0.0, 0.0], [0.004, 0.4])
    assert apart.exponent.tolist() == [127, 133]
    assert {alike.digits, apart.digits} == {NARROW}
    assert reader_of([0.0, 0.0], [0.004, 0.4], 4095).exponent.tolist() == [137, 137], "32 bits have room for both"


def test_one_far_feature_widens_the_places_of_all():
    assert reader_of([0.0, 1000.0], [0.01, 0.01]).is_wide
    assert not reader_of([0.0, 1.0], [0.01, 0.01]).is_wide


def test_a_step_too_small_for_float32_is_refused():
    with pytest.raises(ModelError, match="a step of 1e-40 is too small to read; rescale the features"):
        reader_of([0.0, 0.0], [1e-40, 1.0])


@pytest.mark.parametrize("levels", LEVELS)
def test_the_multiplier_uses_the_bits_there_are(levels):
    """The largest has its first bit or, among 32, one of the first 8: then the shift is a whole byte."""
    reader = reader_of([0.0, 0.0], [0.3 / levels, 0.7 / levels], levels)
    spare = reader.word - int(reader.multiplier.max()).bit_length()
    assert spare < (8 if reader.is_wide else 1)
    assert reader.shift % 8 == 0 or not reader.is_wide
