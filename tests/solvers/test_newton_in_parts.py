"""The Newton method on rows in parts against the one on rows in memory, which is its twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparsegen.data.parts import LocalParts
from sparsegen.solvers import newton_in_parts
from sparsegen.solvers.newton import Loss, solve
from sparsegen.solvers.newton_in_parts import (
    MarginRows,
    PartsLoss,
    PartsSolution,
    multipliers,
    point_part,
    slope_part,
    solve_in_parts,
)

N, M = 300, 7


def problem(n_outputs: int, weighted: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Any]:
    rng = np.random.RandomState(seed)
    Phi = rng.standard_normal((N, M))
    Y = np.sign(Phi @ rng.standard_normal((M, n_outputs)) + 0.7 * rng.standard_normal((N, n_outputs)) + 0.3)
    return Phi, Y, rng.uniform(0.5, 1.5, N) if weighted else 2.0


def in_parts(Phi: np.ndarray, Y: np.ndarray, C: Any, cuts: tuple[int, ...] = (90, 200)) -> LocalParts[MarginRows]:
    slices = [slice(a, b) for a, b in zip((0, *cuts), (*cuts, len(Phi)), strict=True)]
    weights = [C[rows] if isinstance(C, np.ndarray) else C for rows in slices]
    return LocalParts(len(slices), lambda i: MarginRows(Phi[slices[i]], Y[slices[i]], weights[i]))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["squared_hinge", "hinge"])
def test_the_optimum_is_that_of_rows_in_memory(
    name: str, weighted: bool, n_outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newton_in_parts, "SLICE", 64)  # several slices in a part
    Phi, Y, C = problem(n_outputs, weighted)
    expected = solve([(slice(0, N), Phi)], Y, M, Loss(name, C))
    loss = PartsLoss(name, float(np.mean(C)), N)
    parts = in_parts(Phi, Y, C)
    found = solve_in_parts(parts, n_outputs, M, loss)
    assert found.solved
    tolerance = 1e-9 if name == "squared_hinge" else 1e-6  # the hinge's gap is closed to 1e-8
    np.testing.assert_allclose(found.V, expected.V, atol=tolerance)
    np.testing.assert_allclose(found.b, expected.b, atol=tolerance)
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    alpha = np.concatenate(list(parts.each(multipliers, loss, found)))
    np.testing.assert_allclose(alpha, expected.alpha, atol=1e3 * tolerance)


@pytest.mark.parametrize("name", ["squared_hinge", "hinge"])
def test_a_start_changes_the_way_and_not_the_end(name: str) -> None:
    Phi, Y, C = problem(2, False, seed=3)
    loss = PartsLoss(name, C, N)
    cold = solve_in_parts(in_parts(Phi, Y, C), 2, M, loss)
    rng = np.random.RandomState(1)
    far = PartsSolution(10.0 * rng.standard_normal((2, M)), 30.0 * rng.standard_normal(2), np.inf)
    warm = solve_in_parts(in_parts(Phi, Y, C), 2, M, loss, far)
    np.testing.assert_allclose(warm.V, cold.V, atol=1e-6)
    np.testing.assert_allclose(warm.b, cold.b, atol=1e-6)


def test_the_same_parts_give_the_same_bits() -> None:
    Phi, Y, C = problem(1, False)
    loss = PartsLoss("squared_hinge", C, N)
    one, two = (solve_in_parts(in_parts(Phi, Y, C), 1, M, loss) for _ in range(2))
    assert one.V.tobytes() == two.V.tobytes()


def test_rows_of_one_class_are_solved_by_the_bias() -> None:
    Phi, Y, C = problem(1, False)
    loss = PartsLoss("squared_hinge", C, N)
    found = solve_in_parts(in_parts(Phi, np.ones_like(Y), C), 1, M, loss)
    assert found.objective == pytest.approx(0.0, abs=1e-9)
    assert found.b[0] >= 1.0 - 1e-6


@pytest.mark.parametrize("name", ["squared_hinge", "hinge"])
def test_the_slope_along_a_step_is_that_of_the_sum(name: str) -> None:
    Phi, Y, C = problem(1, True)
    loss = PartsLoss(name, float(np.mean(C)), N)
    rows = MarginRows(Phi, Y, C)
    rng = np.random.RandomState(5)
    V, b, d, e = rng.standard_normal((1, M)), rng.standard_normal(1), rng.standard_normal((1, M)), np.array([0.3])
    sigma, outputs, at = np.array([1.7]), np.array([0]), 0.4

    def value(s: float) -> float:
        return float(point_part(rows, loss, (), V + s * d, b + s * e, sigma, outputs)[0][0])

    first, _ = slope_part(rows, loss, (), V, b, sigma, outputs, d, e, np.array([at]))
    assert first[0] == pytest.approx((value(at + 1e-6) - value(at - 1e-6)) / 2e-6, rel=1e-5)
    gradient = point_part(rows, loss, (), V + at * d, b + at * e, sigma, outputs)[2][0]
    assert first[0] == pytest.approx(float(gradient[:M] @ d[0] + gradient[M] * e[0]), rel=1e-9)
