from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from reference import cholesky as reference
from reference import kernels as reference_kernels

from sparsegen.solvers.cholesky import FIRST_COLUMNS, IncrementalCholesky

Array = NDArray[np.float64]


def chosen(H: Array, eta: float, *, pivoted: bool = False, bound: int | None = None) -> IncrementalCholesky:
    found = IncrementalCholesky(np.diag(H), eta, pivoted=pivoted)
    while len(found.rows) < (bound or len(H)) and (row := found.next_row()) is not None:
        found.add(row, H[:, row])
    return found


def gram(n: int = 60, gamma: float = 0.5) -> Array:
    X = np.random.default_rng(n).normal(size=(n, 2))
    return reference_kernels.gram("rbf", {"gamma": gamma}, X, X)


@pytest.mark.parametrize("eta", [0.5, 0.1, 1e-2, 1e-5])
@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_selection_is_the_papers(eta: float, gamma: float) -> None:
    H = gram(gamma=gamma)
    found, (rows, factor) = chosen(H, eta), reference.select(H, eta)
    assert found.rows.tolist() == rows
    assert np.allclose(found.factor[rows], factor, atol=1e-8)
    assert eta > 1e-4 or gamma < 1.0 or len(rows) > FIRST_COLUMNS  # the store has grown


@pytest.mark.parametrize("bound", [1, 7, 60])
def test_pivoted_selection_takes_the_farthest_row(bound: int) -> None:
    H = gram()
    assert chosen(H, 1e-3, pivoted=True, bound=bound).rows.tolist() == reference.select_pivoted(H, 1e-3, bound)


@pytest.mark.parametrize("pivoted", [False, True])
def test_factor_reproduces_the_gram_matrix_up_to_the_residual(pivoted: bool) -> None:
    H = gram()
    found = chosen(H, 0.05, pivoted=pivoted)
    rows, L = found.rows, found.factor
    assert np.allclose(L @ L[rows].T, H[:, rows], atol=1e-10)
    assert np.array_equal(L[rows], np.tril(L[rows]))
    left_out = np.setdiff1d(np.arange(len(H)), rows)
    assert found.residual.max() <= 0.05
    assert np.allclose(np.diag(H - L @ L.T)[left_out], found.residual[left_out], atol=1e-10)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rank_is_found_without_a_threshold(scale: float) -> None:
    """However small eta is, rounding errors are not taken for independence."""
    X = scale * np.random.default_rng(0).normal(size=(50, 4))
    for pivoted in (False, True):
        found = chosen(X @ X.T, 0.0, pivoted=pivoted)
        assert len(found.rows) == 4
        assert pivoted or found.rows.tolist() == [0, 1, 2, 3]


def test_equal_rows_are_one_row_and_zero_is_none() -> None:
    assert chosen(np.ones((8, 8)), 0.1).rows.tolist() == [0]
    assert len(chosen(np.zeros((8, 8)), 0.0).rows) == 0
    assert chosen(np.ones((8, 8)), 1.0).factor.shape == (8, 0)


def test_diagonal_is_left_as_it_was() -> None:
    H = gram(10)
    diagonal = np.diag(H)
    assert not diagonal.flags.writeable
    assert len(chosen(H, 0.1).rows) > 1
