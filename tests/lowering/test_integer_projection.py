"""A projection from one grid to another: rounded down, and cut off at both ends."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.lowering.integer_program import IntegerProjection

Q = np.array([[0, 0], [1, 0], [0, 1], [5, 1], [9, 9], [20, 0]])


@pytest.mark.parametrize("shift", [0, 1, 3])
def test_indices_are_sums_shifted_and_cut_off(shift):
    made = IntegerProjection(np.array([[3, -2], [-1, 4]]), np.array([-1, 2]), shift, 6)
    sums = [[3 * a - 2 * b - 1, -a + 4 * b + 2] for a, b in Q.tolist()]
    assert made(Q).tolist() == [[min(max(t, 0) // 2**shift, 6) for t in row] for row in sums]
    inside = [all(0 <= t < 7 * 2**shift for t in row) for row in sums]
    assert made.stays_on_grid(Q).tolist() == inside
    assert any(inside) != all(inside)
