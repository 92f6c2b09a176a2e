"""The estimate of float32 rounding equals its twin for every form of a program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import cases
from reference import rounding as twin

from sparsegen.kernels.expression import Const, Core, Exp, Exp2, Mul, Pow, evaluate
from sparsegen.lowering import float_road, rounding
from sparsegen.lowering.locate_data import thinned
from sparsegen.lowering.program import Part, Program
from sparsegen.lowering.rounding import MAX_ROWS, rounding_error

FORMS = ("dot", "squares", "square", "absolute")
OUTERS = (
    Exp2(Core()),
    Exp(Core()),
    Pow(Exp2(Core()), Const(4.0)),
    Pow(Pow(Exp(Core()), Const(2.0)), Const(2.0)),
    Core(),
)


def program(seed: int, form: str, *, buffered: bool, projected: bool, n_outputs: int = 2) -> Program:
    rng = np.random.default_rng(seed)
    d, p, m = 4, 3 if projected else 4, 5
    slope = -float(rng.uniform(0.1, 0.5))
    return Program(
        parts=(
            Part(
                "dot" if form == "squares" else form,
                rng.normal(size=(m, p)),
                0.1 * rng.normal(size=m),
                1.0 if form in ("dot", "squares") else slope,
                slope * rng.uniform(0.5, 2.0, p) if form == "squares" else None,
                tuple(OUTERS[i] for i in rng.permutation(len(OUTERS))[:2]),
                rng.normal(size=(n_outputs, 2, m)),
            ),
        ),
        intercept=rng.normal(size=n_outputs),
        offset=rng.normal(size=d) if buffered else None,
        scale=rng.uniform(0.5, 2.0, d) if buffered else None,
        projection=rng.normal(size=(p, d)) if projected else None,
        projection_shift=rng.normal(size=p) if projected else None,
        n_features=d,
        classes=tuple(range(max(2, n_outputs))),
        card={},
    )


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("buffered", [False, True])
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.1, 1.0, 3.0]), n_outputs=st.sampled_from([1, 3]))
def test_the_estimate_equals_its_twin(form, buffered, projected, seed, size, n_outputs):
    made = program(seed, form, buffered=buffered, projected=projected, n_outputs=n_outputs)
    rows = size * np.random.default_rng(seed).normal(size=(6, 4))
    assert rounding_error(made, rows) == pytest.approx(twin.rounding_error(made, rows), rel=1e-4, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(case=cases(offsets=(0.0, 1.0, 100.0)))
def test_the_estimate_equals_its_twin_on_lowered_models(case):
    made = float_road(case.model, base_two=True)
    assert rounding_error(made, case.X) == pytest.approx(twin.rounding_error(made, case.X), rel=1e-2, abs=1e-9)


def test_a_sum_of_products_is_wrong_by_two_roundings_of_each():
    """By hand: 2^-23 of |2 * 3| + |1| in t, times a coefficient of 5; scores of at most 1 count as 1."""
    part = Part("dot", np.array([[3.0]]), np.array([1.0]), 1.0, None, (Mul(Const(0.01), Core()),), np.array([[[5.0]]]))
    made = Program((part,), np.zeros(1), None, None, None, None, 1, (0, 1), {})
    assert rounding_error(made, np.array([[2.0]])) == pytest.approx(0.01 * 5.0 * 7.0 * 2.0**-23, rel=1e-6)
    large = replace(made, intercept=np.array([100.0 - 0.35]))
    assert rounding_error(large, np.array([[2.0]])) == pytest.approx(0.01 * 5.0 * 7.0 * 2.0**-23 / 100.0, rel=1e-6)


def test_an_error_that_is_no_number_is_infinite():
    part = Part("dot", np.array([[1e308]]), np.zeros(1), 1.0, None, (Core(),), np.ones((1, 1, 1)))
    made = Program((part,), np.zeros(1), None, None, None, None, 1, (0, 1), {})
    with np.errstate(all="ignore"):
        assert rounding_error(made, np.array([[1e10]])) == np.inf


def test_many_rows_are_thinned_to_what_memory_allows(monkeypatch):
    made = program(0, "square", buffered=False, projected=False)
    seen = []

    def count(given, most):
        seen.append(len(thinned(given, most)))
        return thinned(given, most)

    monkeypatch.setattr(rounding, "thinned", count)
    rows = np.random.default_rng(0).normal(size=(1000, 4))
    rounding_error(made, rows)
    rounding_error(made, rows[:10])
    monkeypatch.setattr(rounding, "MAX_ENTRIES", 7 * 20)
    rounding_error(made, rows)
    monkeypatch.setattr(rounding, "MAX_ENTRIES", 5)
    rounding_error(made, rows)
    assert seen == [MAX_ROWS, 10, 7, 1]


@pytest.mark.parametrize("form", FORMS)
def test_sums_lose_two_roundings_of_the_sizes_of_their_terms(form):
    """Whatever the signs of coefficients and intercepts."""
    made = program(3, form, buffered=True, projected=False)
    rows = np.random.default_rng(3).normal(size=(4, 4))
    found = rounding.sum_errors(made, rows)
    (part,) = made.parts
    assert (made.intercept < 0.0).any() or (part.coef < 0.0).any()
    for sign in (-1.0, 1.0):
        signed = replace(made, intercept=sign * np.abs(made.intercept))
        np.testing.assert_allclose(rounding.sum_errors(signed, rows), found, rtol=1e-12)
    (t,) = made.arguments(rows)
    for i in range(4):
        for o in range(made.n_outputs):
            terms = [
                part.coef[o, k, u] * evaluate(outer, t[i, u]) for k, outer in enumerate(part.outers) for u in range(5)
            ]
            size = abs(made.intercept[o]) + sum(map(abs, terms))
            assert found[i, o] == pytest.approx(2.0 * 2.0**-24 * size, rel=1e-9)
