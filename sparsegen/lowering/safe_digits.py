"""Numbers as text that promises no more than the number: bounds are rounded up, shares of success down."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal

DIGITS = 4


def rounded_up(bound: float) -> str:
    """Return a bound with a few significant digits, never less than the bound."""
    return f"{float(Context(prec=DIGITS, rounding=ROUND_CEILING).create_decimal(Decimal(bound))):.{DIGITS}g}"
