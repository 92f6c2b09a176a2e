"""Kernels as expressions: one description from which NumPy, C and ONNX are derived.

A kernel is a scalar function of exactly one *base* (dot product, squared distance or L1 distance) and of named
parameters. The gradient is symbolic, so a kernel file holds the formula and nothing else:

    Exp(-(Param("gamma") * SQDIST))

The base may occur several times. What is refused, and what to write instead, is in :mod:`.contract`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array


class Expr:
    """A node; ``+``, ``-``, ``*``, ``/`` and ``**`` build larger ones."""

    __array_ufunc__ = None  # so that NumPy's numbers leave the operators to the methods below

    def __add__(self, other: Expr | float) -> Expr:
        return Add(self, _expr(other))

    def __radd__(self, other: float) -> Expr:
        return Add(_expr(other), self)

    def __sub__(self, other: Expr | float) -> Expr:
        return Add(self, -_expr(other))

    def __rsub__(self, other: float) -> Expr:
        return Add(_expr(other), -self)

    def __mul__(self, other: Expr | float) -> Expr:
        return Mul(self, _expr(other))

    def __rmul__(self, other: float) -> Expr:
        return Mul(_expr(other), self)

    def __truediv__(self, other: Expr | float) -> Expr:
        return Mul(self, Reciprocal(_expr(other)))

    def __rtruediv__(self, other: float) -> Expr:
        return _mul(_expr(other), Reciprocal(self))

    def __neg__(self) -> Expr:
        return Mul(Const(-1.0), self)

    def __pow__(self, exponent: Expr | float) -> Expr:
        return Pow(self, _expr(exponent))

    @property
    def operands(self) -> list[Expr]:
        """The expressions directly inside this node."""
        return [value for value in vars(self).values() if isinstance(value, Expr)]

    def with_operands(self, change: Callable[[Expr], Expr]) -> Expr:
        """Return this node with ``change`` applied to each of its operands."""
        fields = (change(value) if isinstance(value, Expr) else value for value in vars(self).values())
        return type(self)(*fields)


@dataclass(frozen=True)
class Const(Expr):
    """A number."""

    value: float


@dataclass(frozen=True)
class Param(Expr):
    """A kernel parameter, replaced by its value when the kernel is bound."""

    name: str


@dataclass(frozen=True)
class Base(Expr):
    """What is computed from the two vectors: ``dot``, ``sqdist`` or ``l1dist``."""

    name: str


@dataclass(frozen=True)
class Core(Expr):
    """The affine part of a kernel, ``slope * base + shift``, once it has been split off by :func:`split_affine`."""


@dataclass(frozen=True)
class Add(Expr):
    """A sum."""

    left: Expr
    right: Expr


@dataclass(frozen=True)
class Mul(Expr):
    """A product."""

    left: Expr
    right: Expr


@dataclass(frozen=True)
class Exp(Expr):
    """The exponential."""

    argument: Expr


@dataclass(frozen=True)
class Exp2(Expr):
    """The exponential in base 2, which is what a device computes."""

    argument: Expr


@dataclass(frozen=True)
class Reciprocal(Expr):
    """``1 / argument``."""

    argument: Expr


@dataclass(frozen=True)
class Sqrt(Expr):
    """The square root. A negative argument counts as 0: a squared distance can be rounded to just below it."""

    argument: Expr


@dataclass(frozen=True)
class InverseSqrt(Expr):
    """``1 / sqrt(argument)``, and 0 where that is infinite: it occurs in derivatives only.

    The slope of a root is infinite where the distance is 0, and the pull-back multiplies it by ``z - x``, which is 0
    there. The product is 0 for every kernel that has a gradient at its centre.
    """

    argument: Expr


@dataclass(frozen=True)
class Pow(Expr):
    """A power with a constant, non-negative whole exponent."""

    base: Expr
    exponent: Expr


DOT = Base("dot")
SQDIST = Base("sqdist")
L1DIST = Base("l1dist")


def _expr(value: Expr | float) -> Expr:
    return value if isinstance(value, Expr) else Const(float(value))


def nodes(expr: Expr) -> Iterator[Expr]:
    """Yield ``expr`` and everything inside it."""
    yield expr
    for operand in expr.operands:
        yield from nodes(operand)


def bind(expr: Expr, params: Mapping[str, float]) -> Expr:
    """Return ``expr`` with every parameter replaced by its value."""
    if isinstance(expr, Param):
        return Const(float(params[expr.name]))
    return expr.with_operands(lambda operand: bind(operand, params))


def substitute(expr: Expr, old: Expr, new: Expr) -> Expr:
    """Return ``expr`` with every ``old`` replaced by ``new``."""
    return new if expr == old else expr.with_operands(lambda operand: substitute(operand, old, new))


def base_of(expr: Expr) -> Base:
    """Return the one base that ``expr`` is a function of."""
    for node in nodes(expr):
        if isinstance(node, Base):
            return node
    raise ValueError(f"{expr} depends on no base")


def evaluate(expr: Expr, base: Array, memo: dict[Expr, Array | float] | None = None) -> Array | float:
    """Return the value of a bound expression; ``memo`` shares sub-results between a kernel and its derivative."""
    memo = {} if memo is None else memo
    if expr in memo:
        return memo[expr]
    match expr:
        case Const(value):
            return value
        case Base() | Core():
            return base
        case Add(a, b):
            result = evaluate(a, base, memo) + evaluate(b, base, memo)
        case Mul(a, b):
            result = evaluate(a, base, memo) * evaluate(b, base, memo)
        case Exp(a):
            result = memo[expr] = np.exp(evaluate(a, base, memo))
        case Exp2(a):
            result = memo[expr] = np.exp2(evaluate(a, base, memo))
        case Reciprocal(a):
            result = memo[expr] = np.divide(1.0, evaluate(a, base, memo))
        case Sqrt(a):
            result = memo[expr] = np.sqrt(np.maximum(evaluate(a, base, memo), 0.0))
        case InverseSqrt(a):
            root = np.asarray(evaluate(Sqrt(a), base, memo))
            result = memo[expr] = np.divide(1.0, root, out=np.zeros_like(root), where=root != 0.0)
        case Pow(a, Const(n)):
            result = evaluate(a, base, memo) ** int(n)
        case _:
            raise ValueError(f"{expr} is not bound")
    return result


def derivative(expr: Expr) -> Expr:
    """Return the derivative of a bound expression with respect to its base."""
    match expr:
        case Const():
            return Const(0.0)
        case Base() | Core():
            return Const(1.0)
        case Add(a, b):
            return _add(derivative(a), derivative(b))
        case Mul(a, b):
            return _add(_mul(derivative(a), b), _mul(a, derivative(b)))
        case Exp(a):
            return _mul(derivative(a), expr)
        case Exp2(a):
            return _mul(_mul(Const(math.log(2.0)), derivative(a)), expr)
        case Reciprocal(a):
            return _mul(_mul(Const(-1.0), derivative(a)), Pow(expr, Const(2.0)))
        case Sqrt(a):
            return _mul(_mul(Const(0.5), derivative(a)), InverseSqrt(a))
        case Pow(a, Const(n)):
            return _mul(_mul(Const(n), derivative(a)), Pow(a, Const(n - 1.0)) if n > 1 else Const(1.0))
    raise ValueError(f"{expr} has no derivative")


def in_base_two(expr: Expr) -> Expr:
    """Return ``expr`` with every ``exp(a)`` written as ``2^(a log2 e)``; the factor then folds into tables."""
    if isinstance(expr, Exp):
        return Exp2(Mul(Const(math.log2(math.e)), in_base_two(expr.argument)))
    return expr.with_operands(in_base_two)


def split_affine(expr: Expr) -> tuple[Expr, float, float]:
    """Return ``(outer, slope, shift)`` with ``expr == outer(slope * base + shift)``, the affine part largest.

    Exports multiply ``slope`` into the vectors and add ``shift`` to a table, so a device never computes either. Where
    the base occurs in several affine terms, the core is what they share: all of it, their common slope, or the base.
    """
    terms = dict.fromkeys(_affine_terms(expr))
    if not terms:  # such as a power of 0: the device still computes its core, and multiplies it by 0
        return Add(Const(_constant(substitute(expr, base_of(expr), Const(0.0)))), Mul(Const(0.0), Core())), 1.0, 0.0
    slopes = {slope for slope, _ in terms}
    slope, shift = next(iter(terms))
    slope, shift = (slope, shift) if len(terms) == 1 else (slope if len(slopes) == 1 else 1.0, 0.0)

    def outer(node: Expr) -> Expr:
        affine = _affine(node)
        if affine is None:
            return node.with_operands(outer)
        if affine == (slope, shift):
            return Core()
        return Add(Const(affine[1]), Mul(Const(affine[0] / slope), Core()))

    return _folded(outer(expr)), slope, shift


def _affine_terms(expr: Expr) -> Iterator[tuple[float, float]]:
    """Yield slope and shift of every part of ``expr`` that is affine in the base and lies in no larger such part."""
    affine = _affine(expr)
    if affine is None:
        for operand in expr.operands:
            yield from _affine_terms(operand)
    elif affine[0]:
        yield affine


def _affine(expr: Expr) -> tuple[float, float] | None:
    """Return slope and shift where ``expr`` is affine in its base."""
    if not _depends(expr):
        return 0.0, _constant(expr)
    match expr:
        case Base() | Core():
            return 1.0, 0.0
        case Pow(_, Const(0.0)):
            return 0.0, 1.0
        case Pow(a, Const(1.0)):
            return _affine(a)
        case Add(a, b):
            left, right = _affine(a), _affine(b)
            return None if left is None or right is None else (left[0] + right[0], left[1] + right[1])
        case Mul(a, b):
            left, right = _affine(a), _affine(b)
            if left is None or right is None or (left[0] and right[0]):
                return None
            return left[0] * right[1] + left[1] * right[0], left[1] * right[1]
    return None


def _folded(expr: Expr) -> Expr:
    """Return ``expr`` with its constants computed, each sum and product holding at most one, in front."""
    expr = expr.with_operands(_folded)
    if not _depends(expr):
        return Const(_constant(expr))
    match expr:
        case Add(a, Const() as constant):
            return _folded(Add(constant, a))
        case Add(Const(a), Add(Const(b), rest)):
            return _add(Const(a + b), rest)
        case Add(a, b):
            return _add(a, b)
        case Mul(a, Const() as constant):
            return _folded(Mul(constant, a))
        case Mul(Const(a), Mul(Const(b), rest)):
            return _mul(Const(a * b), rest)
        case Mul(a, b):
            return _mul(a, b)
        case Pow(a, Const(1.0)):
            return a
    return expr


def _depends(expr: Expr) -> bool:
    return any(isinstance(node, Base | Core) for node in nodes(expr))


def _constant(expr: Expr) -> float:
    return float(evaluate(expr, np.zeros(0)))


def _add(a: Expr, b: Expr) -> Expr:
    if a == Const(0.0):
        return b
    return a if b == Const(0.0) else Add(a, b)


def _mul(a: Expr, b: Expr) -> Expr:
    if Const(0.0) in (a, b):
        return Const(0.0)
    if a == Const(1.0):
        return b
    if b == Const(1.0):
        return a
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value * b.value)
    return Mul(a, b)
