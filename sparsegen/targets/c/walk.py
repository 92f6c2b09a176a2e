"""Walk: how a sum over n values is written in C.

Compilers for small devices do not unroll at -Os, and the instructions of a loop would cost more than the arithmetic. So
a short sum is written out, and a long one is a loop with several terms per round, then the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

WRITTEN_OUT = 16  # terms of the longest sum without a loop
STEP = 8  # terms per round of a loop
SQUARES_STEP = 4


class Place(NamedTuple):
    """One term: which feature, and how far behind the pointer into the table its value is."""

    feature: int
    value: int


@dataclass(frozen=True)
class Walk:
    """A sum as a template prints it."""

    end: int
    """Where the loop over the features ends; 0 if there is no loop."""
    step: int
    inside: tuple[Place, ...]
    """The terms of one round; features count from the round's first."""
    after: tuple[Place, ...]
    """The terms after the loop."""
    advance: int
    """How far the pointer moves after them."""


def make_walk(n: int, step: int = STEP, written_out: int = 0, lead: int = 0) -> Walk:
    """Return the walk over n values; in the table, ``lead`` other numbers precede those of each vector.

    A sum of up to ``written_out`` terms, or of less than two rounds, has no loop.
    """
    end = 0 if n <= max(written_out, 2 * step - 1) else n - n % step
    inside = tuple(Place(i, lead + i) for i in range(step)) if end else ()
    after = tuple(Place(end + i, lead + i) for i in range(n - end))
    return Walk(end, step, inside, after, n - end + lead)
