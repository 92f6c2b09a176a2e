"""Shares, losses and bounds never sound better in print than they are."""

from __future__ import annotations

import re
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsegen.promised import Accuracy, at_least, bound, percent, points, wilson, worth


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


def printed_interval(accuracy):
    found = re.search(r"95 % interval (\S+) to (\S+) %", str(accuracy))
    assert found is not None
    low, high = found.groups()
    return Decimal(low) / 100, Decimal(high) / 100


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_is_printed_no_narrower_than_it_is(counts):
    """The twin solves (share - p)^2 = z^2 p (1 - p) / n in 50 digits."""
    getcontext().prec = 50
    correct, n = map(Decimal, counts)
    z2, p = Decimal("1.95996398454005423552") ** 2, correct / n
    a, b, c = 1 + z2 / n, -(2 * p + z2 / n), p * p
    reach = (b * b - 4 * a * c).sqrt()
    low, high = (-b - reach) / (2 * a), (-b + reach) / (2 * a)
    shown = printed_interval(Accuracy(*counts))
    tiny = Decimal("1e-30")  # of the twin's own rounding
    assert 0 <= shown[0] <= low + tiny and high - tiny <= shown[1] <= 1
    assert low - shown[0] < Decimal("0.00011") and shown[1] - high < Decimal("0.00011")


def test_an_interval_says_its_condition():
    assert str(Accuracy(168, 171)) == "98.24 % of 171 rows (95 % interval 94.96 to 99.41 % if rows are independent)"
    grouped = "89.28 % of 56 rows in 8 groups (95 % interval 54.79 to 98.29 % if groups of rows are independent)"
    assert str(Accuracy(50, 56, worth([7] * 8), 8)) == grouped
    assert Accuracy(5, 5).interval[1] == 1.0 and Accuracy(0, 5).interval[0] == 0.0


def test_groups_are_worth_as_many_rows_as_there_are_and_no_more():
    assert worth([7] * 8) == 8
    assert worth([1] * 40) == 40
    assert 1 < worth([100, 1, 1]) < 1.1
    whole = Accuracy(50, 56, worth([7] * 8), 8)
    assert whole.on(25, 28).independent == 4
    assert whole.on(100, 112).independent == 8, "rows that repeat prove nothing new"
    assert Accuracy(50, 56).on(100, 112).independent == 56
    assert Accuracy(50, 56).on(9, 10) == Accuracy(9, 10)


@pytest.mark.parametrize("correlated", [False, True])
def test_intervals_hold_the_truth_about_as_often_as_they_say(correlated):
    """The adversary labels each group of rows all right or all wrong; counting rows would hold half of the time."""
    rng = np.random.default_rng(11)
    truth, sizes = 0.8, rng.integers(5, 40, size=60)
    held = naive = 0
    for _ in range(2000):
        groups = (rng.random(60) < truth) * sizes if correlated else rng.binomial(sizes, truth)
        accuracy = Accuracy(int(groups.sum()), int(sizes.sum()), worth(sizes.tolist()), 60)
        low, high = accuracy.interval
        held += low <= truth <= high
        low, high = wilson(accuracy.share, accuracy.rows)
        naive += low <= truth <= high
    assert held / 2000 > 0.93
    assert (naive / 2000 < 0.6) == correlated
