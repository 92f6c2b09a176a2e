"""Problem: the rows that a search compares candidates on have every class of the training rows."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen import data
from sparsegen.search.candidate import SEARCH
from sparsegen.search.problem import HELD_OUT_SHARE, Problem


@pytest.mark.parametrize("in_groups", [False, True])
def test_a_sample_of_many_rows_keeps_rare_classes(in_groups):
    n = 4 * (SEARCH.rows or 0)
    labels = np.where(np.arange(n) % 2, "a", "b").astype("U4")
    labels[5:n:30_000] = "rare"
    groups = np.arange(n) // 100 if in_groups else None
    rows = data.from_arrays(np.arange(2.0 * n).reshape(n, 2), labels, ("p", "q"), groups=groups)
    for seed in range(3):
        problem = Problem.of(rows, "accuracy", seed)
        assert problem.n_outputs == 3
        assert len(problem.y) <= 4 + (SEARCH.rows or 0) * HELD_OUT_SHARE // (HELD_OUT_SHARE - 1)
        assert len(np.unique(problem.X[:, 0])) == len(problem.X)
        assert np.count_nonzero(problem.y == "rare") >= 2
