from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.kernels import parameters

from sparsegen.arrays import Array
from sparsegen.kernels import KERNELS
from sparsegen.kernels.affine import split_affine
from sparsegen.kernels.expression import (
    DOT,
    L1DIST,
    SQDIST,
    Add,
    Base,
    Const,
    Core,
    Exp,
    Expr,
    InverseSqrt,
    Mul,
    Param,
    Pow,
    Reciprocal,
    Sqrt,
    base_of,
    bind,
    derivative,
    evaluate,
    in_base_two,
    substitute,
)

POINTS = np.linspace(0.0, 2.0, 21)
constants = st.floats(-2.0, 2.0).map(Const)


def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Add, inner, constants),
        st.builds(Add, constants, inner),
        st.builds(Mul, inner, constants),
        st.builds(Mul, constants, inner),
        st.builds(Exp, st.builds(Mul, st.floats(-0.5, 0.5).map(Const), inner)),
        st.builds(Pow, inner, st.sampled_from([Const(0.0), Const(1.0), Const(2.0), Const(3.0)])),
        st.builds(Add, inner, inner),
        st.builds(Mul, inner, inner),
        st.builds(lambda a: Sqrt(1.0 + a**2), inner),
        st.builds(lambda a: 1.0 / (1.0 + a * a), inner),
    )


expressions = st.recursive(st.sampled_from([DOT, SQDIST, L1DIST]), grow, max_leaves=1).flatmap(
    lambda base: st.recursive(st.just(base), grow, max_leaves=5)
)


def values(expr: Expr, at: np.ndarray = POINTS) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.broadcast_to(evaluate(expr, at), at.shape)


@pytest.fixture(params=KERNELS)
def bound(request: pytest.FixtureRequest) -> Expr:
    return KERNELS[request.param].bind(**parameters(request.param)).expression


def test_operators_build_what_they_say() -> None:
    x = np.array([0.5, 1.5])
    assert np.allclose(values(1.0 + 2.0 * DOT - 0.5, x), 2.0 * x + 0.5)
    assert np.allclose(values(DOT * 3.0 + DOT * 0.0, x), 3.0 * x)
    assert np.allclose(values(-(DOT**2.0), x), -(x**2))
    assert np.allclose(values(Const(1.0) - DOT, x), 1.0 - x)
    assert np.allclose(values(1.0 - DOT, x), 1.0 - x)
    assert np.allclose(values(DOT / 4.0 + 3.0 / DOT + DOT / (1 + DOT), x), x / 4.0 + 3.0 / x + x / (1.0 + x))
    assert Reciprocal(DOT) == 1 / DOT
    assert np.allclose(values(np.sqrt(2.0) * DOT + np.float64(1.0) / DOT, x), np.sqrt(2.0) * x + 1.0 / x)
    assert np.allclose(values(Sqrt(DOT), x), np.sqrt(x))


def test_bind_replaces_every_parameter() -> None:
    expr = bind(Exp(Param("a") * SQDIST) * Param("b") + Param("c") ** Param("d"), {"a": -1, "b": 2, "c": 3, "d": 2})
    assert np.allclose(values(expr), 2.0 * np.exp(-POINTS) + 9.0)


def test_what_is_not_bound_cannot_be_evaluated() -> None:
    with pytest.raises(ValueError, match="not bound"):
        evaluate(Param("gamma") * DOT, POINTS)
    with pytest.raises(KeyError):
        bind(Param("gamma"), {})


@pytest.mark.parametrize("base", [DOT, SQDIST, L1DIST])
def test_base_of_finds_the_base_wherever_it_is(base: Base) -> None:
    for expr in (base, 2.0 * base, base * 2.0, Const(1.0) + base, Exp(-base), (base + 1.0) ** 2):
        assert base_of(expr) == base
    with pytest.raises(ValueError, match="no base"):
        base_of(Const(1.0))


def test_memo_shares_the_exponential_with_the_derivative(bound: Expr) -> None:
    memo: dict[Expr, Array | float] = {}
    value = evaluate(bound, POINTS, memo)
    assert np.array_equal(values(derivative(bound)), np.broadcast_to(evaluate(derivative(bound), POINTS, memo), 21))
    assert all(entry is value for key, entry in memo.items() if key == bound)


def test_kernel_is_its_outer_part_of_an_affine_core(bound: Expr) -> None:
    outer, slope, shift = split_affine(bound)
    assert np.allclose(values(outer, slope * POINTS + shift), values(bound), rtol=1e-13)
    assert np.allclose(values(in_base_two(bound)), values(bound), rtol=1e-12)


def test_kernel_derivative_is_the_limit_of_differences(bound: Expr) -> None:
    step, points = 1e-6, POINTS[1:]  # a root has no slope at 0
    difference = (values(bound, points + step) - values(bound, points - step)) / (2.0 * step)
    assert np.allclose(values(derivative(bound), points), difference, rtol=1e-7, atol=1e-8)
    assert np.allclose(values(derivative(in_base_two(bound)), points), difference, rtol=1e-7, atol=1e-8)


@given(expressions)
def test_split_and_derivative_of_any_expression(expr: Expr) -> None:
    exact = values(expr)
    outer, slope, shift = split_affine(expr)
    split = values(outer, slope * POINTS + shift)
    usable = np.isfinite(exact) & (np.abs(exact) < 1e6)
    assert np.allclose(split[usable], exact[usable], rtol=1e-6, atol=1e-8)
    step = 1e-5
    difference = (values(expr, POINTS + step) - values(expr, POINTS - step)) / (2.0 * step)
    smooth = usable & (np.abs(difference) < 1e4)
    assert np.allclose(values(derivative(expr))[smooth], difference[smooth], rtol=1e-3, atol=1e-3)


def test_affine_part_is_as_large_as_can_be() -> None:
    assert split_affine(2.0 * (DOT + 3.0) + 1.0) == (Core(), 2.0, 7.0)
    assert split_affine(bind(Exp(-(Param("g") * SQDIST)), {"g": 0.25})) == (Exp(Core()), -0.25, 0.0)
    assert split_affine(Pow(2.0 * DOT, Const(1.0))) == (Core(), 2.0, 0.0)
    assert split_affine(Pow(2.0 * DOT + 1.0, Const(2.0)))[1:] == (2.0, 1.0)


GAMMA_D = 0.25 * SQDIST
ROOT = Sqrt(GAMMA_D)


def test_a_base_that_occurs_several_times_is_split_at_what_is_shared() -> None:
    assert split_affine((1 + ROOT) * Exp(-ROOT)) == (
        Mul(Add(Const(1.0), Sqrt(Core())), Exp(Mul(Const(-1.0), Sqrt(Core())))), 0.25, 0.0,
    )  # fmt: skip
    assert split_affine((1 + GAMMA_D) * Exp(1 + GAMMA_D)) == (Mul(Core(), Exp(Core())), 0.25, 1.0)
    # The same slope, and shifts that differ: the slope is shared.
    assert split_affine(GAMMA_D / (1 + GAMMA_D)) == (Mul(Core(), Reciprocal(Add(Const(1.0), Core()))), 0.25, 0.0)
    # Other slopes: the base is the core, and the constants stay outside.
    assert split_affine(Exp(-(0.5 * SQDIST)) * (2.0 * SQDIST + 3.0)) == (
        Mul(Exp(Mul(Const(-0.5), Core())), Add(Const(3.0), Mul(Const(2.0), Core()))), 1.0, 0.0,
    )  # fmt: skip


def test_constants_of_the_outer_part_are_computed_and_come_first() -> None:
    outer = split_affine(Exp(-(2.0 * (0.5 * ROOT))) * (Const(3.0) / 2.0) + Const(1.0) - Exp(Const(0.0)))[0]
    assert outer == Mul(Const(1.5), Exp(Mul(Const(-1.0), Sqrt(Core()))))


@pytest.mark.parametrize("expr", [Pow(DOT, Const(0.0)), DOT * 0.0 + 1.0, Exp(0.0 * DOT)])
def test_a_kernel_that_turns_out_constant_still_has_a_core(expr: Expr) -> None:
    outer, slope, shift = split_affine(expr)
    assert (slope, shift) == (1.0, 0.0)
    assert np.array_equal(values(outer), np.ones_like(POINTS))


def test_substitute_replaces_every_occurrence() -> None:
    assert substitute((1 + Core()) * Exp(Core()), Core(), DOT) == (1 + DOT) * Exp(DOT)


def test_a_root_of_a_rounded_distance_is_0_and_has_no_slope() -> None:
    at = np.array([-1e-9, -0.0, 0.0])
    with np.errstate(all="raise"):
        assert values(Sqrt(SQDIST), at).tolist() == [0.0, 0.0, 0.0]
        assert values(derivative(Sqrt(SQDIST)), at).tolist() == [0.0, 0.0, 0.0]
        assert values(InverseSqrt(SQDIST), np.array([4.0])).tolist() == [0.5]


def test_a_node_without_a_rule_has_no_derivative() -> None:
    for expr in (Param("gamma") * DOT, Pow(DOT, Param("n")), InverseSqrt(DOT)):
        with pytest.raises(ValueError, match="has no derivative"):
            derivative(expr)
