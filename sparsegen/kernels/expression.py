"""Kernels as expressions: one description from which NumPy, C and ONNX are derived.

A kernel is a scalar function of exactly one *base* (dot product, squared distance or L1 distance) and of named
parameters. The gradient is symbolic, so a kernel file holds the formula and nothing else:

    Exp(-(Param("gamma") * SQDIST))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array


class Expr:
    """A node; ``+``, ``*``, ``-`` and ``**`` build larger ones."""

    def __add__(self, other: Expr | float) -> Expr:
        return Add(self, _expr(other))

    def __radd__(self, other: float) -> Expr:
        return Add(_expr(other), self)

    def __sub__(self, other: Expr | float) -> Expr:
        return Add(self, -_expr(other))

    def __mul__(self, other: Expr | float) -> Expr:
        return Mul(self, _expr(other))

    def __rmul__(self, other: float) -> Expr:
        return Mul(_expr(other), self)

    def __neg__(self) -> Expr:
        return Mul(Const(-1.0), self)

    def __pow__(self, exponent: Expr | float) -> Expr:
        return Pow(self, _expr(exponent))


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
class Pow(Expr):
    """A power with a constant, non-negative whole exponent."""

    base: Expr
    exponent: Expr


DOT = Base("dot")
SQDIST = Base("sqdist")
L1DIST = Base("l1dist")


def _expr(value: Expr | float) -> Expr:
    return value if isinstance(value, Expr) else Const(float(value))


def bind(expr: Expr, params: Mapping[str, float]) -> Expr:
    """Return ``expr`` with every parameter replaced by its value."""
    match expr:
        case Param(name):
            return Const(float(params[name]))
        case Add(a, b):
            return Add(bind(a, params), bind(b, params))
        case Mul(a, b):
            return Mul(bind(a, params), bind(b, params))
        case Exp(a) | Exp2(a):
            return type(expr)(bind(a, params))
        case Pow(a, b):
            return Pow(bind(a, params), bind(b, params))
    return expr


def base_of(expr: Expr) -> Base:
    """Return the one base that ``expr`` is a function of."""
    match expr:
        case Base():
            return expr
        case Add(a, b) | Mul(a, b):
            return base_of(a) if _depends(a) else base_of(b)
        case Exp(a) | Exp2(a) | Pow(a, _):
            return base_of(a)
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
        case Pow(a, Const(n)):
            result = evaluate(a, base, memo) ** int(n)
        case _:
            raise ValueError(f"{expr} is not bound")
    return result


def derivative(expr: Expr) -> Expr:
    """Return the derivative of a bound expression with respect to its base."""
    match expr:
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
        case Pow(a, Const(n)):
            return _mul(_mul(Const(n), derivative(a)), Pow(a, Const(n - 1.0)) if n > 1 else Const(1.0))
    return Const(0.0)


def in_base_two(expr: Expr) -> Expr:
    """Return ``expr`` with every ``exp(a)`` written as ``2^(a log2 e)``; the factor then folds into tables."""
    match expr:
        case Exp(a):
            return Exp2(Mul(Const(math.log2(math.e)), in_base_two(a)))
        case Exp2(a):
            return Exp2(in_base_two(a))
        case Add(a, b) | Mul(a, b):
            return type(expr)(in_base_two(a), in_base_two(b))
        case Pow(a, n):
            return Pow(in_base_two(a), n)
    return expr


def split_affine(expr: Expr) -> tuple[Expr, float, float]:
    """Return ``(outer, slope, shift)`` with ``expr == outer(slope * base + shift)``, the affine part largest.

    Exports multiply ``slope`` into the vectors and add ``shift`` to a table, so a device never computes either.
    """
    affine = _affine(expr)
    if affine is not None:
        return Core(), *affine
    match expr:
        case Exp(a) | Exp2(a):
            outer, slope, shift = split_affine(a)
            return type(expr)(outer), slope, shift
        case Pow(a, n):
            outer, slope, shift = split_affine(a)
            return Pow(outer, n), slope, shift
        case Add(a, b) | Mul(a, b):
            varying, constant = (a, b) if _depends(a) else (b, a)
            outer, slope, shift = split_affine(varying)
            return type(expr)(outer, Const(_constant(constant))), slope, shift
    raise ValueError(f"{expr} depends on no base")


def _depends(expr: Expr) -> bool:
    match expr:
        case Base() | Core():
            return True
        case Add(a, b) | Mul(a, b):
            return _depends(a) or _depends(b)
        case Exp(a) | Exp2(a) | Pow(a, _):
            return _depends(a)
    return False


def _constant(expr: Expr) -> float:
    if _depends(expr):
        raise ValueError("a kernel may use its base in one place only")
    return float(evaluate(expr, np.zeros(0)))


def _affine(expr: Expr) -> tuple[float, float] | None:
    """Return slope and shift where ``expr`` is affine in its base."""
    match expr:
        case Base():
            return 1.0, 0.0
        case Pow(a, Const(1.0)):
            return _affine(a)
        case Exp() | Exp2() | Pow() if _depends(expr):
            return None
        case Add(a, b):
            left, right = _affine(a), _affine(b)
            return None if left is None or right is None else (left[0] + right[0], left[1] + right[1])
        case Mul(a, b):
            left, right = _affine(a), _affine(b)
            if left is None or right is None or (left[0] and right[0]):
                return None
            return left[0] * right[1] + left[1] * right[0], left[1] * right[1]
    return 0.0, _constant(expr)


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
