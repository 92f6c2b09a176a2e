from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from reference import newton as reference
from sklearn.svm import SVC

from sparsegen.solvers import newton
from sparsegen.solvers.newton import Loss, Solution, classify_rows, line_search, line_slope, solve

Array = NDArray[np.float64]
LOSSES = ("hinge", "squared_hinge")
N = 12
numbers = st.floats(-3.0, 3.0).map(lambda v: round(v, 4))
rows = arrays(np.float64, N, elements=numbers)
signs = arrays(np.float64, N, elements=st.sampled_from([-1.0, 1.0]))
shifts = arrays(np.float64, N, elements=st.floats(0.0, 2.0).map(lambda v: round(v, 4)))
sigmas = st.sampled_from([0.01, 0.5, 1.0, 7.0, 1e4])
caps_of_rows = arrays(np.float64, N, elements=st.sampled_from([0.1, 1.0, 5.0, np.inf]))
row_scales = st.none() | arrays(np.float64, N, elements=st.sampled_from([1e-3, 0.5, 1.0, 3.0, 40.0]))


class Blocks:
    """Rows of Phi in blocks, which can be iterated again and again."""

    def __init__(self, Phi: Array, step: int) -> None:
        self.Phi, self.step, self.passes = Phi, step, 0

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        self.passes += 1
        for first in range(0, len(self.Phi), self.step):
            block = slice(first, min(len(self.Phi), first + self.step))
            yield block, self.Phi[block]


def solved(
    Phi: Array, Y: Array, C: float, loss: str, start: Solution | None = None, step: int | None = None
) -> Solution:
    return solve(Blocks(Phi, step or len(Phi)), Y, Phi.shape[1], Loss(loss, C), start)


def overlapping(n: int = 60, m: int = 4, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    return Phi, np.where(Phi[:, 0] + 0.7 * rng.normal(size=n) > 0.1, 1.0, -1.0)[:, None]


def degenerate(name: str) -> tuple[Array, Array]:
    Phi, Y = overlapping()
    one = np.where(np.arange(len(Y)) == 3, 1.0, -1.0)[:, None]
    first = np.where(Phi[:, :1] > 0, 1.0, -1.0)
    return {
        "duplicate rows, other labels": (np.repeat(Phi[:20], 3, axis=0), Y),
        "constant features": (np.full_like(Phi, 0.7), Y),
        "a constant feature": (np.hstack([Phi, np.ones_like(Y)]), Y),
        "features of zeros": (np.zeros_like(Phi), Y),
        "equal features": (np.repeat(Phi[:, :1], 4, axis=1), Y),
        "separable": (Phi + 0.5 * first * [1, 0, 0, 0], first),
        "one row in a class": (Phi, one),
        "one feature": (Phi[:, :1], Y),
        "more features than rows": (np.random.default_rng(1).normal(size=(60, 80)), Y),
        "huge features": (1e4 * Phi, Y),
        "tiny features": (1e-4 * Phi, Y),
        "a far offset": (1e3 + Phi, Y),
    }[name]


DEGENERATE = (
    "duplicate rows, other labels", "constant features", "a constant feature", "features of zeros", "equal features",
    "separable", "one row in a class", "one feature", "more features than rows", "huge features", "tiny features",
    "a far offset",
)  # fmt: skip


def dual(Phi: Array, Y: Array, alpha: Array, C: float, loss: str) -> float:
    """The dual objective of a feasible alpha: a bound from below on every primal value."""
    value = alpha.sum() - 0.5 * np.sum((Phi.T @ (Y * alpha)) ** 2)
    return float(value if loss == "hinge" else value - np.sum(alpha**2) / (4.0 * C))


@given(rows, signs, shifts, sigmas, caps_of_rows, row_scales)
@settings(deadline=None)
def test_classify_rows_equals_its_twin(
    f: Array, y: Array, shift: Array, sigma: float, caps: Array, scale: Array | None
) -> None:
    pull, piece = np.empty(N), np.empty(N, dtype=np.int8)
    classify_rows(f, y, shift, sigma, caps, scale, pull, piece)
    expected_pull, expected_piece = reference.classify_rows(f, y, shift, sigma, caps, scale)
    assert np.array_equal(pull, expected_pull)
    assert np.array_equal(piece, expected_piece)


@given(st.floats(0.0, 3.0), numbers, st.floats(0.01, 3.0), rows, rows, signs, shifts, sigmas, caps_of_rows, row_scales)
@settings(deadline=None)
def test_line_slope_equals_its_twin(
    s: float,
    vd: float,
    dd: float,
    f: Array,
    df: Array,
    y: Array,
    shift: Array,
    sigma: float,
    caps: Array,
    scale: Array | None,
) -> None:
    args = (s, vd, dd, f, df, y, shift, sigma, caps, scale)
    assert np.allclose(line_slope(*args), reference.line_slope(*args), rtol=1e-10, atol=1e-10 * sigma)


@given(numbers, st.floats(0.01, 3.0), rows, rows, signs, shifts, sigmas, caps_of_rows, row_scales)
@settings(deadline=None)
def test_line_search_reaches_the_minimum_of_its_twin(
    vd: float,
    dd: float,
    f: Array,
    df: Array,
    y: Array,
    shift: Array,
    sigma: float,
    caps: Array,
    scale: Array | None,
) -> None:
    args = (vd, dd, f, df, y, shift, sigma, caps, scale)
    at_zero = reference.line_slope(0.0, *args)[0]
    assume(at_zero < -1e-6)
    s = line_search(*args)
    assert s > 0.0
    assert abs(reference.line_slope(s, *args)[0]) <= 1e-6 * abs(at_zero) + 1e-9 * sigma
    best = reference.line_value(reference.line_search(*args), *args)
    assert reference.line_value(s, *args) <= best + 1e-9 * max(1.0, abs(best))


def test_full_newton_step_has_length_exactly_one() -> None:
    """A quadratic without corners: the minimum along (-g / H) is at 1."""
    f, df, y = np.zeros(3), np.array([0.1, 0.2, 0.3]), np.ones(3)
    second = 1.0 + 2.0 * (df @ df)
    first = 1.0 - 2.0 * df.sum()
    scale = -first / second
    assert line_search(scale, scale**2, f, scale * df, y, np.zeros(3), 2.0, np.full(3, np.inf), None) == 1.0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_objective_is_the_reference_optimum(loss: str, C: float, seed: int) -> None:
    Phi, Y = overlapping(40, 3, seed)
    found = solved(Phi, Y, C, loss)
    assert found.solved
    assert found.objective == pytest.approx(reference.optimum(Phi, Y[:, 0], C, loss), rel=3e-6)
    assert found.objective == pytest.approx(reference.primal(found.V[0], found.b[0], Phi, Y[:, 0], C, loss), rel=1e-12)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
def test_hinge_equals_libsvm(C: float) -> None:
    Phi, Y = overlapping(150, 5)
    machine = SVC(kernel="linear", C=C, tol=1e-8).fit(Phi, Y[:, 0])
    libsvm = reference.primal(machine.coef_[0], machine.intercept_[0], Phi, Y[:, 0], C, "hinge")
    found = solved(Phi, Y, C, "hinge")
    assert found.objective == pytest.approx(libsvm, rel=2e-6)
    assert np.allclose(found.V[0], machine.coef_[0], atol=2e-3 * np.linalg.norm(machine.coef_))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-3, 0.3, 30.0, 1e4])
def test_optimality_conditions(loss: str, C: float) -> None:
    Phi, Y = overlapping(200, 6)
    found = solved(Phi, Y, C, loss)
    alpha, y, margins = found.alpha[:, 0], Y[:, 0], Y[:, 0] * (Phi @ found.V[0] + found.b[0])
    total = alpha.sum()
    assert alpha.min() >= 0.0
    assert np.allclose(Phi.T @ (y * alpha), found.V[0], atol=1e-7 * total)
    assert abs(y @ alpha) <= 1e-9 * total
    assert found.objective - dual(Phi, Y, found.alpha, C, loss) <= 2e-6 * found.objective
    if loss == "squared_hinge":
        assert np.allclose(alpha, 2.0 * C * np.maximum(0.0, 1.0 - margins), atol=1e-9 * C)
    else:
        assert alpha.max() <= C
        # complementary slackness, weighted as in the duality gap
        slackness = alpha * np.maximum(0.0, margins - 1.0) + (C - alpha) * np.maximum(0.0, 1.0 - margins)
        assert slackness.sum() <= 3e-6 * found.objective


@pytest.mark.parametrize("loss", LOSSES)
def test_outputs_are_independent_problems(loss: str) -> None:
    Phi, y = overlapping(80, 4)
    Y = np.hstack([y, np.where(Phi[:, 1:2] > 0.3, 1.0, -1.0), -y])
    together = solved(Phi, Y, 2.0, loss)
    for k in range(3):
        alone = solved(Phi, Y[:, k : k + 1], 2.0, loss)
        assert np.allclose(together.V[k], alone.V[0], rtol=1e-8, atol=1e-8)
        assert np.allclose(together.alpha[:, k], alone.alpha[:, 0], rtol=1e-8, atol=1e-8)
    assert np.allclose(together.V[0], -together.V[2], atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("step", [1, 7, 79, 80])
def test_several_blocks_are_one_block(loss: str, step: int) -> None:
    Phi, Y = overlapping(80, 4)
    whole, parts = solved(Phi, Y, 1.0, loss), solved(Phi, Y, 1.0, loss, step=step)
    assert parts.objective == pytest.approx(whole.objective, rel=1e-10)
    assert np.allclose(parts.V, whole.V, rtol=1e-7, atol=1e-9)
    assert np.allclose(parts.alpha, whole.alpha, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_start_reaches_the_same_optimum(loss: str) -> None:
    Phi, Y = overlapping(100, 5)
    cold = solved(Phi, Y, 3.0, loss)
    rng = np.random.default_rng(5)
    far = Solution(rng.normal(size=(1, 5)), rng.normal(size=1), 9.0 * rng.random((100, 1)), 0.0)
    for start in (cold, far, replace(cold, V=-cold.V)):
        kept = start.V.copy(), start.alpha.copy()
        warm = solved(Phi, Y, 3.0, loss, start)
        assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
        assert np.array_equal(start.V, kept[0])
        assert np.array_equal(start.alpha, kept[1])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("C", [1e-3, 1, 1e3, 1e6, 1e9])
def test_degenerate_problems_end_at_the_optimum(name: str, loss: str, C: float) -> None:
    Phi, Y = degenerate(name)
    blocks = Blocks(Phi, len(Phi))
    found = solve(blocks, Y, Phi.shape[1], Loss(loss, C))
    assert blocks.passes <= 200, "rounding errors are not iterated on; 56 are needed at most"
    assert np.isfinite(found.V).all()
    assert np.isfinite(found.alpha).all()
    # The dual objective, with |V|^2 for |Phi' y alpha|^2: at these C the latter is all rounding error.
    bound = found.alpha.sum() - 0.5 * np.sum(found.V**2)
    bound -= 0.0 if loss == "hinge" else np.sum(found.alpha**2) / (4.0 * C)
    assert abs(found.objective - bound) <= 1e-5 * found.objective
    assert abs(np.sum(Y * found.alpha)) <= 1e-6 * found.alpha.sum()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e6])
def test_scaling_the_problem_scales_the_solution(loss: str, scale: float) -> None:
    """``v -> s v``, ``phi -> phi / s``, ``C -> s^2 C`` is the same problem in other units."""
    Phi, Y = overlapping(100, 4)
    found, scaled = solved(Phi, Y, 1.0, loss), solved(Phi / scale, Y, scale**2, loss)
    assert scaled.objective == pytest.approx(scale**2 * found.objective, rel=2e-6)
    assert np.allclose(scaled.V, scale * found.V, atol=1e-3 * scale * np.abs(found.V).max())


def test_curvature_stays_exact_while_rows_come_and_go() -> None:
    Phi, Y = overlapping(300, 5)
    state = newton._State(Blocks(Phi, 70), Y.T.copy(), np.zeros((1, 5)), np.zeros(1))
    rng = np.random.default_rng(0)
    extended = np.hstack([Phi, np.ones((300, 1))])
    for share in (0.9, 0.5, 0.4, 0.35, 0.1, 0.02, 0.6, 0.59, 0.0, 0.3):
        piece = (rng.random((1, 300)) < share).astype(np.int8)
        state._newton_direction(np.ones((1, 300)), piece, np.ones(1), np.array([0]))
        curved = extended[piece[0] == newton.CURVED]
        recomputed = np.tril(curved.T @ curved)
        assert np.allclose(np.tril(state.curvature[0]), recomputed, rtol=1e-13, atol=1e-13 * len(curved))
    assert state.removed[0] <= 300


@pytest.mark.parametrize("loss", LOSSES)
def test_iteration_bounds_are_reported_not_hidden(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Phi, Y = overlapping(100, 5)
    best = solved(Phi, Y, 10.0, loss).objective
    monkeypatch.setattr(newton, "MAX_NEWTON", 1)
    found = solved(Phi, Y, 10.0, loss)
    assert not found.solved
    assert best < found.objective < np.inf
    monkeypatch.undo()
    monkeypatch.setattr(newton, "MAX_MULTIPLIER_STEPS", 1)
    assert solved(Phi, Y, 10.0, loss).solved == (loss == "squared_hinge")


def test_solver_reads_read_only_arrays() -> None:
    Phi, Y = overlapping()
    Phi.setflags(write=False)
    Y.setflags(write=False)
    assert solved(Phi, Y, 1.0, "hinge").solved


def test_a_solution_counts_as_solved_unless_said_otherwise() -> None:
    nothing = np.zeros((1, 1))
    assert Solution(nothing, np.zeros(1), nothing, 0.0).solved
