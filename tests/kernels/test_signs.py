"""`falls` is proved or denied: never guessed."""

from __future__ import annotations

import pytest

from sparsegen.kernels import BoundKernel
from sparsegen.kernels.expression import DOT, L1DIST, SQDIST, Const, Exp, Exp2, Expr, Param, Sqrt
from sparsegen.kernels.signs import never_negative, never_positive

D = 0.7 * SQDIST
S = Sqrt(3 * D)
R = Sqrt(5 * D)

FALLING = {
    "gaussian": Exp(-D),
    "gaussian in base two": Exp2(-D),
    "laplacian": Exp(-(0.3 * L1DIST)),
    "exponential": Exp(-S),
    "matern 3/2": (1 + S) * Exp(-S),
    "matern 5/2": (1 + R + R**2 / 3) * Exp(-R),
    "matern 5/2, its last term by the distance": (1 + R + 5 * D / 3) * Exp(-R),
    "cauchy": 1 / (1 + D),
    "inverse multiquadric": 1 / Sqrt(1 + D),
    "rational quadratic": (1 / (1 + D / 3)) ** 3,
    "sum": 0.25 * Exp(-D) + 0.75 / (1 + D),
    "product": Exp(-D) / (1 + S),
    "constant": Const(1.0) + 0.0 * SQDIST,
}
OTHERS = {
    "dot": DOT,
    "dot of a falling function": Exp(-(DOT * DOT)),
    "diagonal of 2": 2 * Exp(-D),
    "rises": 1 + D,
    "goes below 0": 1 - D,
    "goes below 0 far away": 1.5 * Exp(-D) - 0.5,
    "a hill away from 0": (1 + 4 * S) * Exp(-S),
    "rises at first": (1 + 2 * D) * Exp(-D),
    "falls, beyond these rules": (1 + D) * Exp(-D) + 0.0001 * (1 - D / (1 + D)) - 0.0001,
    "too many terms": ((1 + D + S + R) * Exp(-D)) ** 40,
}


def bound(expression: Expr) -> BoundKernel:
    return BoundKernel("k", (), expression)


@pytest.mark.parametrize("name", FALLING)
def test_falling_kernels_are_proved_to_fall(name: str) -> None:
    assert bound(FALLING[name]).falls


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_kernel_falls(name: str) -> None:
    assert not bound(OTHERS[name]).falls


def test_signs_of_expressions() -> None:
    assert never_negative(1 + D)
    assert never_positive(-D)
    assert never_negative(D - D)
    assert never_positive(D - D)
    assert not never_negative(1 - D)
    assert not never_positive(1 - D)
    assert not never_negative(1 / (1 - D))
    assert not never_negative(Sqrt(D - 1))
    assert not never_negative(Param("gamma") * SQDIST)
