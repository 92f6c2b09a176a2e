"""Regression in a tube, by finite Newton steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import tube as reference

from sparsegen.solvers import tube
from sparsegen.solvers.blocks import RowBlocks
from sparsegen.solvers.tube import Tube, TubeSolution, line_search, solve_tube

Array = NDArray[np.float64]
LOSSES = [(0.0, np.inf), (0.3, np.inf), (0.0, 0.5), (0.2, 0.4), (1.0, 1e-3)]


def rows(n: int = 60, m: int = 4, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    return Phi, Phi @ rng.normal(size=m) + 0.5 * rng.standard_t(2, size=n)


def solved(Phi: Array, y: Array, loss: Tube, step: int = 17, start: tuple[Array, float] | None = None) -> TubeSolution:
    return solve_tube(RowBlocks(len(y), step, lambda part: Phi[part]), y, Phi.shape[1], loss, start)


@pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
@pytest.mark.parametrize("weighs", [False, True])
def test_the_optimum_is_that_of_a_general_minimiser(epsilon: float, delta: float, weighs: bool) -> None:
    Phi, y = rows()
    C: float | Array = np.random.default_rng(1).uniform(0.1, 5.0, len(y)) if weighs else 2.0
    loss = Tube(C, epsilon, delta)
    found = solved(Phi, y, loss)
    assert found.solved
    assert found.objective == pytest.approx(reference.objective(found.v, found.b, Phi, y, C, epsilon, delta), rel=1e-12)
    assert found.objective <= reference.optimum(Phi, y, C, epsilon, delta) * (1 + 1e-12)
    assert np.allclose(found.v, Phi.T @ found.pull, atol=1e-9 * np.abs(found.v).max())
    assert abs(found.pull.sum()) < 1e-9 * np.abs(found.pull).sum()


def test_no_tube_is_ridge_regression_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    Phi, y = rows()
    monkeypatch.setattr(tube, "MAX_NEWTON", 1)
    found = solved(Phi, y, Tube(3.0))
    bordered = np.column_stack([Phi, np.ones(len(y))])
    H = bordered.T @ bordered + np.diag([1 / 6.0] * Phi.shape[1] + [0.0])
    assert found.solved
    assert np.allclose(np.append(found.v, found.b), np.linalg.solve(H, bordered.T @ y))


@given(
    st.integers(0, 1000), st.sampled_from(LOSSES), st.floats(-3.0, 3.0), st.sampled_from([0.01, 1.0, 100.0])
)  # fmt: skip
def test_losses_are_what_their_definition_says(seed: int, of: tuple[float, float], shift: float, C: float) -> None:
    residuals = np.random.default_rng(seed).normal(size=7) + shift
    loss = Tube(C, *of)
    assert loss.value(residuals) == pytest.approx(C * sum(reference.loss(r, *of) for r in residuals), rel=1e-12)
    step = 1e-6
    for i in range(7):
        up, down = residuals.copy(), residuals.copy()
        up[i] += step
        down[i] -= step
        assert (loss.value(up) - loss.value(down)) / (2 * step) == pytest.approx(loss.pull(residuals)[i], abs=1e-4 * C)
    scores = np.zeros(7)
    assert np.allclose(C * loss.falls(scores, residuals), loss.pull(residuals))


@pytest.mark.parametrize("of", LOSSES)
def test_a_solution_is_where_it_starts_from(of: tuple[float, float]) -> None:
    Phi, y = rows()
    first = solved(Phi, y, Tube(1.0, *of))
    again = solved(Phi, y, Tube(1.0, *of), start=(first.v, first.b))
    assert again.objective == pytest.approx(first.objective, rel=1e-12)


@pytest.mark.parametrize("of", LOSSES)
def test_line_search_ends_at_the_minimum(of: tuple[float, float]) -> None:
    rng = np.random.default_rng(3)
    loss = Tube(1.5, *of)
    for _ in range(20):
        v, d = rng.normal(size=3), rng.normal(size=3)
        residuals, change = 2 * rng.normal(size=30), rng.normal(size=30)

        def at(s: float, v: Array = v, d: Array = d, r: Array = residuals, c: Array = change) -> float:
            return 0.5 * float((v + s * d) @ (v + s * d)) + loss.value(r - s * c)

        if at(1e-6) >= at(0.0):
            continue
        s = line_search(float(v @ d), float(d @ d), residuals, change, loss)
        assert all(at(s) <= at(s + move) + 1e-9 for move in (-1e-3, 1e-3, -0.1, 0.1))


def test_rows_that_all_lie_in_the_tube_cost_nothing() -> None:
    Phi, y = rows()
    found = solved(Phi, y, Tube(1.0, epsilon=100.0))
    assert (found.objective, found.solved, np.abs(found.v).max()) == (0.0, True, 0.0)


@pytest.mark.parametrize("of", LOSSES)
def test_rows_that_say_nothing(of: tuple[float, float]) -> None:
    found = solved(np.zeros((9, 2)), np.arange(9.0), Tube(1.0, *of))
    assert found.solved
    assert np.abs(found.v).max() == 0.0
    assert found.b == pytest.approx(4.0, abs=1.0 + of[0])


def test_a_bound_on_steps_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Phi, y = rows()
    monkeypatch.setattr(tube, "MAX_NEWTON", 1)
    assert not solved(Phi, y, Tube(1.0, 0.2, 0.4)).solved


def test_outliers_pull_less_beyond_delta() -> None:
    Phi, y = rows(200)
    clean = solved(Phi, y, Tube(1.0)).v
    spoiled = y.copy()
    spoiled[:5] += 1000.0
    squared, huber = solved(Phi, spoiled, Tube(1.0)).v, solved(Phi, spoiled, Tube(1.0, delta=1.0)).v
    assert np.linalg.norm(huber - clean) < 0.05 * np.linalg.norm(squared - clean)
