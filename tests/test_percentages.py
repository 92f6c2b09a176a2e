"""Shares and losses never sound better in print than they are."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsegen.percentages import percent, points


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
