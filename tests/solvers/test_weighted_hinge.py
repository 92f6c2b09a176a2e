from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.svm import SVC

from sparsegen.solvers import newton
from sparsegen.solvers.weighted_hinge import GAP, WeightedSolution, solve_weighted

Array = NDArray[np.float64]


def problem(n: int = 80, spread: float = 5.0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X, y, rng.uniform(0.01, spread, n)


def primal(X: Array, y: Array, c: Array, v: Array, b: float) -> float:
    return float(0.5 * v @ v + c @ np.maximum(0.0, 1.0 - y * (X @ v + b)))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
def test_weights_of_rows_are_libsvms(scale: float) -> None:
    X, y, c = problem()
    found = solve_weighted(X, y, scale * c)
    svm = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y, sample_weight=scale * c)
    value = primal(X, y, scale * c, found.v, found.b)
    assert value == pytest.approx(primal(X, y, scale * c, svm.coef_[0], svm.intercept_[0]), rel=1e-5)
    assert np.allclose(found.v, svm.coef_[0], atol=5e-3 * np.linalg.norm(found.v))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_optimality_conditions(scale: float) -> None:
    X, y, c = problem()
    c = scale * c
    found = solve_weighted(X, y, c)
    assert found.gap <= GAP
    assert found.alpha.min() >= 0.0
    assert np.all(found.alpha <= c)
    assert abs(y @ found.alpha) <= 1e-6 * found.alpha.sum()
    assert np.allclose(X.T @ (y * found.alpha), found.v, atol=1e-6 * found.alpha.sum())
    margins = y * (X @ found.v + found.b)
    slackness = found.alpha @ np.maximum(0.0, margins - 1.0) + (c - found.alpha) @ np.maximum(0.0, 1.0 - margins)
    assert slackness <= 1e-5 * primal(X, y, c, found.v, found.b)


def test_equal_weights_are_the_newton_solver() -> None:
    X, y, _ = problem()
    found = solve_weighted(X, y, np.full(80, 3.0))
    expected = newton.solve([(slice(0, 80), X)], y[:, None], 3, newton.Loss("hinge", 3.0))
    assert primal(X, y, np.full(80, 3.0), found.v, found.b) == pytest.approx(expected.objective, rel=1e-6)


def test_warm_start_reaches_the_same_optimum_and_leaves_the_start_alone() -> None:
    X, y, c = problem()
    cold = solve_weighted(X, y, c)
    far = WeightedSolution(np.array([-3.0, 1.0, 5.0]), 2.0, np.full(80, 9.0), 0.0)
    for start in (cold, far):
        kept = start.v.copy(), start.alpha.copy()
        warm = solve_weighted(X, y, c, start)
        assert primal(X, y, c, warm.v, warm.b) == pytest.approx(primal(X, y, c, cold.v, cold.b), rel=1e-5)
        assert np.array_equal(start.v, kept[0])
        assert np.array_equal(start.alpha, kept[1])


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_degenerate_problems_end_near_the_optimum(C: float) -> None:
    y = np.array([1.0, 1.0, 1.0, -1.0])
    for X in (np.zeros((4, 2)), np.ones((4, 2)), np.array([[1.0], [1.0], [2.0], [-1.0]]), np.ones((4, 1)) * 1e3):
        found = solve_weighted(X, y, np.full(4, C))
        assert np.isfinite(found.v).all()
        assert found.gap <= 1e-4
