"""Files that are streamed: the same rows, labels, names and hash as when they are read as a whole, block by block."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data import streams
from sparsegen.data.streams import STREAMS, Wish, open_stream, stream_if_large
from sparsegen.data.streams.draw import draw
from sparsegen.data.streams.scan import scan
from sparsegen.errors import DataError, OptionError

parquet = pytest.importorskip("pyarrow.parquet")
pyarrow = pytest.importorskip("pyarrow")

N = 100
NAMES = ["u", "v", "w"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK_BYTES", 8 * 3 * 7)  # seven rows


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    return rng.standard_normal((N, 3)), rng.randint(3, size=N)


def write_parquet(path: Path, X: np.ndarray, y: Any, group: int = 30, names: list[str] = NAMES) -> Path:
    table = pyarrow.table({**{name: X[:, j] for j, name in enumerate(names)}, "label": y})
    parquet.write_table(table, path, row_group_size=group)
    return path


def write_npy(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Path, Wish]:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return folder / "X.npy", Wish(labels=folder / "y.npy")


TEXTS = np.array(["idle", "run", 'say "hi", ü'])


@pytest.mark.parametrize("texts", [False, True])
def test_a_folder_of_parquet_files_is_one_table(
    texts: bool, rows: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, codes = rows
    y = TEXTS[codes] if texts else codes
    folder = tmp_path / "rows"
    folder.mkdir()
    write_parquet(folder / "b.pq", X[60:], y[60:])
    write_parquet(folder / "a.parquet", X[:60], y[:60])
    (folder / "notes.txt").write_text("not data")
    stream = open_stream(folder, Wish("label"))
    assert (stream.n_rows, stream.feature_names, stream.source) == (N, tuple(NAMES), "rows")
    for _ in range(2):  # as many passes as are needed
        blocks = list(stream.blocks())
        assert max(len(rows) for _, rows, _ in blocks) <= 7
        np.testing.assert_array_equal(np.concatenate([rows for _, rows, _ in blocks]), X)
        np.testing.assert_array_equal(np.concatenate([labels for _, _, labels in blocks]), y)
        assert [first for first, _, _ in blocks] == np.cumsum([0, *(len(rows) for _, rows, _ in blocks[:-1])]).tolist()


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_the_hash_is_that_of_the_rows_in_memory(
    kind: str, texts: bool, rows: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, codes = rows
    y = TEXTS[codes] if texts else codes
    if kind == "npy":
        stream = open_stream(*write_npy(tmp_path, X, y))
        expected = data.from_arrays(X, y)
    else:
        stream = open_stream(write_parquet(tmp_path / "a.parquet", X, y), Wish())
        expected = data.read(tmp_path / "a.parquet")
    drawn = draw(stream, test_rows=10, sample_rows=20, seed=0)
    found = scan(stream, drawn)
    assert found.sha256 == expected.sha256
    assert found.test is not None
    train = np.delete(X, drawn.test, axis=0)
    np.testing.assert_array_equal(found.low, train.min(axis=0))
    np.testing.assert_array_equal(found.high, train.max(axis=0))
    np.testing.assert_array_equal(found.test.X, X[drawn.test])
    np.testing.assert_array_equal(found.test.y, y[drawn.test])
    np.testing.assert_array_equal(found.sample.X, X[drawn.sample])


def test_columns_are_kept_and_dropped(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X, y = rows
    path = write_parquet(tmp_path / "a.parquet", X, y)
    kept = open_stream(path, Wish("label", keep=("w", "u")))
    np.testing.assert_array_equal(np.concatenate(list(kept.row_blocks())), X[:, [2, 0]])
    assert open_stream(path, Wish("label", drop=("v",))).feature_names == ("u", "w")
    npy, wish = write_npy(tmp_path, X, y)
    dropped = open_stream(npy, wish._replace(drop=("x1",)))
    np.testing.assert_array_equal(np.concatenate(list(dropped.row_blocks())), X[:, [0, 2]])
    assert dropped.feature_names == ("x0", "x2")
    with pytest.raises(OptionError, match="both to keep and to drop"):
        open_stream(path, Wish("label", keep=("u",), drop=("v",)))


def test_what_is_small_is_read_as_a_whole(
    rows: tuple[np.ndarray, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_parquet(tmp_path / "a.parquet", *rows)
    assert stream_if_large(path, Wish()) is None
    assert stream_if_large(path, Wish(), always=True) is not None
    assert stream_if_large(tmp_path, Wish()) is not None  # a folder has no reader
    assert stream_if_large(*write_npy(tmp_path, *rows)) is not None
    assert stream_if_large(tmp_path / "rows.csv", Wish()) is None
    monkeypatch.setattr(streams, "LARGE_BYTES", 8 * 3 * N - 1)
    assert stream_if_large(path, Wish()) is not None


# ---- Bad input -------------------------------------------------------------------------------------------------------


def broken(path: Path, X: np.ndarray, y: np.ndarray, change: Callable[[bytes], bytes]) -> Path:
    raw = write_parquet(path, X, y).read_bytes()
    path.write_bytes(change(raw))
    return path


BROKEN = {
    "cut short": lambda raw: raw[: len(raw) // 2],
    "no Parquet": lambda raw: b"PAR1" + raw[:10],
    "bytes changed": lambda raw: raw[:60] + bytes(len(raw) - 400) + raw[len(raw) - 340 :],
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_damaged_parquet_file_is_one_sentence(
    change: Callable[[bytes], bytes], rows: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    path = broken(tmp_path / "a.parquet", *rows, change)
    with pytest.raises(DataError, match=r"a\.parquet is not a readable Parquet file"):
        list(open_stream(path, Wish("label")).blocks())


@pytest.mark.parametrize("length", [0, 6, 40, 130, 1000])
def test_a_damaged_npy_file_is_one_sentence(length: int, rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    path, wish = write_npy(tmp_path, *rows)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DataError, match=r"X\.npy (is no NPY file|cannot be read)"):
        open_stream(path, wish)


def test_an_npy_file_is_never_unpickled(tmp_path: Path) -> None:
    class Payload:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return os.mkdir, (str(tmp_path / "owned"),)

    np.save(tmp_path / "X.npy", np.array([Payload()], dtype=object), allow_pickle=True)
    np.save(tmp_path / "y.npy", np.zeros(1, np.int64))
    with pytest.raises(DataError, match=r"X\.npy is no NPY file of numbers or texts"):
        open_stream(tmp_path / "X.npy", Wish(labels=tmp_path / "y.npy"))
    assert not (tmp_path / "owned").exists()


NPY = {
    "no labels": (lambda X, y: (X, None), "X.npy holds rows without labels; name the NPY file of their labels"),
    "another length": (lambda X, y: (X, y[:-1]), "has 100 rows, but the labels have the shape"),
    "texts": (lambda X, y: (X.astype("U8"), y), "holds <U8 in 2 dimensions"),
    "one dimension": (lambda X, y: (X[:, 0], y), "holds float64 in 1 dimensions"),
    "by columns": (lambda X, y: (np.asfortranarray(X), y), "stored column by column"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "has 0 rows of 3 features"),
    "complex": (lambda X, y: (X.astype(complex), y), "holds complex128"),
}


@pytest.mark.parametrize(("change", "sentence"), NPY.values(), ids=NPY)
def test_arrays_that_are_no_rows_are_one_sentence(
    change: Any, sentence: str, rows: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, y = change(*rows)
    path, wish = write_npy(tmp_path, X, np.zeros(1) if y is None else y)
    with pytest.raises(DataError, match=sentence):
        list(open_stream(path, Wish() if y is None else wish).blocks())


def test_a_gap_is_named_by_its_row_in_the_file(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X = rows[0].copy()
    X[40, 1] = np.nan
    path = write_parquet(tmp_path / "a.parquet", X, rows[1])
    with pytest.raises(DataError, match=r"row 41 of a\.parquet has nan in feature 'v'"):
        list(open_stream(path, Wish("label")).blocks())


def test_a_missing_label_is_an_error(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    labels = [None, *rows[1][1:].tolist()]
    path = write_parquet(tmp_path / "a.parquet", rows[0], pyarrow.array(labels))
    with pytest.raises(DataError, match=r"a label of a\.parquet is empty"):
        list(open_stream(path, Wish("label")).blocks())


def test_files_of_two_tables_are_an_error(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", *rows)
    write_parquet(tmp_path / "b.parquet", *rows, names=["u", "v", "z"])
    with pytest.raises(DataError, match=r"b\.parquet has other columns than a\.parquet"):
        open_stream(tmp_path, Wish("label"))


def test_a_column_of_texts_is_no_feature(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    table = pyarrow.table({"u": rows[0][:, 0], "note": ["x"] * N, "label": rows[1]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"column 'note' of a\.parquet holds string, not numbers"):
        list(open_stream(tmp_path / "a.parquet", Wish("label")).row_blocks())


WRONG = {
    "no file": (Path("nowhere.parquet"), Wish(), "there is no file"),
    "another format": (Path("rows.csv"), Wish(), "rows.csv cannot be streamed"),
    "group": (Path("a.parquet"), Wish(group="u"), "rows of one group cannot be kept together"),
    "missing": (Path("a.parquet"), Wish(missing="mean"), "missing values are neither dropped nor filled"),
    "labels": (Path("a.parquet"), Wish(labels=Path("y.npy")), "has a column of labels"),
    "no such column": (Path("a.parquet"), Wish("lable"), "did you mean 'label'"),
}


@pytest.mark.parametrize(("name", "wish", "sentence"), WRONG.values(), ids=WRONG)
def test_wishes_that_cannot_be_met_are_one_sentence(
    name: Path, wish: Wish, sentence: str, rows: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    write_parquet(tmp_path / "a.parquet", *rows)
    with pytest.raises(DataError, match=sentence):
        open_stream(tmp_path / name, wish)


def test_a_folder_partitioned_by_name_is_refused(rows: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    write_parquet(tmp_path / "day=1" / "a.parquet", *rows)
    with pytest.raises(DataError, match="partitioned by the names of its folders"):
        open_stream(tmp_path, Wish("label"))


def test_every_format_that_is_streamed_is_registered() -> None:
    assert list(STREAMS) == ["npy", "parquet"]
