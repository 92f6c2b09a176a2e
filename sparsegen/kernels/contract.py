"""What a kernel must be, checked when it is made: one that could not be trained or exported is refused here."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import KernelError
from sparsegen.kernels.bases import BASES
from sparsegen.kernels.expression import (
    Add,
    Base,
    Const,
    Exp,
    Exp2,
    Expr,
    Mul,
    Param,
    Pow,
    Reciprocal,
    Sqrt,
    base_of,
    derivative,
    evaluate,
    nodes,
)
from sparsegen.kernels.parameter import Parameter

NODE_TYPES = (Const, Param, Base, Add, Mul, Exp, Exp2, Pow, Reciprocal, Sqrt)
VOCABULARY = "numbers, Param, DOT, SQDIST, L1DIST, +, -, *, /, **, Exp, Exp2, Sqrt and Reciprocal"
PROBED_DISTANCES = np.geomspace(1e-3, 1e5, 65)
PROBED_PRODUCTS = np.geomspace(1e-3, 30.0, 33)  # and their negatives
RELATIVE_STEP = 1e-4  # of the differences that slopes are compared with


def check_expression(
    name: str, expression: Expr, parameters: Mapping[str, Parameter], scale_parameter: str | None
) -> None:
    """Raise a KernelError if the expression of kernel ``name`` is not in the language or does not fit its parameters.

    The error says what to write instead.
    """
    for node in _all_nodes(expression):
        if type(node) not in NODE_TYPES:
            known = f"{type(node).__name__}, which is not part of the expression language"
            raise KernelError(f"kernel {name!r} holds {known}; build it from {VOCABULARY}")
    for node in nodes(expression):
        if isinstance(node, Const) and not np.isfinite(node.value):
            raise KernelError(f"kernel {name!r} holds the number {node.value}; numbers must be finite")
        if isinstance(node, Pow):
            _check_power(name, node.exponent, parameters)
    _check_base(name, {node.name for node in nodes(expression) if isinstance(node, Base)})
    for parameter in parameters:
        if not parameter.isidentifier() or keyword.iskeyword(parameter):
            raise KernelError(f"kernel {name!r} has a parameter {parameter!r}, which is no name in Python; rename it")
    used = {node.name for node in nodes(expression) if isinstance(node, Param)}
    if unknown := sorted(used - set(parameters)):
        raise KernelError(f"kernel {name!r} uses the parameter {_listed(unknown)}; declare it in parameters")
    if unused := sorted(set(parameters) - used):
        raise KernelError(f"kernel {name!r} declares the parameter {_listed(unused)} and never uses it; leave it out")
    if scale_parameter is not None and scale_parameter not in parameters:
        choice = f"name one of {_listed(sorted(parameters))}" if parameters else "leave it out"
        raise KernelError(
            f"the scale_parameter of kernel {name!r}, {scale_parameter!r}, is not one of its parameters; {choice}"
        )


def check_values(name: str, bound: Expr) -> None:
    """Raise a KernelError if a kernel with its default parameters is not finite or has a wrong gradient."""
    is_distance = BASES[base_of(bound).name].is_distance
    positive = PROBED_DISTANCES if is_distance else PROBED_PRODUCTS
    probes = np.concatenate([[] if is_distance else -positive[::-1], [0.0], positive])
    with np.errstate(all="ignore"):
        _check_domain(name, bound, probes)
        if (wrong := ~np.isfinite(_values(bound, probes))).any():
            raise KernelError(
                f"kernel {name!r} is not finite where its base is {probes[wrong][0]:g}, with default parameters; "
                "write it so that it is finite everywhere"
            )
        if (wrong := ~np.isfinite(_values(derivative(bound), probes))).any():
            raise KernelError(
                f"the slope of kernel {name!r} is not finite where its base is {probes[wrong][0]:g}, with default "
                "parameters; write it so that it is"
            )
        away = probes[probes != 0.0]  # at 0 a root has no slope
        move = RELATIVE_STEP * np.abs(away)
        differences = (_values(bound, away + move) - _values(bound, away - move)) / (2.0 * move)
        size = 1.0 + np.abs(_values(bound, away))
        allowed = 1e-4 * np.abs(differences) + 1e-8 * size / np.abs(away)
        if (wrong := ~(np.abs(_values(derivative(bound), away) - differences) <= allowed)).any():
            raise KernelError(
                f"the symbolic slope of kernel {name!r} is not that of its values where its base is "
                f"{away[wrong][0]:g}; write it without kinks and without differences of large numbers"
            )


def _check_domain(name: str, bound: Expr, probes: Array) -> None:
    for node in nodes(bound):
        if isinstance(node, Sqrt) and (negative := _values(node.argument, probes) < 0.0).any():
            raise KernelError(
                f"kernel {name!r} takes the root of a negative number where its base is {probes[negative][0]:g}, with "
                "default parameters; Sqrt needs an argument that is never negative"
            )
        if isinstance(node, Reciprocal) and len(set(np.sign(_values(node.argument, probes)))) > 1:
            raise KernelError(
                f"kernel {name!r} divides by something that passes through 0, with default parameters; a divisor must "
                "keep its sign at every base"
            )


def _check_power(name: str, exponent: Expr, parameters: Mapping[str, Parameter]) -> None:
    wrong = f"kernel {name!r} has a power that is"
    match exponent:
        case Const(n) if n < 0.0 and n != int(n):
            raise KernelError(f"{wrong} negative and no whole number, {n:g}; write it with Reciprocal(a) and Sqrt(a)")
        case Const(n) if n < 0.0:
            raise KernelError(f"{wrong} negative, {n:g}; write it with Reciprocal(a), which is also 1 / a")
        case Const(n) if n != int(n):
            raise KernelError(f"{wrong} not a whole number, {n:g}; write it with Sqrt(a)")
        case Const():
            return
        case Param(power) if power in parameters:
            if not parameters[power].whole or parameters[power].minimum < 0.0:
                raise KernelError(
                    f"{wrong} the parameter {power!r}, which may be negative or fractional; declare it with "
                    "whole=True and minimum=0 or more"
                )
        case Param():
            return  # not declared, which is refused elsewhere
        case _:
            raise KernelError(f"{wrong} computed; write a whole number or one parameter")


def _check_base(name: str, bases: set[str]) -> None:
    if unknown := sorted(bases - set(BASES)):
        raise KernelError(f"kernel {name!r} uses the base {_listed(unknown)}; there are DOT, SQDIST and L1DIST")
    if not bases:
        raise KernelError(f"kernel {name!r} depends on no base; write it as a function of DOT, SQDIST or L1DIST")
    if len(bases) > 1:
        raise KernelError(
            f"kernel {name!r} uses several bases, {_listed(sorted(bases))}; write it as a function of one of them"
        )


def _all_nodes(entry: object) -> Iterable[object]:
    """Yield ``entry`` and everything inside it, whether it belongs to the language or not."""
    yield entry
    if type(entry) in NODE_TYPES and not isinstance(entry, Const | Param | Base):
        for operand in vars(entry).values():
            yield from _all_nodes(operand)


def _values(expr: Expr, at: Array) -> Array:
    return np.broadcast_to(np.asarray(evaluate(expr, at), dtype=np.float64), at.shape)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
