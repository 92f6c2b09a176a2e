"""The kernel value of one vector in AVR assembly. The code is templates/c/loops/avr.c.j2.

avr-gcc computes with 32 bits where 8 or 16 are enough and addresses flash again for every byte: by hand a feature takes
10 cycles instead of 50 (bytes), 30 instead of 60 (halves).
"""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.lowering.curves import FRACTION_BITS, HalfPower
from sparsegen.lowering.integer_program import IntegerProgram

FEATURES_PER_ROUND = {1: 8, 2: 2}  # by the bytes of a feature
THREE_BYTES = 257  # products of bytes whose sum fits 24 bits
BITS = 8
LAST_RIGHT = 4  # bits that are shifted to the right; more of them go to the left and a byte to the right
MAX_COUNT = 255  # of a loop that counts in one register


@dataclass(frozen=True)
class AvrLoops:
    """What the template prints; a range stands for something that is repeated."""

    has_bytes: bool
    """Whether features are bytes."""
    has_wide_sum: bool
    """Whether their products need four bytes."""
    rounds: int
    """Of the loop over the features; 0 where there is none."""
    inside: range
    """The features of one round."""
    after: range
    """The features after the loop."""
    shifts_left: bool
    """Whether the distance is shifted to the left to give the exponent."""
    whole_byte: bool
    """Whether one of the shifts is by a whole byte."""
    left_bits: range
    right_bits: range
    borrows_byte: bool
    """Whether a shift to the right is done as one to the left and a whole byte to the right."""


def avr_values(program: IntegerProgram) -> AvrLoops | None:
    """Return the assembly of a program, or ``None`` where it does not cover it: the portable form serves there too."""
    if program.form != "square" or len(program.curves) != 1 or not isinstance(program.curves[0], HalfPower):
        return None
    size = program.numbers.index_dtype.itemsize
    rounds, rest = divmod(program.n_seen, FEATURES_PER_ROUND[size])
    if rounds > MAX_COUNT:
        return None
    if rounds <= 1:  # a loop of one round
        rounds, rest = 0, program.n_seen
    shift = program.curves[0].octave - FRACTION_BITS
    bits = abs(shift) % BITS
    borrows = shift >= 0 and bits > LAST_RIGHT
    return AvrLoops(
        has_bytes=size == 1,
        has_wide_sum=program.n_seen > THREE_BYTES,
        rounds=rounds,
        inside=range(FEATURES_PER_ROUND[size]),
        after=range(rest),
        shifts_left=shift < 0,
        whole_byte=abs(shift) >= BITS,
        left_bits=range(BITS - bits if borrows else bits if shift < 0 else 0),
        right_bits=range(0 if borrows or shift < 0 else bits),
        borrows_byte=borrows,
    )
