"""Loops for Cortex-M4, M7, M33 and similar: two 16-bit products in one SMLAD. The C is templates/c/loops/dsp.c.j2.

The C holds the portable loops as well, so it compiles everywhere. Indices are at most 32767, so signed and unsigned
16-bit products are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets.c.walk import WRITTEN_OUT, Place

WORD_BYTES = 4
ROUND = 16  # features per round of a loop; fewer than two rounds are written out
LONG, LONG_ROUND = 64, 32  # so many bytes pay for a longer round, since their products take more instructions


class Word(NamedTuple):
    """Features that fill a word: the first one, their index in ``pairs``, their place in the table."""

    feature: int
    pair: int
    value: int


class Words(NamedTuple):
    """Neighbouring words, which are loaded from the table together, or the last one alone."""

    first: Word
    second: Word | None


@dataclass(frozen=True)
class DspLoops:
    """What the templates print of the DSP loops."""

    widens: bool
    """Whether features are bytes, which are widened to 16 bits once."""
    size: int
    """Features in one word."""
    whole: int
    """Features in whole words."""
    tail: tuple[int, ...]
    """The features that fill no word."""
    loops_over_squares: bool
    words: tuple[int, ...]
    """First features of the words, if squares are written out."""
    end: int
    """Where the loop over the products ends; 0 if they are written out."""
    step: int
    """Features in a round."""
    inside: tuple[Words, ...]
    after: tuple[Words, ...]
    tail_values: tuple[Place, ...]
    """The same features, and their places in the table."""

    @property
    def has_pairs(self) -> bool:
        """Whether two words are loaded together anywhere."""
        return self.n_words > 1

    @property
    def round_places(self) -> int:
        """How far the pointer to the features moves in a round: pairs of widened features, or features."""
        return self.step // self.size if self.widens else self.step

    @property
    def has_tail(self) -> bool:
        """Whether some features fill no word."""
        return bool(self.tail)

    @property
    def n_words(self) -> int:
        """Number of whole words."""
        return self.whole // self.size

    @property
    def buffer_bytes(self) -> int:
        """Bytes of the widened features."""
        return 2 * self.whole if self.widens else 0


def dsp_values(program: IntegerProgram) -> DspLoops | None:
    """Return what the DSP template prints, or ``None`` for a program that needs the portable loops."""
    n, size = program.n_seen, WORD_BYTES // program.numbers.index_dtype.itemsize
    if program.form != "square" or n < size:
        return None
    widens = program.numbers.index_dtype.itemsize == 1
    whole, step = n - n % size, LONG_ROUND if widens and n >= LONG else ROUND
    end = 0 if n < 2 * step else n - n % step
    return DspLoops(
        widens=widens,
        size=size,
        whole=whole,
        tail=tuple(range(whole, n)),
        # Bytes always take the loop: without it, clang would split the array `pairs` into variables.
        loops_over_squares=widens or n > WRITTEN_OUT,
        words=tuple(range(0, whole, size)),
        end=end,
        step=step,
        inside=_together([Word(i, i // size, i) for i in range(0, step, size)]) if end else (),
        after=_together([Word(j, j // size, j - end) for j in range(end, whole, size)]),
        tail_values=tuple(Place(j, j - end) for j in range(whole, n)),
    )


def _together(words: list[Word]) -> tuple[Words, ...]:
    """Return the words two by two."""
    return tuple(Words(first, second) for first, second in zip_longest(words[::2], words[1::2]))
