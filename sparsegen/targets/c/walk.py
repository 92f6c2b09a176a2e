"""Walk: how a sum over n values is written in C.

Compilers for small devices do not unroll at -Os, and a loop's own instructions would cost more than the arithmetic: a
short sum is written out, a long one is a loop in steps and then the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

WRITTEN_OUT = 16
STEP = 8
SQUARES_STEP = 4


class Place(NamedTuple):
    """One term: which feature, and where its value lies behind the pointer into the table."""

    feature: int
    value: int


@dataclass(frozen=True)
class Walk:
    """A sum as a template prints it."""

    end: int
    """Where the loop over the features ends; 0 where there is none."""
    step: int
    inside: tuple[Place, ...]
    """The terms of one round; features count from the round's first."""
    after: tuple[Place, ...]
    """The terms after the loop."""
    advance: int
    """How far the pointer moves after them."""


def make_walk(n: int, step: int = STEP, written_out: int = 0, lead: int = 0) -> Walk:
    """Return the walk over n values of which each vector has ``lead`` others in front.

    No loop has a single round, and none is shorter than ``written_out``.
    """
    end = 0 if n <= max(written_out, 2 * step - 1) else n - n % step
    inside = tuple(Place(i, lead + i) for i in range(step)) if end else ()
    after = tuple(Place(end + i, lead + i) for i in range(n - end))
    return Walk(end, step, inside, after, n - end + lead)
