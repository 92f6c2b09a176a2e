"""Shares, losses and bounds never sound better in print than they are."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsegen.promised import at_least, bound, percent, points


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "100.00 %"), (0.0, "0.00 %"), (0.99996, "99.99 %"), (1 - 1e-12, "99.99 %"), (0.57, "57.00 %"),
        (168 / 171, "98.24 %"), (594 / 599, "99.16 %"), (1e-9, "0.00 %"),
    ],
)  # fmt: skip
def test_shares_are_rounded_down(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("lost", "text"), [(0.0, "0.00"), (0.001, "0.01"), (38.371, "38.38"), (1.0, "1.00"), (-0.001, "0.00")]
)
def test_losses_are_rounded_up(lost, text):
    assert points(lost) == text


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_what_is_printed_is_never_better_than_what_was_counted(counts):
    part, whole = counts
    printed = Fraction(percent(part / whole).removesuffix(" %"))
    assert 0 <= Fraction(100 * part, whole) - printed < Fraction(1, 100)
    lost = Fraction(points(100 * part / whole))
    assert 0 <= lost - Fraction(100 * part, whole) < Fraction(1, 100)


@pytest.mark.parametrize(
    ("most", "text"), [(125.147, "125.2"), (0.0, "0"), (1.0, "1"), (0.015625, "0.01563"), (12345.0, "1.235e+04")]
)
def test_bounds_are_rounded_up(most, text):
    assert bound(most) == text


@given(st.floats(1e-30, 1e30))
def test_a_printed_bound_is_never_less_and_hardly_more(most):
    assert Fraction(most) <= Fraction(bound(most)) <= Fraction(most) * Fraction(1001, 1000)
    assert float(bound(most)) >= most


@given(st.floats(1e-30, 1e30))
def test_a_lower_bound_is_rounded_down(least):
    printed = float(at_least(least))
    assert printed <= least < printed * 1.0011


@pytest.mark.parametrize(("least", "text"), [(0.0, "0"), (1.23456, "1.234"), (0.99999, "0.9999"), (12.0, "12")])
def test_lower_bounds_have_a_few_digits(least, text):
    assert at_least(least) == text
