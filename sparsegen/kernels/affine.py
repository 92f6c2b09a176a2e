"""Split a kernel into the affine part of its base, which exports fold into tables, and the function outside it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparsegen.kernels.expression import (
    Add,
    Base,
    Const,
    Core,
    Expr,
    Mul,
    Pow,
    base_of,
    evaluate,
    nodes,
    plus,
    substitute,
    times,
)


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
            return plus(Const(a + b), rest)
        case Add(a, b):
            return plus(a, b)
        case Mul(a, Const() as constant):
            return _folded(Mul(constant, a))
        case Mul(Const(a), Mul(Const(b), rest)):
            return times(Const(a * b), rest)
        case Mul(a, b):
            return times(a, b)
        case Pow(a, Const(1.0)):
            return a
    return expr


def _depends(expr: Expr) -> bool:
    return any(isinstance(node, Base | Core) for node in nodes(expr))


def _constant(expr: Expr) -> float:
    return float(evaluate(expr, np.zeros(0)))
