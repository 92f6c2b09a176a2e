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
        return times(_expr(other), Reciprocal(self))

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
    """The affine part of a kernel, ``slope * base + shift``, as :func:`.affine.split_affine` splits it off."""


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
            return plus(derivative(a), derivative(b))
        case Mul(a, b):
            return plus(times(derivative(a), b), times(a, derivative(b)))
        case Exp(a):
            return times(derivative(a), expr)
        case Exp2(a):
            return times(times(Const(math.log(2.0)), derivative(a)), expr)
        case Reciprocal(a):
            return times(times(Const(-1.0), derivative(a)), Pow(expr, Const(2.0)))
        case Sqrt(a):
            return times(times(Const(0.5), derivative(a)), InverseSqrt(a))
        case Pow(a, Const(n)):
            return times(times(Const(n), derivative(a)), Pow(a, Const(n - 1.0)) if n > 1 else Const(1.0))
    raise ValueError(f"{expr} has no derivative")


def in_base_two(expr: Expr) -> Expr:
    """Return ``expr`` with every ``exp(a)`` written as ``2^(a log2 e)``; the factor then folds into tables."""
    if isinstance(expr, Exp):
        return Exp2(Mul(Const(math.log2(math.e)), in_base_two(expr.argument)))
    return expr.with_operands(in_base_two)


def plus(a: Expr, b: Expr) -> Expr:
    """Return ``a + b`` without a needless 0."""
    if a == Const(0.0):
        return b
    return a if b == Const(0.0) else Add(a, b)


def times(a: Expr, b: Expr) -> Expr:
    """Return ``a * b`` without needless factors."""
    if Const(0.0) in (a, b):
        return Const(0.0)
    if a == Const(1.0):
        return b
    if b == Const(1.0):
        return a
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value * b.value)
    return Mul(a, b)
