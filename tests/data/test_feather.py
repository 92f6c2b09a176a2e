"""Feather files, where pyarrow is there; a sentence where it is not, and none that takes the memory first."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data import memory
from sparsegen.errors import DataError

Y = ["x", "y", "x"]


def saved(path: Path, columns: dict[str, Any], codec: str | None = None, rows: int | None = None, **more: Any) -> Path:
    """Write columns as pandas and pyarrow do, in batches of so many rows."""
    arrow, ipc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.ipc")
    table = arrow.table(columns)
    with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression=codec, **more)) as file:
        file.write_table(table, max_chunksize=rows)
    return path


def test_without_pyarrow_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy.feather").write_bytes(b"ARROW1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match="is a Feather file, which needs the package pyarrow; install it, or save"):
        data.read(tmp_path / "toy.feather")


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("rows", [2, None])
def test_columns_of_numbers_are_features(tmp_path: Path, codec: str | None, rows: int | None) -> None:
    columns = {
        "a": np.array([1, 2, 3], dtype=np.uint8),
        "b.c": np.array([0.5, 1.5, 2.5], dtype=np.float32),
        "d": np.array([True, False, True]),
        "who": ["q", "p", "q"],
        "label": Y,
    }
    path = saved(tmp_path / "toy.arrow", columns, codec, rows)
    found = data.read(path, group="who")
    assert found.X.tolist() == [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]]
    assert found.feature_names == ("a", "b.c", "d")
    assert found.y.tolist() == Y
    assert found.groups is not None
    assert found.groups.tolist() == [0, 1, 0]
    assert data.read(path, drop=("who", "d")).feature_names == ("a", "b.c")
    X, y = data.read_features(path, ("d", "a"))
    assert X.tolist() == [[1, 1], [0, 2], [1, 3]]
    assert y is not None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["1.0", "2", "x"], ["1.0", "2", "x"]),
        ([b"x", b"y", b"x"], Y),
        (np.array([3, 4, 3], dtype=np.int16), [3, 4, 3]),
        (np.array([0.5, 2.0, 0.5]), ["0.5", "2.0", "0.5"]),
        (np.array([True, False, True]), [1, 0, 1]),
    ],
)
def test_labels_of_every_kind(tmp_path: Path, labels: Any, expected: list[Any]) -> None:
    columns = {"a": [1, 2, 3], "label": labels}
    assert data.read(saved(tmp_path / "toy.feather", columns, "zstd", rows=2)).y.tolist() == expected


def test_a_frame_of_pandas_comes_back(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    categories = pd.Categorical(Y, categories=["y", "x", "never", "long" * 1000])
    pd.DataFrame({"a": [1, 2, 3], "label": categories}).to_feather(tmp_path / "toy.feather")
    rows = data.read(tmp_path / "toy.feather")
    assert (rows.feature_names, rows.y.tolist()) == (("a",), Y)


def test_dictionaries_that_grow_are_refused(tmp_path: Path) -> None:
    arrow, ipc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.ipc")
    schema = arrow.schema([("a", arrow.int8()), ("label", arrow.dictionary(arrow.int8(), arrow.string()))])
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=True, compression="zstd")
    with ipc.new_file(tmp_path / "toy.feather", schema, options=options) as file:
        for known in (["x"], ["x", "y"], ["x", "y", "z"]):
            labels = arrow.DictionaryArray.from_arrays(arrow.array([len(known) - 1], arrow.int8()), known)
            file.write(arrow.record_batch([arrow.array([1], arrow.int8()), labels], schema=schema))
    with pytest.raises(
        DataError, match=r"toy\.feather has categories that grow from batch to batch; write it again in"
    ):
        data.read(tmp_path / "toy.feather")


def test_gaps_of_feather(tmp_path: Path) -> None:
    columns = {"a": [1, None, 3, 5], "b": [1.0, 2.0, 4.0, np.nan], "label": [*Y, None]}
    path = saved(tmp_path / "toy.feather", columns, rows=3)
    rows = data.read(path, missing="drop")
    assert (rows.X.tolist(), rows.y.tolist()) == ([[1, 1], [3, 4]], ["x", "x"])
    assert rows.notes[0] == "1 row of toy.feather without a label was dropped"
    path = saved(tmp_path / "toy.feather", {"a": [1, None, 3], "label": Y})
    assert data.read(path, missing="mean").X.tolist() == [[1], [2], [3]]


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (
            {"a": [1, 2, 3], "note": ["p", "q", "r"], "label": Y},
            "column 'note' of toy.feather holds string, not numbers",
        ),
        ({"a": [[1], [2], [3]], "label": Y}, "column 'a' of toy.feather holds list<"),
        ({"a": [1, 2, 3], "label": [[1], [2], [3]]}, "the labels of toy.feather hold list<.*; save them as"),
        ({"label": Y}, "no column left to be a feature"),
        ({"a": [], "label": []}, "toy.feather has 0 rows"),
        ({"a": [1, 2, 3], "label": [b"x", b"\xff", b"x"]}, "a label of toy.feather is not UTF-8 text"),
        ({"a": [1, 2, 3], "label": ["x", "y\x1b", "x"]}, "control or invisible"),
        ({"a\x1b": [1, 2, 3], "label": Y}, "control or invisible"),
        ({"a": [1, 2, 3], "label": ["x", None, "y"]}, "the label in row 2 of toy.feather is empty"),
    ],
)
def test_feather_that_cannot_be_used(tmp_path: Path, columns: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=told):
        data.read(saved(tmp_path / "toy.feather", columns))


def test_older_and_other_files_of_arrow(tmp_path: Path) -> None:
    arrow, ipc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.ipc")
    path = tmp_path / "toy.feather"
    path.write_bytes(b"FEA1" + bytes(40) + b"FEA1")
    with pytest.raises(DataError, match="is a Feather file of version 1; write it again as version 2"):
        data.read(path)
    columns = {"a": [1, 2, 3], "label": Y}
    with pytest.raises(DataError, match=r"was written by an Arrow before 1\.0"):
        data.read(saved(path, columns, metadata_version=ipc.MetadataVersion.V4))
    with ipc.new_stream(path, arrow.table(columns).schema) as stream:
        stream.write_table(arrow.table(columns))
    with pytest.raises(DataError, match="is not a readable Feather file; save it again with pandas or pyarrow"):
        data.read(path)


def test_big_endian_numbers_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    message = struct.pack("<I 5H2x ihBxI", 16, 10, 12, 4, 6, 8, 12, 4, 1, 12)  # root, index, version 4, kind 1, header
    schema = struct.pack("<3H2x ih6x", 6, 6, 4, 8, 1)  # index, endianness 1
    framed = struct.pack("<iI", -1, len(message + schema)) + message + schema
    (tmp_path / "toy.feather").write_bytes(b"ARROW1\0\0" + framed + b"ARROW1")
    with pytest.raises(DataError, match=r"toy\.feather holds big-endian numbers"):
        data.read(tmp_path / "toy.feather")


def test_rows_after_an_early_end_are_not_lost_in_silence(tmp_path: Path) -> None:
    path = saved(tmp_path / "toy.feather", {"a": [1, 2, 3], "label": [0, 1, 0]}, rows=1)
    raw, ipc = path.read_bytes(), pytest.importorskip("pyarrow.ipc")
    stream = pytest.importorskip("pyarrow").BufferReader(raw)
    stream.seek(8)
    for _ in ("schema", "first row", "second row"):
        ipc.read_message(stream)
    third = stream.tell()
    path.write_bytes(raw[:third] + struct.pack("<iI", -1, 0) + raw[third + 8 :])
    with pytest.raises(DataError, match="is not a readable Feather file"):
        data.read(path)


@pytest.fixture
def nothing_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where pyarrow is asked for the rows: it allocates what a buffer claims before it looks at it."""
    ipc = pytest.importorskip("pyarrow.ipc")

    def unpack(*_: object, **__: object) -> None:
        pytest.fail("unpacked before it was known how large it is")

    monkeypatch.setattr(ipc, "open_stream", unpack)


@pytest.mark.usefixtures("nothing_unpacked")
def test_a_file_of_zeros_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    columns = {"a": np.zeros(10_000_000), "label": np.zeros(10_000_000, dtype=np.int8)}
    path = saved(tmp_path / "toy.feather", columns, "zstd")
    assert path.stat().st_size < 1 << 20
    told = r"unpacks to more than 250 times its size, so it hardly holds data; save it without compression if it does"
    with pytest.raises(DataError, match=rf"toy\.feather {told}"):
        data.read(path)


@pytest.mark.usefixtures("nothing_unpacked")
@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        (1 << 40, "unpacks to more than 4 GiB"),
        ((1 << 63) - 1, "unpacks to more than 4 GiB"),
        (1 << 30, "unpacks to more than 250 times its size"),
        (-2, "is not a readable Feather file"),
    ],
)
def test_a_buffer_that_claims_too_much_is_not_unpacked(tmp_path: Path, claimed: int, told: str) -> None:
    path = saved(tmp_path / "toy.feather", {"a": np.zeros(1000), "label": ["x", "y"] * 500}, "zstd")
    raw, true = path.read_bytes(), struct.pack("<q", 8000)
    assert raw.count(true) == 1  # of column a
    path.write_bytes(raw.replace(true, struct.pack("<q", claimed)))
    with pytest.raises(DataError, match=told):
        data.read(path)


@pytest.mark.usefixtures("nothing_unpacked")
def test_a_dictionary_counts_with_every_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr("sparsegen.data.compressed.ALWAYS_ALLOWED", 0)
    labels = arrow.DictionaryArray.from_arrays(np.zeros(1000, dtype=np.int8), ["x" * 200_000])
    with pytest.raises(DataError, match="unpacks to more than 250 times its size"):
        data.read(saved(tmp_path / "toy.feather", {"a": np.zeros(1000), "label": labels}, rows=2))


def test_more_rows_than_the_memory_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "toy.feather", {"a": np.zeros(200_000), "label": ["x"] * 200_000}, "zstd")
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 20)
    with pytest.raises(DataError, match=r"toy\.feather takes \d+ MiB of memory, but 1 MiB are free"):
        data.read(path)


def test_labels_as_wide_as_the_longest_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = ["x"] * 20_000 + ["y" * 200]
    path = saved(tmp_path / "toy.feather", {"a": np.zeros(20_001), "label": labels})
    monkeypatch.setattr(memory, "free_memory", lambda: 8 << 20)
    with pytest.raises(DataError, match=r"the label column of toy\.feather takes 30 MiB of memory, but 8 MiB"):
        data.read(path)
    monkeypatch.undo()
    labels = pytest.importorskip("pyarrow").array(["x" * 200]).dictionary_encode().take([0] * 100_000)
    path = saved(tmp_path / "toy.feather", {"a": np.zeros(100_000, dtype=bool), "label": labels}, "zstd")
    with pytest.raises(DataError, match=r"the label column of toy\.feather unpacks to more than 250 times .* shorten"):
        data.read(path)


def test_bits_that_become_doubles_are_refused(tmp_path: Path) -> None:
    n_rows = 10_000_000
    columns = {"a": np.zeros(n_rows, dtype=bool), "label": np.zeros(n_rows, dtype=bool)}
    with pytest.raises(DataError, match=r"toy\.feather unpacks to more than 250 times its size"):
        data.read(saved(tmp_path / "toy.feather", columns, "zstd"))


@pytest.mark.parametrize("codec", [None, "zstd"])
def test_damaged_feather_gives_a_dataset_or_a_sentence(tmp_path: Path, codec: str | None) -> None:
    labels = pytest.importorskip("pyarrow").array(Y).dictionary_encode()
    columns = {"a": [1.0, 2.0, 3.0], "who": ["p", "q", "p"], "label": labels}
    whole = saved(tmp_path / "toy.feather", columns, codec).read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged.feather"
    for place, byte in zip(rng.integers(0, len(whole), 300), rng.integers(0, 256, 300), strict=True):
        path.write_bytes(whole[:place] + bytes([int(byte)]) + whole[place + 1 :])
        try:
            rows = data.read(path, group="who")
        except DataError as error:
            assert str(error).isprintable()
        else:
            assert np.isfinite(rows.X).all()
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(DataError):
            data.read(path, group="who")
