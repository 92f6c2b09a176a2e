"""Integer probabilities as their docstring tells it: Python integers, a row at a time, each step checked to fit."""

from __future__ import annotations

from fractions import Fraction

UINT32 = 2**32
ONE = 2**15


def slow_weight(made, d: int) -> int:
    """Return e for one distance."""
    assert 0 <= d < UINT32
    if d >= made.limit:
        return 0
    t = d << made.left
    assert t < UINT32
    upper, lower = (t >> 16) * made.multiplier, (t & 0xFFFF) * made.multiplier
    assert upper + (lower >> 16) < UINT32
    assert lower < UINT32
    z = (upper + (lower >> 16)) >> made.shift
    assert z == (t * made.multiplier) >> (16 + made.shift)
    assert z < 2**16
    f = [Fraction(2) ** 15 * Fraction(2.0 ** -((i + 1 / 512) / 16)) * Fraction(1.0 - 1.173e-4) for i in range(17)]
    table = [round(value) for value in f]
    first, second = table[(z >> 8) & 15], table[((z >> 8) & 15) + 1]
    mantissa = first - (((first - second) * (z & 255)) >> 8)
    return (mantissa + ((1 << (z >> 12)) >> 1)) >> (z >> 12)


def slow_share(part: int, total: int) -> int:
    """Return 2^15 part / total, rounded half up."""
    return int(Fraction(ONE * part, total) + Fraction(1, 2))


def slow_probabilities(made, scores: list[int]) -> list[int]:
    """Return the probabilities of one row."""
    if made.n_classes == 2:
        (score,) = scores
        weight = slow_weight(made, abs(score - made.zero))
        less = slow_share(weight, ONE + weight)
        return [less, ONE - less] if score > made.zero else [ONE - less, less]
    best = max(range(len(scores)), key=lambda k: (scores[k], -k))
    weights = [ONE if k == best else slow_weight(made, scores[best] - s) for k, s in enumerate(scores)]
    return [slow_share(weight, sum(weights)) for weight in weights]
