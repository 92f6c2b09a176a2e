"""Figures as the page prints them: rounded to the safe side, with their unit."""

from __future__ import annotations

import math

from sparsegen.bench import Cost
from sparsegen.promised import bound, percent

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def whole(number: float | None) -> str:
    """Return a count rounded up, or a dash."""
    return DASH if number is None else f"{math.ceil(number):,}"


def milliseconds(time: float | None) -> str:
    """Return a time with its unit, rounded up, or a dash."""
    if time is None:
        return DASH
    if time >= 1000:
        return f"{math.ceil(time):,} ms"
    return f"{bound(time)} ms" if time >= 1 else f"{bound(1000 * time)} \N{MICRO SIGN}s"


def share(part: float | None) -> str:
    """Return a share of a memory as a percentage, rounded up, or a dash."""
    return DASH if part is None else f"{math.ceil(1000 * part) / 10:g} %"


def percent_or_dash(part: float | None) -> str:
    """Return a share as a percentage, rounded down, or a dash."""
    return DASH if part is None else percent(part)


def time_of(cost: Cost) -> str:
    """Return the mean time of a prediction, called an estimate where it is one."""
    return milliseconds(cost.milliseconds)


def signed(number: float, digits: int) -> str:
    """Return a number with so many digits and a minus sign as wide as a plus; never a negative zero."""
    return f"{round(number, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 row``, ``2 rows``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun}es" if noun.endswith("s") else f"{count:,} {noun}s"
