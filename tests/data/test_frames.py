"""Data frames and sparse matrices, as Python programs hold their rows."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data import memory
from sparsegen.errors import DataError


def test_columns_of_a_frame_name_the_features() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "a": [1, 2, 3],
            "b": pd.array([4, 5, 6], dtype="Int64"),
            "c": [True, False, True],
            3: np.array([0.5, 1.5, 2.5], dtype=np.float32),
        }
    )
    y, groups = pd.Series(["x", "y", "x"]), pd.Series(["q", "p", "q"], dtype="category")
    rows = data.from_arrays(frame, y, groups=groups.astype(str))
    assert rows.feature_names == ("a", "b", "c", "3")
    assert rows.X.tolist() == [[1, 4, 1, 0.5], [2, 5, 0, 1.5], [3, 6, 1, 2.5]]
    assert rows.y.tolist() == ["x", "y", "x"]
    assert rows.groups is not None
    assert rows.groups.tolist() == [0, 1, 0]
    assert data.from_arrays(frame, y, ["p", "q", "r", "s"]).feature_names == ("p", "q", "r", "s")
    assert frame.loc[0, "a"] == 1


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (
            {"note": ["hi", "ho"]},
            r"column 'note' of arrays holds \w+, not real numbers; encode it as numbers, or drop it",
        ),
        ({"mix": np.array([1, "a"], dtype=object)}, "column 'mix' of arrays holds object"),
        ({"when": np.array(["2026-01-01", "2026-01-02"], dtype="M8[ns]")}, r"column 'when' of arrays holds datetime64"),
        ({"gap": [1.0, np.nan]}, r"X\[1, 1\] of arrays \(row 2, feature 'gap'\) is nan"),
        ({"a\x1b": [1, 2]}, "control"),
        ({" ": [1, 2]}, "is empty"),
    ],
)
def test_a_frame_that_cannot_be_used(columns: dict[str, Any], told: str) -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(DataError, match=told):
        data.from_arrays(pd.DataFrame({"ok": [1, 2], **columns}), [0, 1])


def test_missing_values_of_pandas_are_missing() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="feature 'a'\\) is nan"):
        data.from_arrays(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), [0, 1])
    twice = pd.DataFrame(np.eye(2), columns=["a", "a"])
    with pytest.raises(DataError, match="two columns called 'a'"):
        data.from_arrays(twice, [0, 1])


def test_a_frame_is_copied_once() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20_000, 50)).astype(np.float32))
    tracemalloc.start()
    try:
        data.from_arrays(frame, np.arange(20_000) % 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * 8 * 20_000 * 50


def test_a_sparse_matrix_is_made_dense_where_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0.0, 2.0], [0.0, 0.0], [3.0, 0.0]])
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert data.from_arrays(kind(dense), [0, 1, 0]).X.tolist() == dense.tolist()
    with pytest.raises(DataError, match="too large for a small model"):
        data.from_arrays(sparse.csr_array((10**6, 10**5)), [0])
    with pytest.raises(DataError, match="holds complex128, not real numbers"):
        data.from_arrays(sparse.csr_array(dense * 1j), [0, 1, 0])
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 20)
    with pytest.raises(DataError, match="X of arrays, which is stored sparse and made dense, takes 15 MiB"):
        data.from_arrays(sparse.csr_array((1000, 1000)), [0])
