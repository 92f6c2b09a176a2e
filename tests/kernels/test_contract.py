"""What a kernel cannot be is refused when it is made, in one sentence that says what to write instead."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sparsegen.errors import KernelError, OptionError, SparsegenError
from sparsegen.kernels import Kernel, Parameter
from sparsegen.kernels.expression import (
    DOT,
    L1DIST,
    SQDIST,
    Base,
    Const,
    Core,
    Exp,
    Expr,
    InverseSqrt,
    Param,
    Pow,
    Reciprocal,
    Sqrt,
)

GAMMA = {"gamma": Parameter("inverse squared width", 1.0, positive=True)}
SCALED = Param("gamma") * SQDIST


@dataclass(frozen=True)
class Sine(Expr):
    argument: Expr


def power(parameter: Parameter) -> dict[str, Parameter]:
    return {**GAMMA, "n": parameter}


REFUSED: dict[str, tuple[Expr, dict[str, Parameter], str]] = {
    "negative power": ((1 + SCALED) ** -1, GAMMA, r"power that is negative, -1; write it with Reciprocal\(a\).* 1 / a"),
    "fractional power": (SCALED**0.5, GAMMA, r"power that is not a whole number, 0.5; write it with Sqrt\(a\)"),
    "computed power": ((1 + SCALED) ** (Const(1.0) + 1), GAMMA, "power that is computed; write a whole number or one"),
    "base in a power": (Pow(Const(2.0), SQDIST), {}, "power that is computed"),
    "any parameter as power": ((1 + SCALED) ** Param("n"), power(Parameter("power", 2.0)), "with whole=True"),
    "negative parameter as power": (
        (1 + SCALED) ** Param("n"), power(Parameter("power", 2.0, whole=True)), "minimum=0 or more",
    ),
    "unknown node": (Exp(-Sine(SCALED)), GAMMA, "holds Sine, which is not part of the expression language; build"),
    "not a node": (Exp(2.0), {}, "holds float, which is not part"),  # type: ignore[arg-type]
    "no expression": (1.0, {}, "holds float, which is not part"),  # type: ignore[dict-item]
    "part of an export": (Exp(-Core()), {}, "holds Core, which is not part"),
    "part of a derivative": (InverseSqrt(1 + SQDIST), {}, "holds InverseSqrt, which is not part"),
    "infinite number": (Exp(-(float("inf") * SQDIST)), {}, "holds the number inf; numbers must be finite"),
    "two bases": (DOT * Exp(-SQDIST), {}, "uses several bases, 'dot', 'sqdist'; write it as a function of one of them"),
    "unknown base": (Exp(-Base("cosine")), {}, "uses the base 'cosine'; there are DOT, SQDIST and L1DIST"),
    "no base": (Exp(-Param("gamma")), GAMMA, "depends on no base; write it as a function of DOT"),
    "undeclared parameter": (Exp(-(Param("width") * SQDIST)), {}, "uses the parameter 'width'; declare it"),
    "undeclared power": ((1 + DOT) ** Param("n"), {}, "uses the parameter 'n'; declare it"),
    "parameter without a name": (Exp(-(Param("a b") * SQDIST)), {"a b": GAMMA["gamma"]}, "no name in Python"),
    "negative root": ((1 + SQDIST) ** -0.5, {}, "negative and no whole number.* Reciprocal.a. and Sqrt"),
    "unused parameter": (Exp(-SQDIST), GAMMA, "declares the parameter 'gamma' and never uses it; leave it out"),
    "infinite at distance 0": (Reciprocal(SCALED), GAMMA, "divides by something that passes through 0"),
    "pole": (1 / (1 + DOT), {}, "divides by something that passes through 0.*must keep its sign"),
    "overflow": (Exp(SQDIST), {}, "is not finite where its base is .*write it so that it is finite everywhere"),
    "root of what can be negative": (Sqrt(1 - L1DIST), {}, "a negative number where its base is 1.*never negative"),
    "root of a dot product": (Sqrt(DOT), {}, "root of a negative number where its base is -30"),
    "digits lost": (1e12 + Exp(-SQDIST) - 1e12, {}, "symbolic slope .* is not that of its values .*large numbers"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_not_be_exported_is_refused_with_a_sentence(case: str) -> None:
    expression, parameters, message = REFUSED[case]
    with pytest.raises(KernelError, match=message) as refusal:
        Kernel("strange", "?", expression, parameters)
    assert "kernel 'strange'" in str(refusal.value)
    assert isinstance(refusal.value, SparsegenError)
    assert "\n" not in str(refusal.value)


def test_a_scale_parameter_is_a_parameter() -> None:
    with pytest.raises(
        KernelError, match=r"scale_parameter of kernel 'k', 'width', is not one of its parameters; name one of 'gamma'"
    ):
        Kernel("k", "?", Exp(-SCALED), GAMMA, scale_parameter="width")
    with pytest.raises(KernelError, match=r"is not one of its parameters; leave it out"):
        Kernel("k", "?", Exp(-SQDIST), scale_parameter="width")


def test_defaults_are_allowed_values() -> None:
    with pytest.raises(OptionError, match=r"gamma is -1.0, but must be a number > 0"):
        Kernel("k", "?", Exp(-SCALED), {"gamma": Parameter("inverse squared width", -1.0, positive=True)})


@pytest.mark.parametrize(
    "expression",
    [
        DOT,
        Exp(DOT),
        DOT**64,
        (1 + DOT) ** 0 * DOT,
        Sqrt(1 + DOT * DOT),
        Exp(-Sqrt(SQDIST)),
        Exp(-Sqrt(L1DIST)),
        (1 + SQDIST) * Exp(-(2 * SQDIST)),
        (1 / (1 + L1DIST)) ** 3,
        1 / Sqrt(1 + SQDIST),
        -Sqrt(1 + SQDIST),
        (1 + Sqrt(5 * SQDIST) + 5 * SQDIST / 3) * Exp(-Sqrt(5 * SQDIST)),
    ],
)
def test_what_the_language_can_say_is_accepted(expression: Expr) -> None:
    assert Kernel("k", "?", expression).bind().expression == expression
