"""The Newton iteration step by step: directions, lengths, when it ends, and how the multipliers' sigma grows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import newton as reference
from scipy.optimize import brentq

from sparsegen.solvers import newton
from sparsegen.solvers.newton import Loss, Solution, line_search, solve

Array = NDArray[np.float64]


class Counted:
    """Blocks of rows that count how often they are gone through."""

    def __init__(self, Phi: Array, step: int = 17) -> None:
        self.Phi, self.step, self.passes = Phi, step, 0

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        self.passes += 1
        for first in range(0, len(self.Phi), self.step):
            rows = slice(first, min(len(self.Phi), first + self.step))
            yield rows, self.Phi[rows]


def problem(n: int = 60, m: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Rows, and two outputs that are not equally hard."""
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    noise = rng.normal(size=(n, 2)) * [0.3, 1.5]
    return Phi, np.where(Phi[:, :1] + noise > 0.2, 1.0, -1.0)


def newton_steps(Phi: Array, y: Array, C: float) -> int:
    """The steps of a plain Newton method on the squared hinge, until a full one leaves all rows on their pieces."""
    A = np.hstack([Phi, np.ones((len(Phi), 1))])
    w = np.zeros(A.shape[1])
    ridge = np.diag([*np.ones(Phi.shape[1]), 0.0])
    for step in range(1, 100):
        curved = y * (A @ w) < 1.0
        g = ridge @ w - 2.0 * C * A[curved].T @ (y - A @ w)[curved]
        d = -np.linalg.solve(ridge + 2.0 * C * A[curved].T @ A[curved], g)
        nothing, no_caps = np.zeros(len(y)), np.full(len(y), np.inf)
        along = (float(w @ ridge @ d), float(d @ ridge @ d), A @ w, A @ d, y, nothing, 2.0 * C, no_caps)
        length = brentq(lambda s, along=along: reference.line_slope(s, *along)[0], 0.0, 1e6, xtol=1e-12)
        w = w + length * d
        if abs(length - 1.0) < 1e-6 and np.array_equal(curved, y * (A @ w) < 1.0):
            return step
    raise AssertionError("no end")


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_squared_hinge_takes_the_steps_of_a_plain_newton_method(C: float, seed: int) -> None:
    """Two passes over the rows for each step of the slower output, and one for the outputs at the start."""
    Phi, Y = problem(seed=seed)
    steps = [newton_steps(Phi, Y[:, k], C) for k in (0, 1)]
    for outputs in ([0], [1], [0, 1]):
        blocks = Counted(Phi)
        assert solve(blocks, Y[:, outputs], 3, Loss("squared_hinge", C)).solved
        assert blocks.passes == 1 + 2 * max(steps[k] for k in outputs)


@pytest.mark.parametrize("outputs", [[0], [1], [0, 1]])
def test_a_direction_is_newtons(outputs: list[int]) -> None:
    Phi, Y = problem()
    rng = np.random.default_rng(4)
    V, b, sigma = rng.normal(size=(2, 3)), rng.normal(size=2), np.array([0.7, 5.0])
    state = newton._State(Counted(Phi), Y.T.copy(), V, b)
    pull, piece = rng.random((2, 60)), rng.integers(0, 3, (2, 60)).astype(np.int8)
    steps, bias_steps, descents = state._newton_direction(pull, piece, sigma, np.array(outputs))
    A = np.hstack([Phi, np.ones((60, 1))])
    for k, step, bias_step, descent in zip(outputs, steps, bias_steps, descents, strict=True):
        g = np.append(V[k], 0.0) - A.T @ (pull[k] * Y[:, k])
        curved = A[piece[k] == 1]
        expected = -np.linalg.solve(np.diag([1.0, 1.0, 1.0, 0.0]) + sigma[k] * curved.T @ curved, g)
        assert [*step, bias_step] == pytest.approx(expected, rel=1e-6)
        assert descent == pytest.approx(-g @ expected, rel=1e-6)


def test_a_direction_without_any_curved_row_has_a_small_ridge_on_the_bias() -> None:
    Phi, Y = problem()
    state = newton._State(Counted(Phi), Y.T[:1].copy(), np.ones((1, 3)), np.zeros(1))
    pull, piece = np.full((1, 60), 0.5), np.full((1, 60), newton.STEEP, dtype=np.int8)
    steps, bias_steps, _ = state._newton_direction(pull, piece, np.array([3.0]), np.array([0]))
    signed = 0.5 * Y[:, 0]
    assert steps[0] == pytest.approx(Phi.T @ signed - 1.0, rel=1e-6)
    assert bias_steps[0] == pytest.approx(signed.sum() / (1e-9 * 3.0 * 60), rel=1e-6)


def test_rows_taken_out_are_counted_until_the_curvature_is_rebuilt() -> None:
    """More of them than rows that are left: then it is built anew."""
    Phi, Y = problem()
    state = newton._State(Counted(Phi), Y.T[:1].copy(), np.zeros((1, 3)), np.zeros(1))
    rows = np.arange(60)
    before, removed = np.zeros(60, dtype=bool), 0
    A = np.hstack([Phi, np.ones((60, 1))])
    for curved in (rows < 40, rows < 20, rows < 19, rows < 45, rows >= 10, rows % 2 == 0, rows < 9, rows >= 0):
        removed += int(np.count_nonzero(before & ~curved))
        removed = 0 if removed > np.count_nonzero(curved) else removed
        state._newton_direction(np.ones((1, 60)), curved[None].astype(np.int8), np.ones(1), np.array([0]))
        assert state.removed[0] == removed
        np.testing.assert_allclose(np.tril(state.curvature[0]), np.tril(A[curved].T @ A[curved]), atol=1e-8)
        before = curved


@pytest.mark.parametrize("weights", ["one", "one per row"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_sigma_grows_fivefold_where_the_gap_falls_less_than_tenfold(
    seed: int, C: float, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And an output is done once its duality gap is a hundred millionth of its objective."""
    Phi, Y = problem(40, seed=seed)
    caps = np.full(40, C) if weights == "one" else C * np.random.default_rng(seed).uniform(0.5, 2.0, 40)
    minimise = newton._State.minimise
    calls: list[tuple[Array, list[int], Array, Array]] = []

    def watched(state: Any, shift: Array, sigma: Array, caps: Array, outputs: NDArray[np.intp]) -> Any:
        open_outputs = outputs.tolist()
        alpha, unsolved = minimise(state, shift, sigma, caps, outputs)
        half_norm = 0.5 * (state.V**2).sum(axis=1)
        primal = half_norm + np.maximum(0.0, 1.0 - state.Y * state.F) @ caps
        gap = primal - (alpha.sum(axis=1) - half_norm)
        calls.append((sigma.copy(), open_outputs, gap, gap <= 1e-8 * primal))
        assert len(unsolved) == 0
        return alpha, unsolved

    monkeypatch.setattr(newton._State, "minimise", watched)
    found = solve(Counted(Phi), Y, 3, Loss("hinge", C if weights == "one" else caps))
    assert found.solved
    expected, still_open, last = np.full(2, caps.mean()), [0, 1], np.full(2, np.inf)
    for sigma, open_outputs, gap, closed in calls:
        assert open_outputs == still_open
        np.testing.assert_allclose(sigma, expected, rtol=1e-6)
        still_open = [k for k in open_outputs if not closed[k]]
        for k in still_open:
            expected[k] *= 5.0 if gap[k] > 0.1 * last[k] else 1.0
            last[k] = gap[k]
    assert still_open == []


def test_multipliers_to_start_from_are_brought_within_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    Phi, Y = problem(40)
    alpha = np.random.default_rng(6).uniform(-2.0, 8.0, (40, 2))
    shifts: list[Array] = []
    minimise = newton._State.minimise

    def watched(state: Any, shift: Array, *rest: Any) -> Any:
        shifts.append(shift.copy())
        return minimise(state, shift, *rest)

    monkeypatch.setattr(newton._State, "minimise", watched)
    solve(Counted(Phi), Y, 3, Loss("hinge", 4.0), Solution(np.zeros((2, 3)), np.zeros(2), alpha, 0.0))
    np.testing.assert_allclose(shifts[0], np.clip(alpha.T, 0.0, 4.0) / 4.0, atol=1e-9)


def line(seed: int, size: float) -> tuple[float, float, Array, Array, Array, Array, float, Array, None]:
    """A line of twelve rows that descends at its start, in a unit of its own."""
    rng = np.random.default_rng(seed)
    f, df, y = rng.normal(size=12), rng.normal(size=12), rng.choice([-1.0, 1.0], 12)
    shift, caps = rng.random(12), rng.choice([0.5, 2.0, np.inf], 12)
    descending = (f, df, y, shift, 1.5 * size, size * caps, None)
    slope = reference.line_slope(0.0, 0.0, size, *descending)[0]
    return (-abs(slope) - slope - size, size, *descending)


@pytest.mark.parametrize("seed", range(10))
def test_a_line_search_takes_few_slopes_in_any_unit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's: halving alone would take thirty to be as near."""
    lengths = []
    slope = newton.line_slope
    for size in (1e-9, 1.0, 1e9):
        calls: list[float] = []

        def counted(s: float, *rest: Any, calls: list[float] = calls) -> tuple[float, float]:
            calls.append(s)
            return slope(s, *rest)

        monkeypatch.setattr(newton, "line_slope", counted)
        lengths.append(getattr(line_search, "py_func", line_search)(*line(seed, size)))
        assert len(calls) <= 12
        monkeypatch.undo()
        assert line_search(*line(seed, size)) == pytest.approx(lengths[-1], rel=1e-6)
    assert lengths == pytest.approx([reference.line_search(*line(seed, 1.0))] * 3, rel=1e-4)


@pytest.mark.parametrize(("corner", "length"), [(0.5, 1.0), (1.5, 2.0), (5.0, 8.0), (20.0, 32.0)])
def test_a_line_that_does_not_bend_is_searched_by_doubling(corner: float, length: float) -> None:
    """It descends evenly until a row is in the way, which then makes it level."""
    f, df, y = np.array([1.0 + corner]), np.array([-1.0]), np.ones(1)
    assert line_search(-1.0, 0.0, f, df, y, np.zeros(1), 1e3, np.ones(1), None) == length
