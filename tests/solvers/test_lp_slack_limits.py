"""Where the descent gives up, and what shortening may cost: the shares that the module names."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sparsegen.solvers import lp_slack
from sparsegen.solvers.lp_slack import LpSlack, momentum, shorten

Array = NDArray[np.float64]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("smallest", "halvings"), [(None, 40), (2.0**-40, 41), (2.0**-20, 21)])
def test_a_rate_below_a_share_of_the_first_ends_it(
    smallest: float | None, halvings: int, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pull that points uphill: no step descends, whatever the rate, and 2 to the power of -40 is below 1e-12."""
    if smallest is not None:
        monkeypatch.setattr(lp_slack, "SMALLEST_STEP", smallest)
    uphill = LpSlack.smooth_pull
    monkeypatch.setattr(LpSlack, "smooth_pull", lambda loss, margins: -uphill(loss, margins))
    monkeypatch.setattr(lp_slack, "WINDOW", 1000)
    X, y = size * np.array([[1.0], [-1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    found = momentum(X, y, LpSlack(1.0, 1.0, 20.0), is_gram=False, epsilon=0.9, eta=None, max_iter=500, tol=0.0)
    assert found.converged
    assert len(found.objectives) == halvings
    assert not found.a.any()


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_rows_that_pull_with_a_thousandth_of_the_largest_pull_stay(C: float) -> None:
    """Rows at right angles; beside 400 inside the margin, the coefficient that goes is next to nothing."""
    loss = LpSlack(C, 1.0, 20.0)
    shares = np.append(np.full(400, 0.99), [0.5, 1.4e-3, 0.7e-3])
    a = 1.0 - np.log(shares / (1.0 - shares)) / 20.0
    assert np.allclose(loss.smooth_pull(a), C * shares)
    short = shorten(np.eye(403), np.ones(403), a, 0.0, loss)
    assert short == pytest.approx([*a[:-1], 0.0])


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(("share", "used"), [(1.4e-4, 2), (0.7e-4, 1)])
def test_a_row_with_less_than_a_ten_thousandth_of_its_own_is_a_combination_of_others(
    share: float, used: int, size: float
) -> None:
    cosine = np.sqrt(1.0 - share)
    K = size * np.array([[1.0, cosine], [cosine, 1.0]])
    a = np.array([0.1, 0.1]) / size
    short = shorten(K, np.ones(2), a, 0.0, LpSlack(1.0, 1.0, 20.0))
    assert np.count_nonzero(short) == used
    assert K @ short == pytest.approx(K @ a, rel=1e-3)


@pytest.mark.parametrize("bias", [-0.1, 0.0, 0.3])
@pytest.mark.parametrize(("rise", "shortened"), [(0.007, True), (0.015, False)])
def test_shortening_may_raise_the_objective_by_a_hundredth(rise: float, shortened: bool, bias: float) -> None:
    """Rows at right angles: without its coefficient, the last is inside the margin and no longer outside."""
    loss = LpSlack(1.0, 1.0, 100.0)

    def objective(a: Array) -> float:
        return 0.5 * 4.0 * float(a @ a) + loss.smooth_value(4.0 * a + bias)

    inside, last = (0.5 - bias) / 4.0, (1.3 - bias) / 4.0
    raised = objective(np.zeros(1)) - objective(np.array([last]))
    many = round(raised / rise / objective(np.array([inside])))
    a = np.append(np.full(many, inside), last)
    without = np.append(a[:-1], 0.0)
    assert objective(without) / objective(a) - 1.0 == pytest.approx(rise, rel=0.15)
    short = shorten(4.0 * np.eye(many + 1), np.ones(many + 1), a, bias, loss)
    assert short == pytest.approx(without if shortened else a)


def test_the_bluntest_loss_judges_the_projection_onto_all_rows() -> None:
    """Without the first row, outside every margin, the machine is lost; the third is nearly the second, and may go.

    It then has slack 6e-4. That raises the sharp objective by over a hundredth, and the blunt one by far less.
    """
    sharp, blunt = LpSlack(1.0, 0.5, 2e4), LpSlack(1.0, 0.5, 20.0)
    cosine = np.sqrt(1.0 - 1.2e-3)
    K = np.array([[16.0, 0.0, 0.0], [0.0, 1.0, cosine], [0.0, cosine, 1.0]])
    a = np.linalg.solve(K, [2.0, 1.0, 1.001])
    short = shorten(K, np.ones(3), a, 0.0, sharp, blunt)
    assert K @ short == pytest.approx([2.0, 1.0, cosine])
    assert short[2] == 0.0
    assert shorten(K, np.ones(3), a, 0.0, blunt, sharp) == pytest.approx(a)
