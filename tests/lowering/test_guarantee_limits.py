"""The guarantee at its limits: 32 bits to the last one, and what float64 loses, to the last digits."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from integer_models import quantized
from reference import guarantee as twin

from benchmarks.trust._together import make_integer_case
from sparsegen.kernels import KERNELS
from sparsegen.lowering.guarantee import (
    _distance,
    _fall,
    _kernel_error,
    _length,
    _lost_by_float64,
    guarantee,
    reach,
    real_vectors,
)

MODULE = import_module(guarantee.__module__)
CASE = make_integer_case(2, d=3, m=3)
PROGRAM = quantized(CASE.model, "q7", "f32", CASE.rows)


@pytest.mark.parametrize(
    ("name", "limits", "overflows"),
    [
        ("score", (-(2**31), 2**31 - 1), False),
        ("score", (-(2**31) - 1, 0), True),
        ("score", (0, 2**31), True),
        ("unsigned place on a curve", (0, 2**32 - 1), False),
        ("unsigned place on a curve", (0, 2**32), True),
        ("unsigned place on a curve", (-1, 0), True),
    ],
)
def test_a_value_may_fill_its_type_and_no_more(name, limits, overflows, monkeypatch):
    monkeypatch.setattr(MODULE, "intervals", lambda _: {"score": (-1, 1), name: limits})
    if overflows:
        with pytest.raises(AssertionError, match=f"{name} .*overflows"):
            guarantee(PROGRAM, CASE.model)
    else:
        assert guarantee(PROGRAM, CASE.model).intervals[name] == limits


@pytest.mark.parametrize("scores", [(-(10**9), 5), (-5, 10**9)])
def test_float64_may_lose_a_billionth_of_the_bound_and_of_the_largest_score(scores, monkeypatch):
    monkeypatch.setattr(MODULE, "intervals", lambda _: {"score": scores})
    proved = _kernel_error(PROGRAM, CASE.model)
    lost = guarantee(PROGRAM, CASE.model).error - proved
    assert lost == pytest.approx(1e-9 * (proved + 10**9 * PROGRAM.unit), rel=1e-4)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "cauchy"])
@pytest.mark.parametrize("size", [1e5, 3e6])
def test_what_float64_loses_of_a_gram_matrix(name, size):
    """Squared distances lose part of the largest square, absolute ones part of the largest sum."""
    rows = size * np.array([[1.0, -2.0, 2.0], [0.5, 0.1, 0.2], [0.0, -0.3, 0.3], [0.1, 0.2, -0.6]])
    kernel = KERNELS[name].bind(gamma=10.0)
    epsilon = float(np.finfo(np.float64).eps)
    apart = 4 * 3 * epsilon * 5.0 * size if name == "laplacian" else (4 * 3 * epsilon) ** 0.5 * 3.0 * size
    gram = float(kernel.gram(np.zeros((1, 3)), np.array([[apart, 0.0, 0.0]]))[0, 0])
    form = "absolute" if name == "laplacian" else "square"
    assert _lost_by_float64(kernel, rows, form) == pytest.approx(1.0 - gram + 4 * epsilon, rel=1e-6)
    assert _lost_by_float64(kernel, 0.0 * rows, form) == pytest.approx(4 * epsilon, rel=1e-6)


def test_a_kernel_falls_by_what_it_is_less_than_1():
    kernel = KERNELS["rbf"].bind(gamma=0.5)
    assert _fall(kernel, 4, 2.0) == pytest.approx(1.0 - np.exp(-2.0))
    assert _fall(kernel, 4, 0.0) == 0.0
    assert _fall(kernel, 1, 1e9) == 1.0


@pytest.mark.parametrize(("name", "octaves"), [("rbf", (0,)), ("rbf", (0, 2)), ("laplacian", (0,)), ("cauchy", (0,))])
@pytest.mark.parametrize("reads", ["f32", "grid"])
def test_every_term_of_the_bound_counts_what_float64_loses(name, octaves, reads, monkeypatch):
    """With a loss large enough to see, and the spread of a row over the grid with the last digits it may have."""
    lost = 1e-3
    monkeypatch.setattr(MODULE, "_lost_by_float64", lambda *_: lost)
    case = make_integer_case(4, name, octaves=octaves, d=4, m=3, n_classes=3)
    of, program = case.model, quantized(case.model, "q7", reads, case.rows)
    Z, m = real_vectors(program, of), 3
    apart = _distance(program, of)
    here, there = np.zeros((1, 4)), np.array([[apart, 0.0, 0.0, 0.0]])
    epsilon = float(np.finfo(np.float64).eps)
    expected = []
    for o in range(3):
        total = abs(int(program.intercept[o]) * program.unit - of.intercept[o])
        for k, kernel in enumerate(of.kernels):
            own = program.coef[o, k] * program.unit * 2.0**15
            both = np.concatenate([own, -of.coef[o, k]])
            K = kernel.gram(np.vstack([Z, of.vectors]), np.vstack([Z, of.vectors]))
            moved = np.sqrt(2.0 * (1.0 - float(kernel.gram(here, there)[0, 0]) + epsilon))
            total += np.sqrt(both @ K @ both + lost * np.abs(both).sum() ** 2)
            total += moved * np.sqrt(own @ K[:m, :m] @ own + lost * np.abs(own).sum() ** 2)
            total += np.abs(own).sum() * program.curves[k].error
        expected.append(total)
    np.testing.assert_allclose(_kernel_error(program, of), expected, rtol=1e-9)


def test_a_row_on_the_grid_still_has_the_last_digit_of_float64(monkeypatch):
    """Of a model that lies on the grid: indices are exact, so only sqrt(2 epsilon) of its length is left."""
    program = quantized(CASE.model, "q7", "grid", CASE.rows, finished=False)
    coef = program.coef.astype(np.float64) * program.unit * 2.0**15
    intercept = program.intercept.astype(np.float64) * program.unit
    of = replace(CASE.model, vectors=real_vectors(program, CASE.model), coef=coef, intercept=intercept)
    monkeypatch.setattr(MODULE, "_lost_by_float64", lambda *_: 0.0)
    values = np.abs(coef[0, 0]).sum() * program.curves[0].error
    K = of.kernels[0].gram(of.vectors, of.vectors)
    left = _kernel_error(program, of)[0] - values
    assert left == pytest.approx(2.0**-25.5 * np.sqrt(coef[0, 0] @ K @ coef[0, 0]), rel=0.6)
    assert left > 2.0**-25.5 * _length(coef[0, 0], K, 0.0) * (1 - 1e-6)


@pytest.mark.parametrize("reads", ["f32", "raw-int16", "grid"])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@pytest.mark.parametrize("projected", [False, True])
def test_the_distance_of_a_row_from_its_place_equals_its_twin(projected, name, reads):
    case = make_integer_case(6, name, d=5, m=3, projected=projected, raw=True)
    for dtype in ("q7", "q15"):
        program = quantized(case.model, dtype, reads, case.rows)
        read = [twin.reading_error(program, j) for j in range(5)]
        assert _distance(program, case.model) == pytest.approx(
            twin.distance_to_grid(program, case.model, read), rel=1e-9
        )
        assert reach(program).tolist() == [twin.last_index(program, j) for j in range(5)]


@pytest.mark.parametrize("reads", ["f32", "raw-int16", "grid"])
@pytest.mark.parametrize("projected", [False, True])
def test_the_bound_of_a_linear_program_equals_its_twin_to_the_last_digits(projected, reads):
    case = make_integer_case(6, "linear", d=5, m=4, n_classes=3, projected=projected, raw=True)
    program = quantized(case.model, "q7", reads, case.rows)
    proof = guarantee(program, case.model)
    expected = np.array(twin.error(program, case.model))
    largest = max(map(abs, proof.intervals["score"])) * program.unit
    np.testing.assert_allclose(proof.error, expected + 1e-9 * (expected + largest), rtol=1e-11)


def test_the_index_of_a_constant_feature_counts_up_to_the_end_of_its_range():
    case = make_integer_case(8, d=3, constant=True, raw=True)
    program = quantized(case.model, "q7", "raw-int16", case.rows)
    last = program.range.high[None].astype(np.int16)
    assert reach(program).tolist() == program.reader(last)[0].tolist()


@pytest.mark.parametrize("projected", [False, True])
def test_a_projection_is_named(projected):
    case = make_integer_case(9, d=4, projected=projected)
    assert guarantee(quantized(case.model, "q7", "f32", case.rows), case.model).is_projected is projected
