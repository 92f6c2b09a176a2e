"""Curves: sampled ones are as close as they say, fall, and equal their twin."""

from __future__ import annotations

import numpy as np
import pytest
from reference.integer_program import sampled

from sparsegen.lowering.curves import KERNEL_BITS, LARGEST_VALUE, TARGET_ERROR, HalfPower, sample_curve

SHAPES = {
    "cauchy": lambda u: 1.0 / (1.0 + u),
    "matern": lambda u: (1.0 + np.sqrt(u)) * np.exp(-np.sqrt(u)),
    "gaussian": lambda u: np.exp(-u),
    "cusp": lambda u: np.exp(-np.sqrt(u)),
    "slow": lambda u: 1.0 / np.sqrt(1.0 + u),
    "quartic": lambda u: 1.0 / (1.0 + u) ** 2,
}


def stretched(shape, half):
    return lambda d: SHAPES[shape](d / half)


def distances(largest):
    """Return distances of every size, all small ones among them."""
    rng = np.random.default_rng(0)
    spread = (2.0 ** (rng.random(20_000) * np.log2(largest))).astype(np.int64)
    return np.unique(np.concatenate([np.arange(min(largest, 3000) + 1), spread, [largest]]))


@pytest.mark.parametrize("largest", [1, 255, 16 * 255**2, 2**31 - 1])
@pytest.mark.parametrize("half", [2.0, 300.0, 1e5, 1e8])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_sampled_curve_falls_and_keeps_its_error(shape, half, largest):
    exact = stretched(shape, half)
    curve = sample_curve(exact, largest)
    d = distances(largest)
    K = curve(d)
    assert np.abs(K / 2.0**KERNEL_BITS - exact(d.astype(np.float64))).max() <= curve.error * (1 + 1e-12)
    assert np.all(np.diff(K) <= 0)
    assert K.min() >= 0
    assert K.max() <= LARGEST_VALUE
    assert len(curve.values) <= 33 + 16 * 26
    assert curve.largest_place < 2**32  # the device counts in 32 bits
    if shape != "cusp" or half >= 1e5:  # a cusp is as sharp as the distances are fine
        assert curve.error <= 2 * TARGET_ERROR


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sampled_curve_equals_its_twin(shape):
    for half in (3.0, 5000.0, 3e6):
        curve = sample_curve(stretched(shape, half), 2**28)
        d = distances(2**28)[::37]
        assert curve(d).tolist() == [sampled(int(v), curve.width, curve.values.tolist()) for v in d]


def test_the_stated_error_is_reached():
    """The bound is a maximum, not a guess: some distance comes close to it."""
    curve = sample_curve(lambda d: 1.0 / (1.0 + d / 1000.0), 10**6)
    d = np.arange(10**6 + 1)
    assert np.abs(curve(d) / 2.0**KERNEL_BITS - 1.0 / (1.0 + d / 1000.0)).max() >= 0.99 * curve.error


@pytest.mark.parametrize("octave", [0, 1, 5, 11, 12, 13, 15])
@pytest.mark.parametrize("doubling", [0, 1, 3])
def test_a_half_power_is_as_close_as_it_says_and_no_closer(octave, doubling):
    """By trying every distance up to where it is 0, and beyond."""
    curve = HalfPower(octave, doubling)
    d = np.arange(curve.end + 100)
    exact = 2.0 ** -(d * 2.0 ** (doubling - octave))
    K = curve(d)
    lost = np.abs(K / 2.0**KERNEL_BITS - exact).max()
    assert 0.98 * curve.error <= lost <= curve.error * (1 + 1e-12)
    assert curve.error < 1.1 * TARGET_ERROR
    assert np.all(np.diff(K) <= 0)
    assert not K[curve.end :].any()
    assert exact[curve.end] <= 2.0**-16


@pytest.mark.parametrize("largest", [10, 31, 32, 1000, 10**6])
def test_a_table_reaches_the_largest_distance_and_is_no_longer_than_needed(largest):
    curve = sample_curve(lambda d: 1.0 / (1.0 + d / 50.0), largest)
    assert len(curve.values) == 33 + 16 * curve.shifts
    assert curve.end > largest
    if curve.shifts:
        assert curve.end // 2 <= largest, "half of it would not do"
    assert curve.end == 32 << (curve.width + curve.shifts)


def test_a_table_ends_where_nothing_is_left():
    curve = sample_curve(lambda d: np.exp(-d / 10.0), 10**6)
    assert 10.0 * np.log(2.0**16) <= curve.end < 1000
    assert curve(np.array([curve.end, 10**6])).tolist() == [0, 0]


def test_distances_of_almost_all_bits_are_halved_first():
    small, large = (sample_curve(stretched("slow", 3.0), largest) for largest in (2**20, 2**31 - 1))
    assert small.halved_from is None
    assert small.largest_place == (small.end - 1) << max(0, 8 - small.width)
    assert large.halved_from == 1 << (32 - (8 - large.width))
    assert large.largest_place == (large.halved_from - 1) << (8 - large.width)
