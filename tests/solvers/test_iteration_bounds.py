"""Searches that never arrive end after as many steps as their modules say, and say that they did not arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sparsegen.solvers import newton, rvm
from sparsegen.solvers.newton import Loss, solve

Array = NDArray[np.float64]


def problem() -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    Phi = rng.normal(size=(30, 3)) * [1.0, 10.0, 100.0]
    return Phi, np.where(Phi[:, :1] + rng.normal(size=(30, 2)) > 0.0, 1.0, -1.0)


def solved(loss: Loss) -> bool:
    Phi, Y = problem()
    return solve([(slice(0, 30), Phi)], Y, 3, loss).solved


def test_newton_ends_after_two_hundred_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Along the gradient instead: on features of uneven size that takes far longer."""
    calls: list[int] = []
    direction = newton._State._newton_direction

    def steepest(state: Any, pull: Array, piece: Any, sigma: Array, outputs: Any) -> tuple[Array, Array, Array]:
        calls.append(len(outputs))
        steps, bias_steps, _ = direction(state, pull, piece, sigma, outputs)
        signed = pull[outputs] * state.Y[outputs]
        steps, bias_steps = signed @ problem()[0] - state.V[outputs], signed.sum(axis=1)
        return steps, bias_steps, (steps**2).sum(axis=1) + bias_steps**2

    monkeypatch.setattr(newton._State, "_newton_direction", steepest)
    assert not solved(Loss("squared_hinge", 1.0))
    assert len(calls) == 200


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_multipliers_end_after_sixty_steps_with_a_sigma_of_a_million_c(
    C: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is minimised, no gap closes."""
    sigmas: list[Array] = []

    def idle(state: Any, shift: Array, sigma: Array, caps: Array, outputs: Any) -> tuple[Array, Any]:
        sigmas.append(sigma.copy())
        return np.zeros_like(state.Y), outputs[:0]

    monkeypatch.setattr(newton._State, "minimise", idle)
    assert not solved(Loss("hinge", C))
    assert len(sigmas) == 60
    # The gap is as large as at first: no fall from infinity is slow, every other is.
    np.testing.assert_allclose(sigmas, [[C * min(5.0 ** max(0, step - 1), 1e6)] * 2 for step in range(60)], rtol=1e-6)


def test_an_output_that_rounding_leaves_short_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[int]] = []

    def short(state: Any, shift: Array, sigma: Array, caps: Array, outputs: Any) -> tuple[Array, Any]:
        tried.append(outputs.tolist())
        return np.zeros_like(state.Y), outputs[:1]

    monkeypatch.setattr(newton._State, "minimise", short)
    assert not solved(Loss("hinge", 1.0))
    assert tried == [[0, 1], [1]]


def test_a_mode_ends_after_fifty_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curvature that is taken for far too large makes steps that are far too short."""
    calls: list[int] = []

    def stiff(Phi: Array, B: Array, A: Array) -> Array:
        calls.append(len(B))
        return 100.0 * np.eye(Phi.shape[1])

    monkeypatch.setattr(rvm, "_factor", stiff)
    Phi, Y = problem()
    mode = rvm.find_mode(np.hstack([Phi[:, :1], np.ones((30, 1))]), (Y[:, 0] + 1.0) / 2.0, np.ones(1), np.zeros(2))
    assert len(calls) == 51, "and one for the factor that is returned"
    assert np.linalg.norm(mode.w) > 0.0
