"""The hinge with a weight for each row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.svm import SVC

from sparsegen.solvers.newton import Loss, Solution, solve

Array = NDArray[np.float64]
GAP = 1e-6


def problem(n: int = 80, spread: float = 5.0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X, y, rng.uniform(0.01, spread, n)


def solved(X: Array, y: Array, c: Array | float, start: Solution | None = None) -> Solution:
    return solve([(slice(0, len(X)), X)], y[:, None], X.shape[1], Loss("hinge", c), start)


def primal(X: Array, y: Array, c: Array, v: Array, b: float) -> float:
    return float(0.5 * v @ v + c @ np.maximum(0.0, 1.0 - y * (X @ v + b)))


def gap(found: Solution) -> float:
    """The duality gap as a share of the objective."""
    half_norm = 0.5 * float((found.V**2).sum())
    return (found.objective - float(found.alpha.sum()) + half_norm) / found.objective


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
def test_weights_of_rows_are_libsvms(scale: float) -> None:
    X, y, c = problem()
    found = solved(X, y, scale * c)
    svm = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y, sample_weight=scale * c)
    assert found.objective == pytest.approx(primal(X, y, scale * c, found.V[0], found.b[0]), rel=1e-12)
    assert found.objective == pytest.approx(primal(X, y, scale * c, svm.coef_[0], svm.intercept_[0]), rel=1e-5)
    assert np.allclose(found.V[0], svm.coef_[0], atol=5e-3 * np.linalg.norm(found.V))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_optimality_conditions(scale: float) -> None:
    X, y, c = problem()
    c = scale * c
    found = solved(X, y, c)
    v, b, alpha = found.V[0], found.b[0], found.alpha[:, 0]
    assert found.solved
    assert gap(found) <= GAP
    assert alpha.min() >= 0.0
    assert np.all(alpha <= c)
    assert abs(y @ alpha) <= 1e-6 * alpha.sum()
    assert np.allclose(X.T @ (y * alpha), v, atol=1e-6 * alpha.sum())
    margins = y * (X @ v + b)
    slackness = alpha @ np.maximum(0.0, margins - 1.0) + (c - alpha) @ np.maximum(0.0, 1.0 - margins)
    assert slackness <= 1e-5 * primal(X, y, c, v, b)


def test_equal_weights_are_one_weight() -> None:
    X, y, _ = problem()
    found, expected = solved(X, y, np.full(80, 3.0)), solved(X, y, 3.0)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    assert np.allclose(found.V, expected.V, rtol=1e-8)


def test_warm_start_reaches_the_same_optimum_and_leaves_the_start_alone() -> None:
    X, y, c = problem()
    cold = solved(X, y, c)
    far = Solution(np.array([[-3.0, 1.0, 5.0]]), np.array([2.0]), np.full((80, 1), 9.0), 0.0)
    for start in (cold, far):
        kept = start.V.copy(), start.alpha.copy()
        warm = solved(X, y, c, start)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
        assert np.array_equal(start.V, kept[0])
        assert np.array_equal(start.alpha, kept[1])


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_degenerate_problems_end_near_the_optimum(C: float) -> None:
    y = np.array([1.0, 1.0, 1.0, -1.0])
    for X in (np.zeros((4, 2)), np.ones((4, 2)), np.array([[1.0], [1.0], [2.0], [-1.0]]), np.ones((4, 1)) * 1e3):
        found = solved(X, y, np.full(4, C))
        assert np.isfinite(found.V).all()
        assert gap(found) <= 1e-4
