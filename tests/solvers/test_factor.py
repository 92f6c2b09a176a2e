"""The factor of a matrix that rounding took too much from: with the first ridge that is enough."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.solvers.factor import cholesky_with_ridge


def test_a_positive_matrix_gets_no_ridge() -> None:
    A = np.random.default_rng(0).normal(size=(6, 6))
    H = A @ A.T + np.eye(6)
    L = cholesky_with_ridge(np.tril(H))  # the upper triangle is not read
    np.testing.assert_allclose(L, np.linalg.cholesky(H), rtol=1e-12)
    assert np.array_equal(L, np.tril(L))


@pytest.mark.parametrize("size", [1.0, 1e6, 1e-200])
@pytest.mark.parametrize(("excess", "expected"), [(0.0, 1e-15), (4e-15, 1e-14), (3e-12, 1e-11)])
def test_the_ridge_is_the_first_power_of_ten_that_is_enough(size: float, excess: float, expected: float) -> None:
    """[[1, 1 + e], [1 + e, 1]] has the eigenvalue -e: a ridge above e makes it positive."""
    H = size * np.array([[1.0, 1.0 + excess], [1.0 + excess, 1.0]])
    L = cholesky_with_ridge(H)
    ridge = L[0, 0] ** 2 / size - 1.0
    assert ridge == pytest.approx(expected, abs=5e-16)
    np.testing.assert_allclose(L @ L.T, H, rtol=2.0 * expected + 1e-14)


def test_a_matrix_of_zeros_has_a_factor_too() -> None:
    L = cholesky_with_ridge(np.zeros((3, 3)))
    assert np.isfinite(L).all()
    assert (L.diagonal() > 0.0).all()
    assert L.max() == pytest.approx(1e-150, abs=0.0), "next to nothing"
