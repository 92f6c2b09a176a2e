"""The float32 simulator equals its slow twin in every bit."""

from __future__ import annotations

import numpy as np
import pytest
from golden_models import EVERY, rows
from reference import simulate as twin

from sparsegen.kernels.expression import Add, Const, Core, Exp, Exp2, Mul, Param, Pow, Reciprocal, Sqrt
from sparsegen.lowering import float_road
from sparsegen.lowering.program import Part, Program
from sparsegen.lowering.simulate import float32_scores

T = Core()
OUTERS = {
    "argument": T,
    "sum": Add(T, Const(0.1)),
    "product": Mul(T, Const(0.3)),
    "exp": Exp(T),
    "exp2": Exp2(T),
    "quotient": Reciprocal(Add(Mul(T, T), Const(1.7))),
    "root": Sqrt(T),
    **{f"power {n}": Pow(T, Const(float(n))) for n in (1, 2, 3, 5, 6, 7, 11, 12)},
}


@pytest.mark.parametrize("base_two", [True, False])
@pytest.mark.parametrize("name", EVERY)
def test_every_model_equals_its_twin(name, base_two):
    program = float_road(EVERY[name], base_two=base_two)
    X = rows(EVERY[name])[:8]
    assert float32_scores(program, X).tolist() == [twin.scores(program, x) for x in X.astype(np.float32)]


def by_hand(outers, form="square", square=None):
    rng = np.random.default_rng(1)
    part = Part(
        form, rng.normal(size=(3, 2)), rng.normal(size=3), -0.3, square, outers, rng.normal(size=(2, len(outers), 3))
    )
    return Program((part,), rng.normal(size=2), None, None, None, None, 2, (0, 1, 2), {})


@pytest.mark.parametrize("outer", OUTERS)
def test_every_function_of_an_argument_equals_its_twin(outer):
    X = np.random.default_rng(0).normal(size=(20, 2))
    program = by_hand((OUTERS[outer],))
    found = float32_scores(program, X)
    assert found.dtype == np.float32
    assert found.tolist() == [twin.scores(program, x) for x in X.astype(np.float32)]


@pytest.mark.parametrize("square", [None, np.array([0.3, 0.3]), np.array([0.3, -0.7])], ids=["none", "common", "own"])
@pytest.mark.parametrize("form", ["dot", "square", "absolute"])
def test_every_form_equals_its_twin(form, square):
    X = 10.0 * np.random.default_rng(0).normal(size=(20, 2))
    program = by_hand((T, OUTERS["quotient"]), form, square)
    assert float32_scores(program, X).tolist() == [twin.scores(program, x) for x in X.astype(np.float32)]


def test_a_kernel_without_a_form_is_an_error():
    with pytest.raises(TypeError, match="a device has no form for"):
        float32_scores(by_hand((Param("gamma"),)), np.zeros((1, 2)))
