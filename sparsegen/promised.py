"""Shares, losses and bounds in words, rounded to the safe side: what is printed never promises more than is true."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

HUNDREDTH = Decimal("0.01")
BOUND_DIGITS = 4
QUANTILE = 1.959963984540055
"""Of the normal distribution at 97.5 %, rounded up."""


@dataclass(frozen=True)
class Accuracy:
    """How many rows were labelled correctly, and in which interval the share of all such rows lies.

    Rows of one group (a recording, a person) may all be right or wrong together, so that they are worth as little as
    one independent row. ``independent`` says what the rows are worth in that worst case.
    """

    correct: int
    rows: int
    independent: float | None = None
    """How many independent rows the rows are worth, where they belong to groups; ``None`` counts every row."""
    groups: int | None = None
    """How many groups the rows belong to, where that is known."""
    copies: int = 0
    """How many of the rows are copies of training rows, whose labels may have been learned by heart."""

    @property
    def share(self) -> float:
        """Share of the rows labelled correctly."""
        return self.correct / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share."""
        return wilson(self.share, self.rows if self.independent is None else self.independent)

    def on(self, correct: int, rows: int) -> Accuracy:
        """Return the accuracy on some of these rows, which are worth as much less, and never more if they repeat."""
        if self.independent is None and rows <= self.rows:
            return Accuracy(correct, rows)
        most = self.rows if self.independent is None else self.independent
        return Accuracy(correct, rows, max(1.0, min(1.0, rows / self.rows) * most))

    def __str__(self) -> str:
        groups = "" if self.groups is None else f" in {self.groups} groups"
        return f"{percent(self.share)} of {self.rows} rows{groups} ({self.in_words()})"

    def in_words(self, *, may_be_known: bool = False) -> str:
        """Return the interval with its condition, rounded outwards; the model may know the rows from training."""
        unit = "rows" if self.independent is None else "groups of rows"
        condition = f"{unit} are independent" + (" and were never trained on" if may_be_known else "")
        are = "is a copy" if self.copies == 1 else "are copies"
        known = f", but {self.copies} {are} of training rows" if self.copies else ""
        return f"95 % interval {between(self.interval)} if {condition}{known}"


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Return Wilson's 95 % confidence interval of a share that was measured on independent rows.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    square = QUANTILE**2
    centre = share + square / (2 * rows)
    reach = QUANTILE * math.sqrt(share * (1 - share) / rows + square / (4 * rows**2))
    slack = 1e-12  # what rounding may have done to the ends
    low, high = ((centre + side * reach) / (1 + square / rows) + side * slack for side in (-1, 1))
    return (0.0 if share == 0 else max(0.0, low), 1.0 if share == 1 else min(1.0, high))


def worth(sizes: Iterable[int]) -> float:
    """Return how many independent rows groups of these sizes are worth where each is all right or all wrong.

    That is Kish's effective sample size: the number of groups where they are equally large, fewer where they are not.
    """
    listed = list(sizes)
    return float(sum(listed) ** 2 / sum(size**2 for size in listed))


def percent(share: float) -> str:
    """Return a share as a percentage, rounded down: 99.996 % is no ``100.00 %``."""
    return f"{_rounded(100 * _exact(share), ROUND_FLOOR)} %"


def at_most_percent(share: float) -> str:
    """Return a share of what one wants little of as a percentage, rounded up."""
    return f"{_rounded(100 * _exact(share), ROUND_CEILING)} %"


def between(interval: tuple[float, float]) -> str:
    """Return the ends of an interval of a share as percentages, rounded outwards."""
    low, high = (100 * _exact(end) for end in interval)
    return f"{_rounded(low, ROUND_FLOOR)} to {_rounded(high, ROUND_CEILING)} %"


def points(lost: float) -> str:
    """Return percentage points that are lost, rounded up."""
    return str(_rounded(_exact(lost), ROUND_CEILING))


def bound(most: float) -> str:
    """Return a bound with a few significant digits, never less than the bound."""
    rounded = Context(prec=BOUND_DIGITS, rounding=ROUND_CEILING).create_decimal(Decimal(most))
    return f"{float(rounded):.{BOUND_DIGITS}g}"


def at_least(least: float) -> str:
    """Return a lower bound with a few significant digits, never more than the bound."""
    rounded = Context(prec=BOUND_DIGITS, rounding=ROUND_FLOOR).create_decimal(Decimal(least))
    return f"{float(rounded):.{BOUND_DIGITS}g}"


def _exact(number: float) -> Decimal:
    """Return the shortest decimal that reads back as this number: 0.57, not a little less."""
    return Decimal(repr(float(number)))


def _rounded(number: Decimal, rounding: str) -> Decimal:
    return number.quantize(HUNDREDTH, rounding) + 0  # a zero without a sign
