"""Rows as a device reads them: what float32 cannot hold is named by its row and feature."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.errors import DataError
from sparsegen.lowering.program import as_float32


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1e39, "row 2, feature 3 holds a value beyond float32, which devices take; rescale it"),
        (-1e39, "row 2, feature 3 holds a value beyond float32"),
        (np.nan, "row 2, feature 3 is not a finite number; devices need one"),
        (np.inf, "row 2, feature 3 is not a finite number"),
    ],
)
def test_a_value_that_float32_cannot_hold_is_named(value, sentence):
    with pytest.raises(DataError, match=sentence):
        as_float32(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, value], [7.0, 8.0, value]]))


def test_other_values_are_rounded():
    rows = as_float32(np.array([[0.1, 3.4e38], [-1e-50, 16777217.0]]))
    assert rows.dtype == np.float32
    assert rows.tolist() == [[np.float32(0.1), np.float32(3.4e38)], [0.0, 16777216.0]]
