"""Rows that stand in for data: where they are."""

from __future__ import annotations

import numpy as np
import pytest
from random_models import make_case

from sparsegen.lowering.locate_data import STAND_INS, data_like, raw_inputs, stand_in_rows, thinned


@pytest.mark.parametrize(("n", "most", "expected"), [
    (5, 5, [0, 1, 2, 3, 4]), (5, 9, [0, 1, 2, 3, 4]), (5, 3, [0, 2, 4]), (100, 2, [0, 99]), (10, 1, [0]),
])  # fmt: skip
def test_thinned_rows_are_evenly_spaced_from_the_first_to_the_last(n, most, expected):
    assert thinned(np.arange(n)[:, None], most)[:, 0].tolist() == expected


def test_data_like_rows_are_vectors_points_between_them_and_points_beside_them():
    model = make_case(2, ("rbf",), m=4, d=3, offset=5.0, scale="each").model
    Z, T = model.vectors, model.transform
    rows = T(data_like(model))
    assert rows.shape == (12, 3)
    assert np.allclose(rows[:4], Z)
    assert np.allclose(rows[4:8], [(Z[u] + Z[u - 1]) / 2 for u in range(4)])
    beside = rows[8:] - Z
    assert np.allclose(np.abs(beside), 1.0), "one unit of the scaler away"
    assert np.allclose(beside, [[(-1) ** (u + j) for j in range(3)] for u in range(4)])


def test_stand_ins_lie_within_the_box_around_the_lines_between_vectors():
    model = make_case(3, ("rbf",), m=2, d=2, offset=3.0, scale="common").model
    everywhere = np.full(2, np.inf)
    rows = stand_in_rows(model, -everywhere, everywhere)
    assert np.array_equal(rows, stand_in_rows(model, -everywhere, everywhere))
    assert np.array_equal(rows[:6], data_like(model))
    T, Z = model.transform, model.vectors
    noisy = T(rows[6:])
    assert len(noisy) == STAND_INS
    along = Z[1] - Z[0]
    along = along / np.linalg.norm(along)
    across = (noisy - Z[0]) @ np.array([-along[1], along[0]])
    assert across.std() == pytest.approx(0.3, rel=0.05)
    assert abs(across.mean()) < 0.02
    share = (noisy - Z[0]) @ along / np.linalg.norm(Z[1] - Z[0])
    assert share.mean() == pytest.approx(0.5, abs=0.03)
    raw = raw_inputs(model)
    low, high = raw.min(axis=0), raw.max(axis=0)
    clipped = stand_in_rows(model, low, high)
    assert np.array_equal(clipped, np.clip(rows, low, high))
