"""The kernel value of one vector in AVR assembly. The code is templates/c/loops/avr.c.j2.

avr-gcc computes with 32 bits where 8 or 16 are enough, and computes a new flash address for every byte. By hand, an
8-bit feature takes 10 cycles instead of 50, a 16-bit one 30 instead of 60.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.lowering.curves import FRACTION_BITS, HalfPower
from sparsegen.lowering.integer_program import IntegerProgram

FEATURES_PER_ROUND = {1: 8, 2: 2}  # by the bytes of a feature
MAX_PRODUCTS_IN_24_BITS = 257  # products of two bytes
BYTE_BITS = 8
MAX_RIGHT_SHIFT = 4  # in bits; a longer shift goes to the left, and then a whole byte to the right
MAX_ROUNDS = 255  # of a loop that counts in one register


@dataclass(frozen=True)
class AvrLoops:
    """What the template prints; a range says how often something is repeated."""

    has_bytes: bool
    """Whether features are bytes."""
    has_wide_sum: bool
    """Whether the sum of the products needs four bytes."""
    rounds: int
    """Of the loop over the features; 0 if there is no loop."""
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
    """Return what the assembly template prints, or ``None`` for a program that needs the portable loops."""
    if program.form != "square" or len(program.curves) != 1 or not isinstance(program.curves[0], HalfPower):
        return None
    size = program.numbers.index_dtype.itemsize
    rounds, rest = divmod(program.n_seen, FEATURES_PER_ROUND[size])
    if rounds > MAX_ROUNDS:
        return None
    if rounds <= 1:  # one round needs no loop
        rounds, rest = 0, program.n_seen
    shift = program.curves[0].octave - FRACTION_BITS
    bits = abs(shift) % BYTE_BITS
    borrows = shift >= 0 and bits > MAX_RIGHT_SHIFT
    return AvrLoops(
        has_bytes=size == 1,
        has_wide_sum=program.n_seen > MAX_PRODUCTS_IN_24_BITS,
        rounds=rounds,
        inside=range(FEATURES_PER_ROUND[size]),
        after=range(rest),
        shifts_left=shift < 0,
        whole_byte=abs(shift) >= BYTE_BITS,
        left_bits=range(BYTE_BITS - bits if borrows else bits if shift < 0 else 0),
        right_bits=range(0 if borrows or shift < 0 else bits),
        borrows_byte=borrows,
    )
