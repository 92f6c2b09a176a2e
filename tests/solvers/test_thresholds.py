"""The shares and bounds that the modules name: what lies just inside them is kept, what lies just outside is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sparsegen.solvers.cholesky import IncrementalCholesky
from sparsegen.solvers.factor import cholesky_with_ridge
from sparsegen.solvers.greedy import GrowingMachine, independent, update_factor
from sparsegen.solvers.simplex import descend

Array = NDArray[np.float64]


def nearly_equal(share: float, size: float = 1.0) -> Array:
    """Inner products of two functions of equal length, the second of which has this share of its own."""
    cosine = np.sqrt(1.0 - share)
    return size * np.array([[1.0, cosine], [cosine, 1.0]])


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("share", "kept"), [(1.5e-12, [0, 1]), (0.7e-12, [0])])
def test_a_residual_below_a_billionth_of_a_thousandth_is_rounding(share: float, kept: list[int], size: float) -> None:
    H = nearly_equal(share, size)
    found = IncrementalCholesky(H.diagonal(), 0.0, pivoted=False)
    while (row := found.next_row()) is not None:
        found.add(row, H[row])
    assert found.rows.tolist() == kept


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("share", "new"), [(1.5e-8, True), (0.7e-8, False)])
def test_a_function_with_less_than_a_hundred_millionth_of_its_own_is_a_copy(
    share: float, new: bool, size: float
) -> None:
    first, second = size * np.array([1.0, 0.0]), size * np.array([np.sqrt(1.0 - share), np.sqrt(share)])
    machine = GrowingMachine(np.ones(2), 1.0, intercept=False)
    assert machine.append(first, np.empty(0), 0.0)
    assert machine.append(second, np.zeros(1), 0.0) == new
    assert machine.d == 1 + new
    assert independent(nearly_equal(share, size**2)) == ([0, 1] if new else [0])


def test_independent_functions_are_named_in_their_own_order_whatever_their_size() -> None:
    assert independent(np.diag([0.25, 4.0, 0.5])) == [0, 1, 2]


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("left", "positive"), [(1.5e-12, True), (0.7e-12, False)])
def test_a_factor_is_not_updated_to_what_is_all_rounding(left: float, positive: bool, size: float) -> None:
    L = size * np.eye(2)
    assert update_factor(L, size * np.array([[0.0, np.sqrt(1.0 - left)]]), np.array([-1.0])) == positive


def test_the_ridge_is_a_share_of_the_largest_diagonal_entry() -> None:
    """[[4, 2 + e], [2 + e, 1]] needs a ridge of 0.8 e: of 4e-15, 4e-14, ... the first above."""
    H = np.array([[4.0, 2.0 + 2e-12], [2.0 + 2e-12, 1.0]])
    assert cholesky_with_ridge(H)[0, 0] ** 2 - 4.0 == pytest.approx(4e-12, rel=1e-2)


@pytest.mark.parametrize(("share", "moves"), [(1.5e-4, True), (0.7e-4, False), (-1.0, False)])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_step_on_the_simplex_keeps_a_ten_thousandth_of_its_promise(share: float, moves: bool, size: float) -> None:
    g = size * np.array([3.0, 1.0, 2.5])
    start = np.array([0.6, 0.1, 0.3])
    found = descend(lambda mu: (share * float(g @ (mu - start)) + size, g), start, 0.0, 2)
    assert np.allclose(found, start) != moves


def test_a_step_that_never_descends_is_halved_twenty_times() -> None:
    """Two to the power of -19 is the last above a millionth."""
    seen: list[Array] = []
    g = np.array([1.0, 2.0])

    def rising(mu: Array) -> tuple[float, Array]:
        seen.append(mu)
        return float(len(seen)), g

    found = descend(rising, np.full(2, 0.5), 0.0, 100)
    assert np.array_equal(found, [0.5, 0.5])
    np.testing.assert_allclose([mu[0] - 0.5 for mu in seen[1:]], 0.5 ** np.arange(1.0, 21.0), rtol=1e-6)
