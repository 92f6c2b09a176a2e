"""Parquet files, where pyarrow is there; a sentence where it is not."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data import memory
from sparsegen.errors import DataError

Y = ["x", "y", "x"]


def saved(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), path, **options)
    return path


def test_without_pyarrow_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match="needs the package pyarrow; install it, or save the rows as CSV or NPZ"):
        data.read(tmp_path / "toy.parquet")


def test_a_pyarrow_that_runs_code_of_files_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy.parquet").write_bytes(b"PAR1")
    old = types.SimpleNamespace(__version__="14.0.0")
    monkeypatch.setitem(sys.modules, "pyarrow", old)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", old)
    with pytest.raises(DataError, match=r"pyarrow 14\.0\.0 is not safe with files of strangers; install 14\.0\.1"):
        data.read(tmp_path / "toy.parquet")


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_columns_of_numbers_are_features(tmp_path: Path, compression: str) -> None:
    columns = {
        "a": np.array([1, 2, 3], dtype=np.uint8),
        "b.c": np.array([0.5, 1.5, 2.5], dtype=np.float32),
        "d": np.array([True, False, True]),
        "who": ["q", "p", "q"],
        "label": Y,
    }
    rows = data.read(saved(tmp_path / "toy.parquet", columns, compression=compression), group="who")
    assert rows.X.tolist() == [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]]
    assert rows.feature_names == ("a", "b.c", "d")
    assert rows.y.tolist() == Y
    assert rows.groups is not None
    assert rows.groups.tolist() == [0, 1, 0]
    rows = data.read(tmp_path / "toy.parquet", drop=("who", "d"))
    assert rows.feature_names == ("a", "b.c")
    X, y = data.read_features(tmp_path / "toy.parquet", ("d", "a"))
    assert X.tolist() == [[1, 1], [0, 2], [1, 3]]
    assert y is not None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        ([b"x", b"y", b"x"], Y),
        (np.array([3, 4, 3], dtype=np.int16), [3, 4, 3]),
        (np.array([1.0, 2.0, 1.0]), [1, 2, 1]),
        (np.array([0.5, 2.0, 0.5]), ["0.5", "2.0", "0.5"]),
        (np.array([True, False, True]), [1, 0, 1]),
    ],
)
def test_labels_of_every_kind(tmp_path: Path, labels: Any, expected: list[Any]) -> None:
    rows = data.read(saved(tmp_path / "toy.parquet", {"a": [1, 2, 3], "label": labels}, row_group_size=2))
    assert rows.y.tolist() == expected


def test_a_frame_of_pandas_comes_back(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2, 3], "label": pd.Categorical(Y)}, index=[5, 7, 9])
    frame.to_parquet(tmp_path / "toy.parquet")
    rows = data.read(tmp_path / "toy.parquet")
    assert (rows.feature_names, rows.y.tolist()) == (("a",), Y)
    assert rows.notes == ("the index that pandas wrote into toy.parquet was left out",)
    assert data.read_features(tmp_path / "toy.parquet", None, n_features=1)[1] is not None


def test_gaps_of_parquet(tmp_path: Path) -> None:
    path = saved(tmp_path / "toy.parquet", {"a": [1, None, 3, 5], "b": [1.0, 2.0, 4.0, np.nan], "label": [*Y, None]})
    with pytest.raises(DataError, match=r"X\[1, 0\] of toy\.parquet \(row 2, feature 'a'\) is nan|the label in row 4"):
        data.read(path)
    rows = data.read(path, missing="drop")
    assert (rows.X.tolist(), rows.y.tolist()) == ([[1, 1], [3, 4]], ["x", "x"])
    assert rows.notes[0] == "1 row of toy.parquet without a label was dropped"
    path = saved(tmp_path / "toy.parquet", {"a": [1, None, 3], "label": Y})
    assert data.read(path, missing="mean").X.tolist() == [[1], [2], [3]]
    nothing = saved(tmp_path / "none.parquet", {"a": [1], "label": np.array([None], dtype=object)})
    with pytest.raises(DataError):
        data.read(nothing)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (
            {"a": [1, 2, 3], "note": ["p", "q", "r"], "label": Y},
            "column 'note' of toy.parquet holds string, not numbers",
        ),
        ({"a": [[1], [2], [3]], "label": Y}, "column 'a' of toy.parquet holds list<"),
        ({"label": Y}, "no column left to be a feature"),
        ({"a": [1, 2, 3], "label": [b"x", b"\xff", b"x"]}, "a label of toy.parquet is not UTF-8 text"),
        ({"a": [1, 2, 3], "label": ["x", "y\x1b", "x"]}, "control or invisible"),
        ({"a\x1b": [1, 2, 3], "label": Y}, "control or invisible"),
        ({"a": [1, 2, 3], "label": ["x", None, "y"]}, "the label in row 2 of toy.parquet is empty"),
    ],
)
def test_parquet_that_cannot_be_used(tmp_path: Path, columns: dict[str, Any], told: str) -> None:
    path = saved(tmp_path / "toy.parquet", columns)
    with pytest.raises(DataError, match=told):
        data.read(path)


def test_more_rows_than_the_memory_holds_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "toy.parquet", {"a": np.zeros(200_000), "label": ["x"] * 200_000})
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 20)
    with pytest.raises(DataError, match=r"toy\.parquet takes \d MiB of memory, but 1 MiB are free"):
        data.read(path)


def test_labels_as_wide_as_the_longest_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "toy.parquet", {"a": np.zeros(100_000, dtype=bool), "label": ["x" * 200] * 100_000})
    assert path.stat().st_size < 20_000
    with pytest.raises(DataError, match=r"the label column of toy\.parquet unpacks to more than 250 times its size"):
        data.read(path)


def test_damaged_parquet_gives_a_dataset_or_a_sentence(tmp_path: Path) -> None:
    whole = saved(tmp_path / "toy.parquet", {"a": [1.0, 2.0, 3.0], "label": Y}).read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged.parquet"
    for place, byte in zip(rng.integers(0, len(whole), 150), rng.integers(0, 256, 150), strict=True):
        path.write_bytes(whole[:place] + bytes([int(byte)]) + whole[place + 1 :])
        try:
            rows = data.read(path)
        except DataError as error:
            assert str(error).isprintable()
        else:
            assert np.isfinite(rows.X).all()
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(DataError):
            data.read(path)
