from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from reference import simplex as reference

from sparsegen.solvers import simplex
from sparsegen.solvers.simplex import ValueAndGradient, cut, descend, gap, lowest_point, project

Array = NDArray[np.float64]
points = arrays(np.float64, st.integers(1, 9), elements=st.floats(-1e3, 1e3))


def counted(function: ValueAndGradient) -> tuple[ValueAndGradient, list[float]]:
    values: list[float] = []

    def count(mu: Array) -> tuple[float, Array]:
        assert (mu >= 0.0).all()
        assert mu.sum() == pytest.approx(1.0, abs=1e-12)
        value, g = function(mu)
        values.append(value)
        return value, g

    return count, values


def quadratic(seed: int, n: int = 6) -> ValueAndGradient:
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n + 2, n)), 2.0 * rng.normal(size=n + 2)
    return lambda mu: (0.5 * float(((A @ mu - b) ** 2).sum()) + 1.0, A.T @ (A @ mu - b))


@settings(max_examples=200, deadline=None)
@given(v=points)
def test_projection_is_the_nearest_point(v: Array) -> None:
    mu = project(v)
    assert (mu >= 0.0).all()
    assert mu.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(mu, reference.project(v), atol=1e-9)


@pytest.mark.parametrize("v", [[1e300, 0.0], [-1e300, -1e300, 1.0], [1e17, 1e17, 1e17], [5.0], [0.0, 0.0]])
def test_projection_of_huge_numbers_is_on_the_simplex(v: list[float]) -> None:
    mu = project(np.array(v))
    assert (mu >= 0.0).all()
    assert mu.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("search", [descend, cut])
@pytest.mark.parametrize("seed", range(8))
def test_minimum_of_a_convex_function(search: Callable[..., Array], seed: int) -> None:
    function = quadratic(seed)
    mu = search(function, np.full(6, 1.0 / 6.0), 1e-6, 2000)
    value, g = function(mu)
    assert value == pytest.approx(reference.minimum(function, 6), rel=2e-6)
    if search is descend:
        assert gap(mu, g) <= 1e-6 * value


@pytest.mark.parametrize("search", [descend, cut])
def test_evaluations_are_bounded_and_the_best_is_returned(search: Callable[..., Array]) -> None:
    for most in (1, 2, 5, 9):
        function, values = counted(quadratic(3))
        mu = search(function, np.full(6, 1.0 / 6.0), 0.0, most)
        assert len(values) == most
        assert function(mu)[0] == pytest.approx(min(values))


@pytest.mark.parametrize("search", [descend, cut])
def test_flat_functions_and_vertices(search: Callable[..., Array]) -> None:
    start = np.array([0.5, 0.5, 0.0])
    assert np.allclose(search(lambda mu: (1.0, np.zeros(3)), start, 1e-6, 10).sum(), 1.0)
    linear = np.array([3.0, 1.0, 2.0])
    assert np.allclose(search(lambda mu: (float(linear @ mu), linear), start, 1e-9, 50), [0.0, 1.0, 0.0])
    assert np.allclose(search(lambda mu: (1.0, np.ones(1)), np.ones(1), 1e-6, 10), [1.0])


def test_descent_ends_at_a_stationary_point_where_nothing_is_convex() -> None:
    rng = np.random.default_rng(0)
    S = rng.normal(size=(5, 5))
    S = S + S.T

    def function(mu: Array) -> tuple[float, Array]:
        return 10.0 + 0.5 * float(mu @ S @ mu), S @ mu

    for _ in range(20):
        mu = descend(function, project(rng.normal(size=5)), 1e-7, 500)
        value, g = function(mu)
        assert gap(mu, g) <= 1e-6 * value


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_lowest_point_of_cuts_whatever_their_size(unit: float) -> None:
    mu, bound = lowest_point(unit * np.array([[1.0, -1.0], [-1.0, 1.0]]), unit * np.array([5.0, 5.0]))
    assert np.allclose(mu, 0.5)
    assert bound == pytest.approx(5.0 * unit)


@pytest.mark.parametrize("search", [descend, cut])
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_size_of_a_function_changes_nothing(search: Callable[..., Array], unit: float) -> None:
    plain, values = counted(quadratic(5))
    scaled, scaled_values = counted(lambda mu: tuple(unit * part for part in quadratic(5)(mu)))  # type: ignore[arg-type, return-value]
    start = np.full(6, 1.0 / 6.0)
    expected, found = search(plain, start, 1e-4, 500), search(scaled, start, 1e-4, 500)
    assert len(scaled_values) == len(values)
    assert np.allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("search", [descend, cut])
def test_a_search_goes_as_far_as_its_tolerance_asks(search: Callable[..., Array]) -> None:
    least = reference.minimum(quadratic(3), 6)
    counts = []
    for tol in (1e-1, 1e-3, 1e-6):
        function, values = counted(quadratic(3))
        mu = search(function, np.full(6, 1.0 / 6.0), tol, 500)
        counts.append(len(values))
        value, _ = function(mu)
        assert value - least <= tol * value + 1e-9
    assert counts[0] < counts[1] < counts[2] < 100


def test_a_gap_is_the_fall_to_the_best_vertex() -> None:
    assert gap(np.array([0.25, 0.75]), np.array([4.0, 2.0])) == pytest.approx(0.5)
    assert gap(np.array([0.0, 1.0]), np.array([4.0, 2.0])) == 0.0


def test_cuts_that_cannot_be_solved_give_the_middle_and_bound_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplex, "linprog", lambda *_, **__: SimpleNamespace(x=None))
    mu, bound = lowest_point(np.ones((1, 4)), np.zeros(1))
    assert mu.tolist() == [0.25] * 4
    assert bound == -np.inf


def test_the_first_step_is_as_long_as_the_gradient_is_spread() -> None:
    """So that it suits any size of W: from the middle, a vertex and the whole edge to it are in reach."""
    seen: list[Array] = []
    g = np.array([3.0, 1.0, 2.5])

    def function(mu: Array) -> tuple[float, Array]:
        seen.append(mu)
        return float(g @ mu), g

    start = np.array([0.6, 0.1, 0.3])
    descend(function, start, 0.0, 2)
    assert np.allclose(seen[1], reference.project(start - g / 2.0), atol=1e-9)
