"""The search of the relevance vector machine, step by step: where it starts, which changes it makes, when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import rvm as reference

from sparsegen.solvers import rvm
from sparsegen.solvers.rvm import Mode, find_mode, gains_of_changes, solve

Array = NDArray[np.float64]
T = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])


def columns() -> Array:
    return np.random.default_rng(3).normal(size=(6, 4))


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Array, Array]]:
    """The precisions and the weights from which each mode is sought."""
    seen: list[tuple[Array, Array]] = []

    def watched(Phi: Array, t: Array, alpha: Array, w: Array, c: Array | None) -> Mode:
        seen.append((alpha, w))
        return find_mode(Phi, t, alpha, w, c)

    monkeypatch.setattr(rvm, "find_mode", watched)
    return seen


Change = tuple[int, float, float]


def play(monkeypatch: pytest.MonkeyPatch, changes: Callable[[list[int]], Change]) -> None:
    """Let each step see one change only: column, its best alpha and what it gains."""

    def gains(P: Array, used: Any, *_: object) -> tuple[Array, Array]:
        j, alpha, gain = changes(used.tolist())
        found, best = np.full(P.shape[1], -np.inf), np.full(P.shape[1], np.inf)
        found[j], best[j] = gain, alpha
        return found, best

    monkeypatch.setattr(rvm, "gains_of_changes", gains)


@pytest.mark.parametrize(
    ("t", "bias"),
    [
        (T, np.log(2.0)),
        (np.zeros(6), np.log(1e-12)),
        (np.ones(6), -np.log(1e-12)),
    ],
)
def test_it_starts_at_the_log_odds_which_a_single_class_leaves_finite(
    t: Array, bias: float, starts: list[tuple[Array, Array]]
) -> None:
    solve(columns(), t, 0, 1e-3)
    solve(columns(), t, 0, 1e-3, np.array([2, 0]))
    for (alpha, w), n in zip(starts, (0, 2), strict=True):
        assert w == pytest.approx([0.0] * n + [bias], rel=1e-4)
        assert alpha == pytest.approx([1e-3] * n)


def test_the_fourth_time_a_column_comes_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, lambda used: (2, np.inf, 1.0) if 2 in used else (2, 0.5, 1.0))
    found = solve(columns(), T, 100, 1e-3)
    assert found.iterations == 7, "it comes four times and goes three times"
    assert found.solved
    assert found.used.tolist() == [2]


def test_an_alpha_that_turns_back_makes_shorter_moves_from_then_on(
    monkeypatch: pytest.MonkeyPatch, starts: list[tuple[Array, Array]]
) -> None:
    wanted: Iterator[Change] = iter(
        [(1, 1.0, 1.0), (1, 0.01, 1.0), (1, 0.001, 1.0), (1, 0.16, 1.0), (0, 1.0, 1.0), (1, 7.0, 1e-3)]
    )
    play(monkeypatch, lambda used: next(wanted))
    found = solve(columns(), T, 100, 1e-3, np.array([3, 1, 0]))
    assert [alpha[1] for alpha, _ in starts] == pytest.approx([1e-3, 1.0, 0.1, 0.01, 0.02, 0.02])
    assert [alpha[2] for alpha, _ in starts] == pytest.approx([1e-3] * 5 + [1.0]), "each column has its own length"
    assert (found.solved, found.iterations) == (True, 5), "a gain that is no more than the tolerance ends it"


@pytest.mark.parametrize("slope", [1.0, 2.9, 3.0, 3.1, 5.0])
def test_an_alpha_that_overshoots_does_not_swing_for_ever(slope: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best log alpha is ``-slope`` times the present one; half of every move would never end at a slope of 3."""

    def gains(P: Array, used: NDArray[np.intp], alpha: Array, *_: object) -> tuple[Array, Array]:
        at = float(np.log(alpha[0]))
        found, best = np.full(P.shape[1], -np.inf), np.full(P.shape[1], np.inf)
        found[used[0]], best[used[0]] = abs(at), np.exp(-slope * at)
        return found, best

    monkeypatch.setattr(rvm, "gains_of_changes", gains)
    found = solve(columns(), T, 100, 1e-3, np.array([2]))
    assert found.solved
    assert found.alpha == pytest.approx(1.0, rel=1e-3)


def test_an_alpha_that_falls_from_the_start_goes_all_the_way(
    monkeypatch: pytest.MonkeyPatch, starts: list[tuple[Array, Array]]
) -> None:
    wanted: Iterator[Change] = iter([(1, 1e-5, 1.0), (1, 1e-7, 1.0), (1, 1e-3, 1.0), (1, 1.0, 0.0)])
    play(monkeypatch, lambda used: next(wanted))
    solve(columns(), T, 100, 1e-3, np.array([3, 1, 0]))
    assert [alpha[1] for alpha, _ in starts] == pytest.approx([1e-3, 1e-5, 1e-7, 1e-5], abs=0.0, rel=1e-6)


def test_each_mode_is_sought_from_the_last(monkeypatch: pytest.MonkeyPatch, starts: list[tuple[Array, Array]]) -> None:
    wanted: Iterator[Change] = iter([(0, 2.0, 1.0), (3, np.inf, 1.0), (0, 3.0, 1.0), (0, 3.0, 0.0)])
    play(monkeypatch, lambda used: next(wanted))
    P = columns()
    found = solve(P, T, 100, 1e-3, np.array([3, 1]))
    (_, first), (added_alpha, added), (left_alpha, left), (same_alpha, same) = starts
    mode = find_mode(np.column_stack([P[:, [3, 1]], np.ones(6)]), T, np.full(2, 1e-3), first)
    assert added == pytest.approx([*mode.w[:2], 0.0, mode.w[2]])
    assert added_alpha == pytest.approx([1e-3, 1e-3, 2.0])
    mode = find_mode(np.column_stack([P[:, [3, 1, 0]], np.ones(6)]), T, added_alpha, added)
    assert left == pytest.approx(mode.w[1:])
    assert left_alpha == pytest.approx([1e-3, 2.0])
    assert same_alpha == pytest.approx([1e-3, 3.0])
    assert len(same) == 3
    assert found.used.tolist() == [1, 0]
    Phi, A = np.column_stack([P[:, [1, 0]], np.ones(6)]), np.array([1e-3, 3.0, 1e-9])
    assert [*found.weights, found.bias] == pytest.approx(reference.mode(Phi, T, A), rel=1e-3)
    assert found.evidence == pytest.approx(reference.evidence(Phi, T, A), rel=1e-5)


def test_a_mode_is_found_where_newtons_decrement_is_tiny() -> None:
    """From two hundred starts, each of which ends elsewhere below the bound."""
    Phi, A = np.column_stack([columns()[:, :2], np.ones(6)]), np.array([0.5, 2.0, 1e-9])
    for start in np.linspace(-2.0, 2.0, 200):
        mode = find_mode(Phi, T, A[:2], np.array([start, -start, 0.3]))
        gradient = Phi.T @ (T - mode.y) - A * mode.w
        H = Phi.T @ (mode.B[:, None] * Phi) + np.diag(A)
        assert gradient @ np.linalg.solve(H, gradient) <= 1.001e-10


def one_row(p: float, residual: float, S: float) -> tuple[Array, Mode]:
    """One column of one row with curvature 1: ``phi'B phi = p^2``, ``Q = p residual`` and the S that is asked for."""
    L = np.array([[p / np.sqrt(p * p - S) if p * p > S else 1e200]])
    return np.array([[p]]), Mode(np.zeros(1), L, np.array([1.0 - residual]), np.ones(1), 0.0)


@pytest.mark.parametrize("p", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("share", "worth"), [(1.5e-9, True), (0.7e-9, False)])
def test_a_column_of_which_the_model_leaves_less_than_a_billionth_adds_nothing(
    p: float, share: float, worth: bool
) -> None:
    P, mode = one_row(p, 1.0, share * p * p)
    gains, best = gains_of_changes(P, np.empty(0, dtype=np.intp), np.empty(0), np.ones(1), mode)
    assert np.isfinite(gains[0]) == np.isfinite(best[0]) == worth


def test_a_new_precision_is_at_most_a_million_million() -> None:
    """``Q^2 - S`` is one or two last bits of 4."""
    P, mode = one_row(2.0, 1.0 + 2.0**-52, 4.0)
    gains, best = gains_of_changes(P, np.empty(0, dtype=np.intp), np.empty(0), np.ones(1), mode)
    assert best[0] == pytest.approx(1e12)
    assert gains[0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("residual", [1.0, -1.0])
def test_the_sign_of_a_columns_pull_does_not_matter(residual: float) -> None:
    P, mode = one_row(2.0, residual, 1.0)
    gains, best = gains_of_changes(P, np.empty(0, dtype=np.intp), np.empty(0), np.ones(1), mode)
    assert best[0] == pytest.approx(1.0 / 3.0), "S^2 / (Q^2 - S)"
    assert gains[0] == pytest.approx(0.5 * (3.0 - np.log(4.0)))


@pytest.mark.parametrize(
    ("S", "precision", "gain"),
    [
        (-1.0, 1e-12, 0.5 * 36.0 * 1e12),  # rounding made it negative: no longer any limit to the weight
        (2.0, 1.0 / 36.0, 0.5 * (35.0 - np.log(36.0))),  # no more than alpha, up to rounding: alpha^2 / Q^2
        (0.5, 1.0 / 143.0, 0.5 * (36.0 * 142.0 / 72.0 - np.log(72.0))),  # s = 1 and q = 12
    ],
)
def test_a_column_in_the_model_is_changed_within_what_rounding_leaves(S: float, precision: float, gain: float) -> None:
    L = np.diag([4.0 / np.sqrt(4.0 - S), 1e200])
    mode = Mode(np.zeros(2), L, np.array([-2.0]), np.ones(1), 0.0)
    gains, best = gains_of_changes(np.array([[2.0]]), np.array([0]), np.ones(1), np.ones(1), mode)
    assert best[0] == pytest.approx(precision, rel=1e-3)
    assert gains[0] == pytest.approx(gain, rel=1e-3)
