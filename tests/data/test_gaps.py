"""Tables as they come: gaps, decimal commas, an index of pandas, gzip."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparsegen import data
from sparsegen.data import compressed
from sparsegen.errors import DataError, GapWarning, OptionError

GAPPY = "a,b,label\n1,2,x\n,4,y\n5,NaN,x\n7,8,\n9,10,y\n"


def written(folder: Path, text: str, name: str = "toy.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


# ---- Gaps ------------------------------------------------------------------------------------------------------------


def test_rows_with_gaps_are_dropped_and_counted(tmp_path: Path) -> None:
    rows = data.read(written(tmp_path, GAPPY), missing="drop")
    assert rows.X.tolist() == [[1, 2], [9, 10]]
    assert rows.y.tolist() == ["x", "y"]
    assert rows.notes == (
        "1 row of toy.csv without a label was dropped",
        "2 rows of 4 of toy.csv dropped for 2 cells without a number in 2 rows, columns 'a', 'b', the first in row 3, "
        "column 'a' of toy.csv",
    )


def test_gaps_are_filled_with_the_mean_of_the_column(tmp_path: Path) -> None:
    rows = data.read(written(tmp_path, GAPPY.replace("8,\n", "8,x\n")), missing="mean")
    assert rows.X.tolist() == [[1, 2], [5.5, 4], [5, 6], [7, 8], [9, 10]]
    assert rows.fill is not None
    assert rows.fill.tolist() == [5.5, 6.0]
    assert rows.notes[0].startswith(
        "2 cells without a number in 2 rows, columns 'a', 'b', the first in row 3, column 'a'"
    )
    with pytest.raises(DataError, match="the label in row 5"):
        data.read(written(tmp_path, GAPPY), missing="mean")


@pytest.mark.parametrize("gap", ["", " ", "NA", "nan", "NULL", "None", "?", "-", "#N/A", "inf", "-inf", "1e999"])
def test_every_way_to_write_a_gap(tmp_path: Path, gap: str) -> None:
    path = written(tmp_path, f"a,b,label\n1,2,x\n{gap},4,y\n3,6,x\n")
    assert data.read(path, missing="mean").X[:, 0].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(DataError) as caught:
        data.read(path)
    assert "row 3, column 'a' of toy.csv is" in str(caught.value)
    assert caught.value.change == {"missing": "drop"}


def test_words_are_no_gaps(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,label\n1,2,x\nhot,4,y\n")
    for missing in ("error", "drop", "mean"):
        with pytest.raises(DataError, match="'hot', not a number"):
            data.read(path, missing=missing)


def test_the_means_are_those_of_the_training_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[rng.random(X.shape) < 0.2] = np.nan
    np.savez(tmp_path / "toy.npz", X=X, y=y, groups=np.arange(40) // 4)
    train, test = data.read_train_and_test(tmp_path / "toy.npz", missing="mean", seed=3)
    assert train.rows is not None and test.rows is not None and train.fill is not None
    means = np.nanmean(X[train.rows], axis=0)
    np.testing.assert_allclose(train.fill, means, rtol=1e-12)
    for part in (train, test):
        there = np.isfinite(X[part.rows])
        assert np.array_equal(part.X[there], X[part.rows][there])
        np.testing.assert_allclose(part.X[~there], np.broadcast_to(means, part.X.shape)[~there], rtol=1e-12)
    assert "filled with the mean of the training rows" in train.notes[0]
    again, _ = data.read_train_and_test(tmp_path / "toy.npz", missing="mean", seed=4)
    assert again.fill is not None
    assert not np.array_equal(again.fill, train.fill)
    assert len(data.read(tmp_path / "toy.npz", missing="drop").X) == np.isfinite(X).all(axis=1).sum()


def test_a_test_file_is_filled_with_the_means_of_the_training_file(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,label\n1,2,x\n3,4,y\n")
    other = written(tmp_path, "b,a,label\n8,,x\n?,7,y\n", "test.csv")
    train, test = data.read_train_and_test(path, test_path=other, missing="mean")
    assert test.X.tolist() == [[2.0, 8.0], [7.0, 3.0]]
    assert test.feature_names == ("a", "b")
    assert train.fill is not None
    assert "of test.csv" in train.notes[0]
    _, test = data.read_train_and_test(
        path, test_path=written(tmp_path, "a,b,label\n,1,x\n1,2,y\n", "t.csv"), missing="drop"
    )
    assert test.X.tolist() == [[1.0, 2.0]]


def test_a_model_that_knows_the_means_fills_gaps(tmp_path: Path) -> None:
    path = written(tmp_path, "b,note,a\n2,hi,\nnan,ho,1\n")
    with pytest.warns(GapWarning, match=r"2 cells without a number in 2 rows, columns 'a', 'b', the first in row 2"):
        assert data.read_features(path, ("a", "b"), fill=[5.0, 6.0])[0].tolist() == [[5.0, 2.0], [1.0, 6.0]]
    with pytest.raises(DataError, match="row 2, column 'a'") as caught:
        data.read_features(path, ("a", "b"))
    assert caught.value.change == {}  # nothing is dropped where every row is to be labelled


def test_a_model_to_which_a_nan_counts_as_something_gets_it(tmp_path: Path) -> None:
    path = written(tmp_path, "b,note,a\n2,hi,\ninf,ho,1\n")
    X, _ = data.read_features(path, ("a", "b"), keeps_gaps=True)
    np.testing.assert_array_equal(X, [[np.nan, 2.0], [1.0, np.nan]])
    with pytest.raises(DataError, match="'up', not a number"):
        data.read_features(written(tmp_path, "b,a\n2,up\n"), ("a", "b"), keeps_gaps=True)


def test_gaps_that_cannot_be_mended(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,label\n1,,x\n2,,y\n")
    with pytest.raises(DataError, match=r"every row of toy\.csv has a cell without a number"):
        data.read(path, missing="drop")
    with pytest.raises(DataError, match=r"column 'b' has no number in any training row of toy\.csv"):
        data.read(path, missing="mean")
    with pytest.raises(OptionError, match=r"no way 'means' with missing values \(did you mean 'mean'\?\)"):
        data.read(path, missing="means")
    with pytest.raises(DataError, match="every label"):
        data.read(written(tmp_path, "a,b,label\n1,2,\n2,3,\n"), missing="drop")


def test_means_of_huge_values_are_finite(tmp_path: Path) -> None:
    rows = data.read(written(tmp_path, "a,b,label\n1.7e308,0,x\n1.7e308,0,y\n,,x\n"), missing="mean")
    np.testing.assert_allclose(rows.X[2], [1.7e308, 0.0])


def test_all_bad_values_of_arrays_are_counted() -> None:
    with pytest.raises(DataError, match=r"\(row 1, feature 'x1'\) is nan \(one of 3 such values in 2 rows\)"):
        data.from_arrays([[1, np.nan], [np.inf, np.nan]], [0, 1])


# ---- Decimal commas --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_are_read(tmp_path: Path, separator: str) -> None:
    text = "a;b;label\n1;-2;1,5\n1,5;,25;x\n+3,;4,5e-1;x\n;2;x\n".replace(";", separator)
    rows = data.read(written(tmp_path, text), missing="mean")
    assert rows.X[:3].tolist() == [[1.0, -2.0], [1.5, 0.25], [3.0, 0.45]]
    assert rows.y.tolist() == ["1,5", "x", "x", "x"]  # labels stay as they are written


@pytest.mark.parametrize("header", ["a;b;label", "a, in g;b, in g;label", "1,5;2,5;label"])
def test_separator_and_decimal_comma_are_told_apart(tmp_path: Path, header: str) -> None:
    rows = data.read(written(tmp_path, f"{header}\n1,25;2,5;x\n3,5;4;y\n"))
    assert rows.X.tolist() == [[1.25, 2.5], [3.5, 4.0]]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_decimal_commas_round_trip(tmp_path: Path, values: list[float]) -> None:
    text = "a;b;label\n" + "".join(f"{value!r};0;x\n" for value in values).replace(".", ",")
    assert data.read(written(tmp_path, text)).X[:, 0].tobytes() == np.array(values).tobytes()


# ---- An index that pandas wrote --------------------------------------------------------------------------------------


def test_an_index_of_pandas_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, ",a,b,label\n0,1,2,x\n1,3,4,y\n")
    rows = data.read(path)
    assert (rows.feature_names, rows.X.tolist()) == (("a", "b"), [[1, 2], [3, 4]])
    assert rows.notes == (
        "the first column of toy.csv has no name, so it was taken for the index that pandas writes, and left out",
    )
    assert data.read(path, "label", keep=("b", "a")).feature_names == ("b", "a")
    for names in (("a", "b"), ("x0", "x1"), None):
        X, y = data.read_features(path, names, n_features=2)
        assert X.tolist() == [[1, 2], [3, 4]]
        assert y is not None
        assert y.tolist() == ["x", "y"]


def test_columns_named_by_numbers_beside_an_index(tmp_path: Path) -> None:
    assert data.read(written(tmp_path, ",0,1,2\nr1,5,6,7\n")).feature_names == ("0", "1")


# ---- gzip ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["toy.csv.gz", "TOY.CSV.GZ"])
def test_gzip_is_unpacked(tmp_path: Path, name: str) -> None:
    text = "a,b,label\n1,2,x\n3,4,y\n"
    (tmp_path / name).write_bytes(gzip.compress(text[:10].encode()) + gzip.compress(text[10:].encode()))
    rows = data.read(tmp_path / name)
    assert (rows.X.tolist(), rows.source) == ([[1, 2], [3, 4]], name)
    assert rows.sha256 == data.read(written(tmp_path, text)).sha256


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"a,b\n1,2\n", "no gzip file"),
        (gzip.compress(b"a,b,label\n" + b"1,2,x\n" * 500)[:-9], "cut short"),
        (gzip.compress(b""), "is empty"),
        (gzip.compress(b"a,b\n\x00,1\n"), "NUL"),
    ],
    ids=["no gzip", "cut short", "empty", "NUL"],  # bytes in a name would hold the time of packing
)
def test_gzip_that_cannot_be_used(tmp_path: Path, raw: bytes, told: str) -> None:
    (tmp_path / "toy.csv.gz").write_bytes(raw)
    with pytest.raises(DataError, match=told):
        data.read(tmp_path / "toy.csv.gz")


def test_the_suffix_before_gz_decides(tmp_path: Path) -> None:
    (tmp_path / "toy.svm.gz").write_bytes(gzip.compress(b"1 1:2\n0 1:3\n"))
    assert data.read(tmp_path / "toy.svm.gz").X.tolist() == [[2.0], [3.0]]
    (tmp_path / "toy.gz").write_bytes(gzip.compress(b"1 1:2\n"))
    with pytest.raises(DataError, match="unknown suffix"):
        data.read(tmp_path / "toy.gz")


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(bytes(30 << 20)))
    monkeypatch.setattr(compressed, "MAX_BYTES", 10 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"bomb\.csv\.gz unpacks to more than"):
            data.read(tmp_path / "bomb.csv.gz")
        assert tracemalloc.get_traced_memory()[1] < 25 << 20
    finally:
        tracemalloc.stop()


def test_what_gzip_can_hardly_shrink_so_much_is_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred kilobytes that hold one row of 30 million cells took gigabytes before anyone counted the cells."""
    monkeypatch.setattr(compressed, "ALWAYS_ALLOWED", 1 << 20)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b,label\n" + b"0," * (2 << 20)))
    with pytest.raises(DataError, match=r"bomb\.csv\.gz unpacks to more than 250 times its size"):
        data.read(tmp_path / "bomb.csv.gz")


@pytest.mark.parametrize("head", [b"a,b,label\n", b""])
def test_a_line_of_any_length_is_not_taken_apart(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "wide.csv").write_bytes(head + b"0," * (8 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"line \d of wide\.csv has more than 6,400,000 characters"):
            data.read(tmp_path / "wide.csv")
        assert tracemalloc.get_traced_memory()[1] < 60 << 20
    finally:
        tracemalloc.stop()


def test_gzip_that_outgrows_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "big.csv.gz").write_bytes(gzip.compress(bytes(4 << 20)))
    monkeypatch.setattr("sparsegen.data.memory.free_memory", lambda: 1 << 20)
    monkeypatch.setattr(compressed, "CHECKED", 1 << 20)
    with pytest.raises(DataError, match=r"big\.csv\.gz takes \d MiB of memory, but 1 MiB are free"):
        data.read(tmp_path / "big.csv.gz")
