"""Proof that a bound expression over a distance has one sign, by writing it as a sum of terms whose signs are known.

A term is a number times powers of *atoms*: the distance, exponentials, and roots and reciprocals of sums. Every atom is
0 or more, so an expression whose terms all have a number of one sign has that sign. The slope of ``(1 + s) exp(-s)``,
``s' exp(-s) - (1 + s) s' exp(-s)``, becomes the one term ``-s s' exp(-s)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.kernels.expression import (
    Add,
    Base,
    Const,
    Exp,
    Exp2,
    Expr,
    InverseSqrt,
    Mul,
    Pow,
    Reciprocal,
    Sqrt,
)

MAX_TERMS = 256  # nothing is proved about a longer sum: it would take too much time
CANCELLED = 1e-12  # a sum smaller than this share of its terms is a rounding error

Atoms = frozenset[tuple[Expr, float]]  # each with its power


@dataclass(frozen=True)
class _Number:
    """The number of a term, and the sum of the absolute values that were added up to it."""

    value: float
    size: float

    def __add__(self, other: _Number) -> _Number:
        return _Number(self.value + other.value, self.size + other.size)

    def __mul__(self, other: _Number) -> _Number:
        return _Number(self.value * other.value, self.size * other.size)


_Terms = dict[Atoms, _Number]


class _UndecidedError(Exception):
    """The sign of an atom is not known, or there are too many terms."""


def never_negative(expr: Expr) -> bool:
    """Return whether a bound expression is proved to be 0 or more at every distance."""
    try:
        return _all_positive(_expand(expr))
    except _UndecidedError:
        return False


def never_positive(expr: Expr) -> bool:
    """Return whether a bound expression is proved to be 0 or less at every distance."""
    return never_negative(-expr)


def _all_positive(terms: _Terms) -> bool:
    return all(number.value >= -CANCELLED * number.size for number in terms.values())


def _expand(expr: Expr) -> _Terms:
    match expr:
        case Const(value):
            return {frozenset(): _Number(value, abs(value))}
        case Base() | Exp() | Exp2():
            return {frozenset({(expr, 1.0)}): _Number(1.0, 1.0)}
        case Add(a, b):
            return _sum(_expand(a), _expand(b))
        case Mul(a, b):
            return _product(_expand(a), _expand(b))
        case Pow(a, Const(n)):
            terms: _Terms = {frozenset(): _Number(1.0, 1.0)}
            for _ in range(int(n)):
                terms = _product(terms, _expand(a))
            return terms
        case Reciprocal(a):
            return _power(a, -1.0)
        case Sqrt(a):
            return _power(a, 0.5)
        case InverseSqrt(a):
            return _power(a, -0.5)
    raise _UndecidedError


def _sum(left: _Terms, right: _Terms) -> _Terms:
    total = dict(left)
    for atoms, number in right.items():
        total[atoms] = total[atoms] + number if atoms in total else number
    return _checked(total)


def _product(left: _Terms, right: _Terms) -> _Terms:
    total: _Terms = {}
    for a, x in left.items():
        for b, y in right.items():
            total = _sum(total, {_multiplied(a, b): x * y})
    return total


def _multiplied(a: Atoms, b: Atoms) -> Atoms:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0.0) + power
    return frozenset((atom, power) for atom, power in powers.items() if power)


def _power(expr: Expr, power: float) -> _Terms:
    """Return a power of what must not be negative: a single term has its powers multiplied, a sum becomes an atom."""
    terms = {atoms: number for atoms, number in _expand(expr).items() if abs(number.value) > CANCELLED * number.size}
    if not terms or not _all_positive(terms):
        raise _UndecidedError
    if len(terms) > 1:
        return {frozenset({(expr, power)}): _Number(1.0, 1.0)}
    ((atoms, number),) = terms.items()
    value = number.value**power
    return {frozenset((atom, power * own) for atom, own in atoms): _Number(value, value)}


def _checked(terms: _Terms) -> _Terms:
    if len(terms) > MAX_TERMS:
        raise _UndecidedError
    return terms
