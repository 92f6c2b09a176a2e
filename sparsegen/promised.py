"""Shares, losses and bounds in words, rounded to the safe side: what is printed never promises more than is true."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

HUNDREDTH = Decimal("0.01")
BOUND_DIGITS = 4


def percent(share: float) -> str:
    """Return a share as a percentage, rounded down: 99.996 % is no ``100.00 %``."""
    return f"{_rounded(100 * _exact(share), ROUND_FLOOR)} %"


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
