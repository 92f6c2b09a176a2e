"""Gaussians a power of two apart cost one exponential per vector, and lose nothing that float32 would keep."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest
from golden_models import EVERY, SMALL, model, rbf, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsegen.kernels.expression import Const, Core, Exp2, Mul, Pow
from sparsegen.lowering import float_road
from sparsegen.lowering.fold_preprocessing import MAX_ERROR, fold_preprocessing
from sparsegen.lowering.locate_data import data_like
from sparsegen.lowering.rounding import rounding_error
from sparsegen.lowering.simulate import float32_scores
from sparsegen.lowering.square_up import square_up
from sparsegen.lowering.use_base_two import use_base_two
from sparsegen.targets import TARGETS
from sparsegen.verify import verify


def folded(of):
    return fold_preprocessing(use_base_two(of), data_like(of))


def in_c(of):
    """Return the number of exponentials and of squarings per vector in the generated C."""
    source = TARGETS["c"].export(of, "m").files["m.c"].decode()
    body = source[source.index("void m_scores") :]
    return body.count("m_exp2("), len(re.findall(r"\bk\d+ = (k\d+) \* \1;", body))


def squares(expression, times):
    for _ in range(times):
        expression = Pow(expression, Const(2.0))
    return expression


@pytest.mark.parametrize(
    ("gammas", "exponentials", "squarings"),
    [
        ([0.25], 1, 0),
        ([0.25, 0.5], 1, 1),
        ([0.5, 0.25], 1, 1),
        ([0.1, 0.2, 0.4, 0.8, 1.6], 1, 4),
        ([1.0, 0.25, 0.0625], 1, 4),
        ([0.25, 0.3], 2, 0),
        ([0.25, 0.3, 0.5, 0.6], 2, 2),
        ([0.01, 0.01 * 2.0**6], 1, 6),
        ([0.01, 0.01 * 2.0**7], 2, 0),  # more squarings than an exponential costs
        ([0.25, 0.5 * (1.0 + 1e-9)], 2, 0),  # almost a power of two is none
        ([0.25, 0.5 * (1.0 - 1e-9)], 2, 0),
    ],
)
def test_exponentials_per_vector(gammas, exponentials, squarings):
    assert in_c(model([rbf(gamma) for gamma in gammas], 4, 3, (0, 1))) == (exponentials, squarings)


def test_laplacians_square_too():
    assert in_c(model([("laplacian", {"gamma": g}) for g in (0.2, 0.4)], 4, 3, (0, 1))) == (1, 1)


def test_the_smallest_gamma_is_computed_and_the_order_of_kernels_kept():
    part = float_road(SMALL["rbf_powers"], base_two=True).parts[0]
    one = Exp2(Core())
    assert part.outers == (squares(one, 2), one, squares(one, 1), squares(one, 4))
    assert np.array_equal(part.coef, SMALL["rbf_powers"].coef)


def test_onnx_and_single_kernels_stay_as_they_are():
    for of in EVERY.values():
        if len(of.kernels) == 1:
            program = folded(of)
            assert square_up(program, data_like(of)) is program
    assert not any(isinstance(outer, Pow) for outer in float_road(SMALL["rbf_powers"]).parts[0].outers)


@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(st.integers(0, 18), min_size=2, max_size=6),
    gamma=st.sampled_from([1e-3, 0.1, 1.0]),
    m=st.integers(1, 8),
    offset=st.sampled_from([0.0, 100.0]),
)
def test_squares_keep_the_scores(steps, gamma, m, offset):
    kernels = [rbf(gamma * 2.0**step) for step in steps]
    of = model(kernels, m, 4, (0, 1, 2), offset=np.full(4, offset))
    program = float_road(of, base_two=True)
    X = np.vstack([rows(of), (of.transform.offset + of.vectors * 1.001).astype(np.float32)])
    expected = of.scores(X)
    size = max(1.0, np.abs(expected).max())
    assert np.abs(program.scores(X) - expected).max() < 1e-5 * size
    before = np.abs(
        float32_scores(folded(of), X) - expected
    ).max()  # narrow kernels far from 0 are hard without squares
    assert np.abs(float32_scores(program, X) - expected).max() < 1.5 * before + 2e-5 * size
    assert rounding_error(program, data_like(of)) <= max(MAX_ERROR, 1.11 * rounding_error(folded(of), data_like(of)))


def test_far_kernels_get_an_exponential_of_their_own():
    """Sixteen squarings would leave two digits of the narrowest kernel."""
    of = model([rbf(1e-3 * 4.0**i) for i in range(9)], 6, 4, (0, 1))
    program = float_road(of, base_two=True)
    computed = {node for outer in program.parts[0].outers for node in _exponentials(outer)}
    assert 1 < len(computed) <= 3
    assert Exp2(Core()) in computed
    assert all(node == Exp2(Core()) or isinstance(node.argument, Mul) for node in computed)


def _exponentials(expression):
    while isinstance(expression, Pow):
        expression = expression.base
    yield expression


@pytest.mark.parametrize("step", [2.0, 4.0])
def test_exports_agree_with_the_model(step):
    of = model([rbf(0.02 * step**i) for i in range(5)], 8, 5, (0, 1, 2))
    near = np.vstack([rows(of, 100), of.vectors + 0.03 * np.sin(np.arange(of.vectors.size)).reshape(of.vectors.shape)])
    verdicts = verify(of, near, devices=["host"])
    assert verdicts
    assert all(verdict.ok and verdict.relative_difference < 1e-5 for verdict in verdicts)


@pytest.mark.parametrize(("steps", "computed"), [((0, 6, 11, 16), 1), ((0, 6, 12, 17), 2)])
def test_at_most_sixteen_squarings_lead_away_from_an_exponential(steps, computed, monkeypatch):
    """Even where rounding would allow more."""
    monkeypatch.setattr(import_module(square_up.__module__), "rounding_error", lambda *_: 0.0)
    of = model([rbf(2.0**step) for step in steps], 3, 2, (0, 1))
    squared = square_up(folded(of), data_like(of))
    assert len({node for outer in squared.parts[0].outers for node in _exponentials(outer)}) == computed
