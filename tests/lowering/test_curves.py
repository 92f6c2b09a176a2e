"""Curves: sampled ones are as close as they say, fall, and equal their twin."""

from __future__ import annotations

import numpy as np
import pytest
from reference.integer_program import sampled

from sparsegen.lowering.curves import KERNEL_BITS, LARGEST_VALUE, TARGET_ERROR, sample_curve

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
