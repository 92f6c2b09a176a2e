"""The descent with a rate of its own against its twin, where it stops, and which rows a shortened machine uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import lp_slack as reference

from sparsegen.solvers.greedy import score_columns
from sparsegen.solvers.lp_slack import LpSlack, exact_objective, graduated, momentum, shorten

Array = NDArray[np.float64]


def rows(n: int = 40) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return 0.5 * rng.normal(size=(n, 3)) + 0.4 * y[:, None], y


@pytest.mark.parametrize("start", [None, (0.2, 0.1, -0.3, 0.5)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("p", [0.5, 1.0])
def test_an_adapted_rate_equals_its_twin(p: float, C: float, start: tuple[float, ...] | None) -> None:
    X, y = rows()
    w = np.array(start or np.zeros(4))
    options: dict[str, Any] = {"epsilon": 0.9, "eta": None, "tol": 0.0}
    begin = None if start is None else (w[:3], w[3])
    found = momentum(X, y, LpSlack(C, p, 20.0), is_gram=False, start=begin, max_iter=120, **options)
    _, expected = reference.adapted(w, X, y, C, p, 20.0, 0.9, len(found.objectives))
    np.testing.assert_allclose(found.objectives, expected, rtol=1e-7)
    assert np.any(np.diff(expected) == 0.0), "some steps are not made"
    in_rows = None if start is None else (X @ np.linalg.solve(X.T @ X, w[:3]), w[3])
    gram = momentum(X @ X.T, y, LpSlack(C, p, 20.0), is_gram=True, start=in_rows, max_iter=20, **options)
    np.testing.assert_allclose(gram.objectives, expected[:20], rtol=1e-6)


@pytest.mark.parametrize("start", [None, (0.2, 0.1, -0.3, 0.5)])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_graduated_descent_goes_from_blunt_to_sharp(C: float, start: tuple[float, ...] | None) -> None:
    """Eight steps at each sharpness: too few to settle."""
    X, y = rows()
    w = np.array(start or np.zeros(4))
    begin = None if start is None else (w[:3], w[3])
    found = graduated(X, y, LpSlack(C, 0.5, 2.0), is_gram=False, epsilon=0.9, max_iter=48, tol=0.0, start=begin)
    ends, values = [w], list[float]()
    for s in (0.125, 0.5, 2.0, 8.0, 32.0, 128.0):
        end, reached = reference.adapted(ends[-1], X, y, C, 0.5, s, 0.9, 8)
        ends.append(end)
        values += reached
    np.testing.assert_allclose(found.objectives, values, rtol=1e-7)
    best = min(ends, key=lambda end: reference.objective(end, X, y, C, 0.5))
    np.testing.assert_allclose(np.append(found.a, found.b), best, rtol=1e-6)
    assert not found.converged


def test_a_graduated_descent_returns_its_start_where_that_is_better() -> None:
    """The largest margin of two rows: no smoothed loss has its minimum there."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    options: dict[str, Any] = {"is_gram": False, "epsilon": 0.9, "max_iter": 3000, "tol": 1e-9}
    kept = graduated(X, y, LpSlack(10.0, 0.5, 100.0), start=(np.ones(1), 0.0), **options)
    assert (kept.a.tolist(), kept.b) == ([1.0], 0.0)
    assert kept.converged
    reached = graduated(X, y, LpSlack(10.0, 0.5, 100.0), **options)
    assert 1.0 < reached.a[0] < 1.01
    assert not graduated(X, y, LpSlack(10.0, 0.5, 100.0), **{**options, "max_iter": 30}).converged


@pytest.mark.parametrize("max_iter", [1, 3, 7, 50])
def test_a_graduated_descent_shares_its_iterations(max_iter: int) -> None:
    X, y = rows()
    options: dict[str, Any] = {"is_gram": False, "epsilon": 0.9, "tol": 0.0}
    assert len(graduated(X, y, LpSlack(1.0, 0.5, 100.0), max_iter=max_iter, **options).objectives) == max_iter


@pytest.mark.parametrize("is_gram", [False, True])
def test_exact_objective_is_the_papers(is_gram: bool) -> None:
    X, y = rows()
    a, loss = np.linspace(-0.3, 0.4, 40), LpSlack(2.0, 0.5, 100.0)
    w = np.append(X.T @ a, 0.3)
    A, coef = (X @ X.T, a) if is_gram else (X, w[:3])
    value = exact_objective(A, coef, 0.3, y, loss, is_gram=is_gram)
    assert value == pytest.approx(reference.objective(w, X, y, 2.0, 0.5))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_it_stops_where_ten_iterations_gain_less_than_the_tolerance(C: float, tol: float) -> None:
    """As a share of the objective, however large that is."""
    X, y = rows()
    loss = LpSlack(C, 0.5, 20.0)
    found = momentum(X, y, loss, is_gram=False, epsilon=0.9, eta=None, max_iter=2000, tol=tol)
    values = [reference.smooth_objective(np.zeros(4), X, y, C, 0.5, 20.0), *found.objectives]
    gained = [abs(values[i - 10] - values[i]) <= tol * values[i] for i in range(10, len(values))]
    assert found.converged
    assert gained.index(True) == len(gained) - 1


@pytest.mark.parametrize("C", [0.02, 3.0, 20.0])
def test_a_shortened_machine_uses_rows_at_or_inside_the_margin(C: float) -> None:
    """Those that pull with more than a thousandth of the largest pull, whatever the size of pulls."""
    X, y = rows(80)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    loss = LpSlack(C, 1.0, 100.0)
    found = momentum(K, y, loss, is_gram=True, epsilon=0.9, eta=None, max_iter=3000, tol=1e-7)
    pull = loss.smooth_pull(y * (K @ found.a + found.b))
    inside = pull > 1e-3 * pull.max()
    short = shorten(K, y, found.a, found.b, loss)
    value, was = (0.5 * a @ K @ a + loss.smooth_value(y * (K @ a + found.b)) for a in (short, found.a))
    assert value <= 1.01 * was
    assert short.any()
    assert not short[~inside].any()


def test_a_column_at_its_optimum_gains_nothing() -> None:
    """Nothing is left to fit, and the column is orthogonal to the others: its slope is exactly 0."""
    gain, weight = np.ones((2, 1))
    y = np.array([1.0, -1.0, 1.0])
    score_columns(np.ones((1, 3)), np.zeros(1), np.ones(1), y, y, 1.0, False, None, gain, weight)
    assert (gain[0], weight[0]) == (0.0, 0.0)
