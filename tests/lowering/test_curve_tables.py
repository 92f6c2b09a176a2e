"""Tables of sampled curves: entry by entry, their error by trying every distance, and no finer than needed."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest
from reference import sampled_curve as twin

from sparsegen.lowering.curves import HalfPower, SampledCurve, _error, _sampled, half_power_table, sample_curve

MODULE = import_module(sample_curve.__module__)
SHAPES = {
    "cauchy": lambda u: 1.0 / (1.0 + u),
    "matern": lambda u: (1.0 + np.sqrt(u)) * np.exp(-np.sqrt(u)),
    "gaussian": lambda u: np.exp(-u),
    "cusp": lambda u: np.exp(-np.sqrt(u)),
}


def of_distance(shape, half):
    exact = SHAPES[shape]
    return (lambda d: exact(d / half)), (lambda d: float(exact(np.float64(d / half))))


@pytest.mark.parametrize("width", [0, 1, 5, 8, 9, 12])
@pytest.mark.parametrize(("half", "largest"), [(3.0, 50), (700.0, 10**5), (1e6, 2**28)])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_equals_its_twin(shape, half, largest, width):
    exact, scalar = of_distance(shape, half)
    found = _sampled(exact, largest, width).values
    expected = twin.table(scalar, largest, width)
    assert len(found) == len(expected)
    assert np.abs(found - expected).max() <= 1  # a half may round either way
    assert np.mean(found == expected) > 0.98


@pytest.mark.parametrize("width", [0, 2, 7, 8, 10])
@pytest.mark.parametrize("largest", [1, 31, 32, 1000, 20_000])
@pytest.mark.parametrize("shape", ["cauchy", "cusp", "gaussian"])
def test_the_error_is_that_of_the_worst_distance(shape, largest, width):
    exact, _ = of_distance(shape, 500.0)
    curve = _sampled(exact, largest, width)
    d = np.arange(largest + 1)
    worst = np.abs(curve(d) / 2.0**15 - exact(d.astype(np.float64))).max()
    assert curve.error == pytest.approx(worst, rel=1e-12)


def test_the_error_beyond_the_end_is_what_is_cut_off():
    """A table of 32 distances of a function that falls slowly: all that follows is lost."""
    flat = SampledCurve(0, np.full(33, 2**14), 0.0)
    slow = lambda d: 0.5 + 0.0 * d  # noqa: E731 - as short as what it says
    assert _error(flat, slow, 31) == 0.0
    assert _error(flat, slow, 32) == 0.5


def test_the_widest_intervals_that_are_accurate_are_taken(monkeypatch):
    """Else the most accurate ones."""
    exact, _ = of_distance("cauchy", 700.0)
    curve = sample_curve(exact, 10**5)
    assert curve.error <= 2e-4 < _sampled(exact, 10**5, curve.width + 1).error
    monkeypatch.setattr(MODULE, "TARGET_ERROR", 0.0)
    best = sample_curve(exact, 10**5)
    assert best.error == min(_sampled(exact, 10**5, width).error for width in range(13))
    tolerant = _sampled(exact, 10**5, 11).error
    monkeypatch.setattr(MODULE, "TARGET_ERROR", tolerant)
    assert sample_curve(exact, 10**5).error <= tolerant
    monkeypatch.setattr(MODULE, "TARGET_ERROR", 1.0)
    assert sample_curve(exact, 10**5).width == (10**5 // 32).bit_length()


@pytest.mark.parametrize("width", [0, 7, 8, 9, 20])
def test_a_distance_falls_between_two_entries(width):
    """Its interval, by looking for the last entry that is not beyond it."""
    values = np.linspace(32767, 0, 33 + 16 * 2).astype(np.int64)
    curve = SampledCurve(width, values, 0.0)
    ends = [*(np.arange(32) << width), *(np.arange(16, 32) << width + 1), *(np.arange(16, 32) << width + 2)]
    assert (curve.shifts, curve.end) == (2, 128 << width)
    d = np.unique(np.random.default_rng(0).integers(0, curve.end, 300))
    expected = [max(i for i, end in enumerate(ends) if end <= v) for v in d.tolist()]
    assert curve.interval(d).tolist() == expected
    assert curve.interval(np.array([curve.end, 10 * curve.end])).tolist() == [len(ends) - 1] * 2


@pytest.mark.parametrize(("octave", "doubling"), [(3, 0), (12, 0), (15, 2), (4, 4)])
def test_an_interval_of_a_half_power_is_a_sixteenth_of_an_octave(octave, doubling):
    curve = HalfPower(octave, doubling)
    d = np.arange(0, curve.end, max(1, curve.end // 200))
    expected = [math.floor(16 * (v * 2**doubling / 2**octave)) % 16 for v in d.tolist()]
    assert curve.interval(d).tolist() == expected
    assert curve.end == 16 * 2**octave // 2**doubling


@pytest.mark.parametrize("octave", [0, 12, 13, 20])
def test_the_table_of_a_half_power_is_lowered_by_half_the_height_of_a_chord(octave):
    """A chord over h lies h^2 / 8 of the second derivative above the curve; dropped bits count by their middle."""
    lowered = 1.0 - (math.log(2.0) / 16) ** 2 / 16
    middle = 2.0**-13 if octave > 12 else 0.0
    assert half_power_table(octave).tolist() == [round(2**15 * lowered * 2.0 ** -(i / 16 + middle)) for i in range(17)]


@pytest.mark.parametrize("width", [0, 3, 8, 12])
def test_a_distance_is_halved_first_where_its_places_would_leave_32_bits(width):
    """Places are distances shifted to the left where an interval is narrower than 256."""
    left = max(0, 8 - width)
    for shifts in (0, 32 - left - 5 - width, 33 - left - 5 - width):
        curve = SampledCurve(width, np.zeros(33 + 16 * shifts, dtype=np.int64), 0.0)
        assert curve.end == 2 ** (5 + width + shifts)
        if curve.end <= 2 ** (32 - left):
            assert curve.halved_from is None
            assert curve.largest_place == (curve.end - 1) * 2**left < 2**32
        else:
            assert curve.halved_from == 2 ** (32 - left)
            assert curve.largest_place == 2**32 - 2**left
