from __future__ import annotations

import csv
import io
import math
import os
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparsegen import data
from sparsegen.data import Dataset, data_file
from sparsegen.data.checks import is_number
from sparsegen.data.readers import known_suffixes
from sparsegen.errors import DataError, OptionError, SparsegenError

Write = Callable[..., Path]
GOOD = "a,b,label\n1,2,cat\n3.5,-4e-3,dog\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(content: str | bytes, name: str = "toy.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file


@pytest.fixture
def npz(tmp_path: Path) -> Write:
    def file(**arrays: Any) -> Path:
        path = tmp_path / "toy.npz"
        np.savez(path, **arrays)
        return path

    return file


def toy(n: int = 40, classes: int = 2) -> Dataset:
    rng = np.random.default_rng(0)
    return data.from_arrays(rng.normal(size=(n, 3)), np.arange(n) % classes, ("a", "b", "c"), "toy.csv")


def test_long_digits_that_are_no_number_are_told_in_linear_time() -> None:
    digits = "1" * 100_000  # a pattern that goes back over every digit would take minutes
    assert is_number(digits)
    assert not is_number(f"{digits}x")
    assert [is_number(text) for text in ("1.", ".5", "1.5e3", "-1", "+2.e-3", ".", "1..2", "")] == [True] * 5 + [
        False
    ] * 3


def sentence(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        data.read(path, **options)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    assert len(message) < 400
    return message


# ---- CSV that is read ------------------------------------------------------------------------------------------------


def test_csv_gives_features_labels_names_and_source(write: Write) -> None:
    dataset = data.read(write(GOOD))
    assert dataset.X.tolist() == [[1.0, 2.0], [3.5, -0.004]]
    assert dataset.X.dtype == np.float64
    assert dataset.y.tolist() == ["cat", "dog"]
    assert dataset.feature_names == ("a", "b")
    assert dataset.source == "toy.csv"
    assert len(dataset.sha256) == 64


def test_arrays_are_read_only(write: Write) -> None:
    dataset = data.read(write(GOOD))
    with pytest.raises(ValueError, match="read-only"):
        dataset.X[0, 0] = 9.0
    with pytest.raises(ValueError, match="read-only"):
        dataset.y[0] = "x"


def test_from_arrays_leaves_the_callers_arrays_writeable() -> None:
    X = np.ones((2, 2))
    data.from_arrays(X, [0, 1])
    X[0, 0] = 5.0


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        "\ufeff" + GOOD,
        "\ufeff" + '"a","b","label"\n"1","2","cat"\n"3.5","-4e-3","dog"\n',
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.rstrip("\n"),
        GOOD + "\n  \n\n",
        "\n" + GOOD,
        GOOD.replace("2,cat", "2,cat\n"),
        "a, b ,label\n 1,2 ,cat\n3.5, -4e-3,dog\n",
    ],
)
def test_csv_dialects_give_the_same_data(write: Write, text: str) -> None:
    assert data.read(write(text)).sha256 == data.read(write(GOOD, "other.csv")).sha256


def test_separator_is_found_outside_quotes(write: Write) -> None:
    dataset = data.read(write('"x, in m, raw";"y ""up""";label\n1;2;3\n'))
    assert dataset.feature_names == ("x, in m, raw", 'y "up"')


@pytest.mark.parametrize("text", ["temp, C;label\n1;x\n", "temp, C\tlabel\n1\tx\n", "temp, C\tlabel\n"])
def test_separator_that_also_fits_the_rows_wins(write: Write, text: str) -> None:
    if text.count("\n") == 1:
        assert "no rows" in sentence(write(text))
    else:
        assert data.read(write(text)).feature_names == ("temp, C",)


@pytest.mark.parametrize("name", ["toy.tsv", "toy.txt", "TOY.CSV"])
def test_other_table_suffixes(write: Write, name: str) -> None:
    assert data.read(write(GOOD.replace(",", "\t"), name)).X.shape == (2, 2)


@pytest.mark.parametrize(
    ("label", "column"), [("b", "b"), ("0", "a"), (0, "a"), ("-2", "b"), (-3, "a"), (None, "2"), ("2", "2"), (2, "2")]
)
def test_label_by_name_or_index(write: Write, label: str | int | None, column: str) -> None:
    dataset = data.read(write("a,b,2\n10,11,12\n"), label)
    assert dataset.y.tolist() == [10 + ["a", "b", "2"].index(column)]
    assert column not in dataset.feature_names


def test_a_label_name_wins_over_an_index(write: Write) -> None:
    assert data.read(write("a,0,b\n10,11,12\n"), "0").y.tolist() == [11]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2", "+3"], [1, -2, 3]),
        (["1.0", "2", "3."], [1, 2, 3]),
        (["1.000e+00", "2e0", "0"], [1, 2, 0]),
        (["1.0", "2.5", "3"], ["1.0", "2.5", "3"]),
        (["1", "b", "3"], ["1", "b", "3"]),
        (["True", "False", "nan"], ["True", "False", "nan"]),
        (["9223372036854775807", "1", "2"], [2**63 - 1, 1, 2]),
        (["9223372036854775808", "1", "2"], ["9223372036854775808", "1", "2"]),
        ([" a", "a ", "ünï €"], [" a", "a ", "ünï €"]),
    ],
)
def test_labels_are_integers_only_where_all_are_whole(write: Write, cells: list[str], expected: list[Any]) -> None:
    y = data.read(write("a,label\n" + "".join(f"1,{cell}\n" for cell in cells))).y
    assert y.tolist() == expected
    assert y.dtype.kind == ("i" if isinstance(expected[0], int) else "U")


def test_rising_numbers_beside_a_label_are_column_names(write: Write) -> None:
    assert data.read(write("0,1,2,label\n5,6,7,x\n")).feature_names == ("0", "1", "2")


def test_hash_depends_on_the_data_and_not_on_the_path(tmp_path: Path) -> None:
    hashes = []
    for folder, text in (("p", GOOD), ("q", GOOD), ("r", GOOD.replace("2,", "2.5,")), ("s", GOOD.replace("cat", "c"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}.csv").write_text(text)
        hashes.append(data.read(tmp_path / folder / f"{folder}.csv").sha256)
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3
    renamed = data.from_arrays([[1.0, 2.0], [3.5, -4e-3]], ["cat", "dog"], ("a", "c"))
    same = data.from_arrays([[1.0, 2.0], [3.5, -4e-3]], ["cat", "dog"], ("a", "b"))
    assert same.sha256 == hashes[0] != renamed.sha256


# ---- CSV that is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["toy.csv is empty"]),
        ("\n\n", ["toy.csv is empty"]),
        ("a,b,label\n", ["header but no rows"]),
        ("1,2,3\n4,5,6\n", ["looks like it has no header"]),
        ("5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n", ["looks like it has no header"]),
        ("a\n1\n", ["one column only"]),
        ("a b label\n1 2 x\n", ["one column only", "comma, semicolon or tab"]),
        ("a,a,label\n1,2,x\n", ["two columns called 'a'"]),
        ("a,,label\n0,1,x\n", ["column 2", "no name"]),
        (",,label\n0,1,x\n", ["column 2", "no name"]),
        (",label\n0,x\n", ["one column only"]),
        ("a,b,label\n1,2,x\n1,2\n", ["row 3", "2 cells", "header has 3"]),
        ("a,b,label\n1,2,x,9\n", ["row 2", "4 cells", "header has 3"]),
        ("a,b,label\n\n1,2,x\n1\n", ["row 4", "1 cell "]),
        ('a,b,label\n1,2,"x,y"\n1,"2,3"\n', ["row 3", "2 cells"]),
        ("a,b,label\n1,2,x\n1,oops,y\n", ["row 3", "column 'b'", "'oops'", "not a number"]),
        ("a,b,label\n1," + "z" * 500 + ",y\n", ["row 2", "column 'b'", "zzz...'"]),
        ("a,b,label\n1,,x\n", ["row 2", "column 'b'", "is empty"]),
        ("a,b,label\n1, ,x\n", ["row 2", "column 'b'", "is empty"]),
        ("a,b,label\n1,2,x\n1,nan,x\n", ["row 3", "column 'b'", "'nan'", "not a finite number"]),
        ("a,b,label\n-inf,2,x\n", ["row 2", "column 'a'", "'-inf'", "not a finite number"]),
        ("a,b,label\n1e999,2,x\n", ["row 2", "column 'a'", "'1e999'", "not a finite number"]),
        ("a,b,label\nTrue,2,x\nFalse,2,y\n", ["row 2", "column 'a'", "'True'", "not a number"]),
        ("a,b,label\n1_0,2,x\n", ["'1_0'", "not a number"]),
        ("a,b,label\nNA,2,x\n", ["'NA'", "not a number"]),
        ("a;b;label\n1,5;2.5;x\n", ["row 2", "column 'a'", "'1,5': a decimal comma, but", "write all numbers alike"]),
        ("a;b;label\n1;2.5;x\n1,5;2;y\n", ["row 3", "column 'a'", "rows above have a decimal point"]),
        ("a;b;label\n1,5;2;x\n1;2.5;y\n", ["row 3", "column 'b'", "rows above have a decimal comma"]),
        ("a;b;label\n1.234,5;2;x\n", ["row 2", "column 'a'", "'1.234,5', not a number"]),
        ("a;b;label\n1,2,3;2;x\n", ["row 2", "column 'a'", "'1,2,3', not a number"]),
        ("5,1;3,5;1,4;setosa\n4,9;3,0;1,4;setosa\n", ["looks like it has no header"]),
        ("a,b,label\n,NA,x\n1,2,x\n3,nan,y\n", ["row 2, column 'a'", "is empty (3 cells without a number in 2 rows,"]),
        ("a,b,label\n,2,x\n1,up,y\n", ["row 3, column 'b'", "'up', not a number (2 cells without a number in 2 rows"]),
        ('a,b,label\n"1,5",2,x\n', ["decimal comma is not supported"]),
        ("a,b,label\n1,2,\n1,2,x\n", ["label in row 2", "is empty"]),
        ("a,b,label\n1,2,\n1,2,\n", ["every label", "is empty"]),
        ("a,b,label\n1,2,x\n1,2,y\x07\n", ["label in row 3", "control"]),
        ('a,b,label\n1,2,"x\ny"\n', ["label in row 2", "control"]),
        ("a,b,label\n1,2," + "x" * 201 + "\n", ["label in row 2", "longer than 200"]),
        ("a\x1b,b,label\n1,2,x\n", ["column name 'a\\x1b'", "control"]),
        ("a" * 201 + ",b,label\n1,2,x\n", ["column name", "longer than 200"]),
        ("a,b,label\n1,2,x\n1,\x00,x\n", ["row 3", "NUL"]),
        (b"a,b,label\n1,2,\xe9\n", ["row 2", "not UTF-8"]),
        (GOOD.encode("utf-16"), ["UTF-8"]),
        ('a,b,label\n1,2,"x\n1,2,y\n', ["row 2", "quote"]),
        ('a,b,label\n1,2,x\n1,"2"3,y\n', ["row 3", "quote"]),
        ("a,b,label\n1,2," + "x" * 1_000_000 + "\n", ["row 2", "longer than 131,072"]),
    ],
)
def test_bad_csv_gives_a_sentence(write: Write, text: str | bytes, parts: list[str]) -> None:
    message = sentence(write(text))
    for part in parts:
        assert part in message.replace("has one column only", "one column only")


def test_rows_are_counted_as_records_when_quoted_cells_hold_newlines(write: Write) -> None:
    text = 'a,note,label\n1,"two\nlines",x\n1,2\n'
    assert "row 3" in sentence(write(text))


@pytest.mark.parametrize(("label", "part"), [("lable", "did you mean 'label'?"), ("9", "'9'"), (-4, "-4"), (3, "3")])
def test_unknown_label_column(write: Write, label: str | int, part: str) -> None:
    message = sentence(write(GOOD), label=label)
    assert part in message
    assert "is not in toy.csv" in message


def test_paths_that_cannot_be_read(tmp_path: Path, write: Write) -> None:
    assert "there is no file" in sentence(tmp_path / "absent.csv")
    assert "is a folder" in sentence(tmp_path)
    assert "there is no file" in sentence(Path("a\0b.csv"))
    listed = ".csv, .tsv, .txt, .libsvm, .svm, .svmlight, .npz"
    assert sentence(write(GOOD, "toy.xlsx")).startswith("toy.xlsx has an unknown suffix; rename it to one of: ")
    assert set(listed.split(", ")) <= set(sentence(write(GOOD, "toy.xlsx")).partition(": ")[2].split(", "))
    assert "suffix" in sentence(write(GOOD, "toy"))


def test_unreadable_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(GOOD)

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "cannot be read (Permission denied)" in sentence(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert "not a regular file" in sentence(tmp_path / "pipe.csv")


def test_oversized_file_is_refused_before_reading(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_file, "MAX_BYTES", 10)
    assert "larger than" in sentence(write(GOOD))


# ---- NPZ -------------------------------------------------------------------------------------------------------------


def test_npz_casts_and_names_features(npz: Write) -> None:
    dataset = data.read(npz(X=np.array([[1, 2], [3, 255]], dtype=np.uint8), y=np.array([0, 1], dtype=np.uint8)))
    assert dataset.X.tolist() == [[1.0, 2.0], [3.0, 255.0]]
    assert dataset.y.dtype == np.int64
    assert dataset.feature_names == ("x0", "x1")


def test_npz_parts(npz: Write) -> None:
    path = npz(X_train=np.zeros((2, 1)), y_train=[0, 1], X_test=np.ones((3, 1)), y_test=[0, 1, 1])
    assert len(data.read(path).X) == 2
    assert len(data.read(path, part="test").X) == 3
    with pytest.raises(OptionError, match="choose train or test"):
        data.read(path, part="dev")
    assert len(data.read(npz(X=np.zeros((2, 1)), y=[0, 1]), part="test").X) == 2


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array(["1", "2"]), ["1", "2"]),
        (np.array([b"a", b"b"]), ["a", "b"]),
        (np.array([1.0, 2.0]), [1, 2]),
        (np.array([[3], [4]]), [3, 4]),
        (np.array([True, False]), [1, 0]),
        (np.array([0.5, 2.0]), ["0.5", "2.0"]),
    ],
)
def test_npz_labels(npz: Write, y: Any, expected: list[Any]) -> None:
    assert data.read(npz(X=np.zeros((2, 1)), y=y)).y.tolist() == expected


def test_an_archive_of_python_2_is_read_without_a_word(write: Write) -> None:
    def written(array: np.ndarray, shape: str) -> bytes:
        header = f"{{'descr': {array.dtype.str!r}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.tobytes()

    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0])
    path = write(zipped(X=written(X, "(3L, 2L)"), y=written(y, "(3L,)")), "old.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert data.read(path).X.tolist() == X.tolist()


def test_npz_feature_names(npz: Write) -> None:
    X, y = np.zeros((2, 2)), np.array([0, 1])
    assert data.read(npz(X=X, y=y, feature_names=["p", "q"])).feature_names == ("p", "q")
    assert "1 feature name for 2 features" in sentence(npz(X=X, y=y, feature_names=["p"]))
    assert "two columns called 'p'" in sentence(npz(X=X, y=y, feature_names=["p", "p"]))


@pytest.mark.parametrize(
    ("arrays", "part"),
    [
        ({"X": np.zeros((2, 1))}, "no array 'y'"),
        ({"x": np.zeros((2, 1)), "y": [0, 1]}, "no array 'X'"),
        ({"X": np.zeros((2, 3, 4)), "y": [0, 1]}, "X.reshape(len(X), -1)"),
        ({"X": np.zeros(2), "y": [0, 1]}, "1 dimension,"),
        ({"X": np.float64(2), "y": [0, 1]}, "0 dimensions"),
        ({"X": np.zeros((0, 2)), "y": np.zeros(0)}, "0 rows"),
        ({"X": np.zeros((2, 0)), "y": [0, 1]}, "0 features"),
        ({"X": np.zeros((3, 1)), "y": [0, 1]}, "3 rows in X but 2 labels"),
        ({"X": np.zeros((2, 1)), "y": np.zeros((2, 2))}, "2 dimensions"),
        ({"X": np.array([[1.0], [np.nan]]), "y": [0, 1]}, "X[1, 0] of toy.npz (row 2, feature 'x0') is nan"),
        ({"X": np.array([[1.0], [-np.inf]]), "y": [0, 1]}, "is -inf"),
        ({"X": np.array([["1"], ["2"]]), "y": [0, 1]}, "not real numbers"),
        ({"X": np.zeros((2, 1), dtype=complex), "y": [0, 1]}, "not real numbers"),
        ({"X": np.zeros((2, 1), dtype="M8[s]"), "y": [0, 1]}, "not real numbers"),
        ({"X": np.zeros((2, 1), dtype=[("é", "f8")]), "y": [0, 1]}, "toy.npz"),
        ({"X": np.zeros((2, 1)), "y": np.array([0, None])}, "'y' of toy.npz holds Python objects"),
        ({"X": np.array([[None], [1]]), "y": [0, 1]}, "'X' of toy.npz holds Python objects"),
        ({"X": np.zeros((2, 1)), "y": np.array([0, np.nan])}, "label 2 of toy.npz is not a finite number"),
        ({"X": np.zeros((2, 1)), "y": np.array([0, 1j])}, "whole numbers or as strings"),
        ({"X": np.zeros((2, 1)), "y": np.array(["a", ""])}, "is empty"),
        ({"X": np.zeros((2, 1)), "y": np.array(["a", "b\x1b"])}, "control"),
        ({"X": np.zeros((2, 1)), "y": np.array(["a", "b" * 201])}, "longer than 200"),
        ({"X": np.zeros((2, 1)), "y": np.array([b"a", b"\xff"])}, "not UTF-8"),
    ],
)
def test_bad_npz_gives_a_sentence(npz: Write, arrays: dict[str, Any], part: str) -> None:
    assert part in sentence(npz(**arrays))


def npy_header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content)  # without the time: it is part of test names
    return buffer.getvalue()


class Bomb:
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return pytest.fail, ("a pickle was loaded",)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"not a zip", "not a readable NPZ"),
        (zipped(X=b"", y=b""), "not a readable NPZ"),
        (zipped(X=npy_header((1 << 40, 1 << 10)), y=b""), "claims more than 4 GiB"),
        (zipped(X=npy_header((1 << 35, 1), "|u1"), y=b""), "claims more than 4 GiB"),
        (zipped(X=npy_header((1 << 20, 10)), y=b""), "cut short or damaged"),
        (zipped(X=npy_header((-1, -8)) + bytes(64), y=b""), "toy.npz"),
        (zipped(X=pickle.dumps(Bomb()), y=pickle.dumps(Bomb())), "not a readable NPZ"),
        (zipped(X=npy_header((1, 1), "|O") + pickle.dumps(Bomb()), y=b""), "Python objects"),
        (zipped(X=npy_header((1, 1))[:-9] + b"(" * 8 + b"\n", y=b""), "toy.npz"),
    ],
)
def test_hostile_npz_gives_a_sentence(write: Write, content: bytes, part: str) -> None:
    assert part in sentence(write(content, "toy.npz"))


# ---- LIBSVM text -----------------------------------------------------------------------------------------------------


def test_a_short_libsvm_text_cannot_claim_much_memory(write: Write) -> None:
    assert "is almost all zeros" in sentence(write("0 1:1 100000:1\n" * 100, "toy.svm"))


@pytest.mark.parametrize("name", ["toy.libsvm", "toy.svm", "toy.svmlight", "toy.txt"])
def test_libsvm_indices_from_one(write: Write, name: str) -> None:
    dataset = data.read(write("# made by hand\n+1 1:0.5 3:2 # note\r\n-1 qid:4 2:-1e-3\n\n", name))
    assert dataset.X.tolist() == [[0.5, 0.0, 2.0], [0.0, -1e-3, 0.0]]
    assert dataset.y.tolist() == [1, -1]
    assert dataset.feature_names == ("x1", "x2", "x3")


def test_libsvm_indices_from_zero(write: Write) -> None:
    dataset = data.read(write("0 0:1\n1 1:2\n", "toy.svm"))
    assert dataset.X.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert dataset.feature_names == ("x0", "x1")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("# nothing\n", "no rows"),
        ("1\n2\n", "0 features"),
        ("1 1:2\ncat 1:2\n", "line 2 of toy.svm begins with 'cat'"),
        ("1 1:2\n1 2:x\n", "line 2 of toy.svm has '2:x'"),
        ("1 1:2\n\n1 2\n", "line 3 of toy.svm has '2'"),
        ("1 1:2\n1 -2:1\n", "line 2 of toy.svm has '-2:1'"),
        ("1 1:2\n1 2:nan\n", "line 2 of toy.svm has '2:nan'"),
        ("1 1:2\n1 2:1e999\n", "line 2 of toy.svm has '2:1e999'"),
        ("inf 1:2\n", "line 1 of toy.svm begins with 'inf'"),
        ("1 2:1 1:1\n", "index 1 after 2"),
        ("1 2:1 2:1\n", "index 2 after 2"),
        ("1 2000000:1\n", "up to 2,000,000"),
        ("1 999999999999:1\n", "feature index 999999999999"),
        ("1 99999999999999999999999:1\n", "not index:value"),
        ("1 900000:1\n" * 1000, "too many for a small model"),
    ],
)
def test_bad_libsvm_gives_a_sentence(write: Write, text: str, part: str) -> None:
    assert part in sentence(write(text, "toy.svm"))


# ---- Checks, splits and matching -------------------------------------------------------------------------------------


def test_require_classes() -> None:
    data.require_classes(toy())
    with pytest.raises(DataError, match=r"toy\.csv has one class only \(0\)"):
        data.require_classes(toy(classes=1))
    with pytest.raises(DataError, match=r"one class only \('a'\)"):
        data.require_classes(data.from_arrays([[1.0], [2.0]], ["a", "a"]))
    with pytest.raises(DataError, match="a label of its own"):
        data.require_classes(toy(classes=40))


def test_labels_that_are_measurements_are_named_as_such() -> None:
    y = np.random.default_rng(0).normal(size=100).round(1)
    assert 20 < len(np.unique(y)) < 100
    with pytest.raises(DataError, match=r"the labels of arrays look like measurements and not like classes: \d\d diff"):
        data.require_classes(data.from_arrays(np.zeros((100, 1)), y))
    data.require_classes(data.from_arrays(np.zeros((400, 1)), np.arange(400) % 40 / 4))  # ten rows of each
    data.require_classes(data.from_arrays(np.zeros((100, 1)), np.arange(100) % 50))
    data.require_classes(data.from_arrays(np.zeros((40, 1)), np.arange(40) % 20 / 4))


def test_measurements_are_what_a_regression_learns() -> None:
    y = np.random.default_rng(0).normal(size=100)
    measured = data.from_arrays(np.zeros((100, 1)), y)
    assert np.array_equal(data.targets(measured), y)  # to the bit, although they are kept as text
    assert np.array_equal(data.targets(data.from_arrays([[1.0], [2.0]], ["1e3", " -2"])), [1000.0, -2.0])
    with pytest.raises(DataError, match=r"a label of its own; .* train a regression where labels") as caught:
        data.require_classes(measured)
    assert caught.value.change == {"label": "", "task": "regress"}
    for label in ("tap", "1e999", "nan", "1_0"):
        with pytest.raises(DataError, match=f"label 2 of arrays is '{label}', which is no number"):
            data.targets(data.from_arrays([[1.0], [2.0]], ["1", label]))
    with pytest.raises(DataError, match="every row of arrays has the value 3; a regression needs values that differ"):
        data.require_spread(data.from_arrays([[1.0], [2.0]], [3, 3]))


def test_values_are_split_without_a_look_at_them() -> None:
    """Every value is in one group only, so that as classes none of the groups could be held out."""
    rng = np.random.default_rng(0)
    measured = data.from_arrays(rng.normal(size=(60, 2)), rng.normal(size=60), groups=np.arange(60) // 6)
    with pytest.raises(DataError, match="no group of arrays can be held out"):
        data.split(measured, 0.3, seed=0)
    train_set, test_set = data.split(measured, 0.3, seed=0, has_classes=False)
    assert train_set.groups is not None and test_set.groups is not None
    assert not set(train_set.groups.tolist()) & set(test_set.groups.tolist())
    assert 12 <= len(test_set.y) <= 24


def test_require_rows() -> None:
    data.require_rows(toy(), 40)
    with pytest.raises(DataError, match=r"40 rows for training, fewer than the 41 vectors"):
        data.require_rows(toy(), 41)


def test_constant_features() -> None:
    assert data.constant_features(toy()) == ()
    assert data.constant_features(data.from_arrays([[1, 2, 0.1], [1, 3, 0.1]], [0, 1], "abc")) == ("a", "c")


@pytest.mark.parametrize("X", [[1.0, 2.0], [["a"], ["b"]]])
def test_from_arrays_refuses_what_is_no_matrix_of_numbers(X: Any) -> None:
    with pytest.raises(DataError):
        data.from_arrays(X, [0, 1])


def test_from_arrays_labels() -> None:
    assert data.from_arrays([[1], [2]], np.array(["a", "b"], dtype=object)).y.tolist() == ["a", "b"]
    with pytest.raises(DataError, match="2 rows but 1 labels"):
        data.from_arrays([[1], [2]], [0])
    with pytest.raises(DataError, match="whole numbers or as strings"):
        data.from_arrays([[1], [2]], np.array(["a", 1], dtype=object))


def test_split_is_stratified_disjoint_and_reproducible() -> None:
    dataset = data.from_arrays(np.arange(100.0)[:, None], ["rare"] * 10 + ["common"] * 90, ["t"], "toy.csv")
    train, test = data.split(dataset, 0.2, seed=3)
    assert len(test.X) == 20
    assert (test.y == "rare").sum() == 2
    assert sorted([*train.X[:, 0], *test.X[:, 0]]) == list(range(100))
    assert (train.source, train.feature_names) == ("toy.csv", ("t",))
    again, other = data.split(dataset, 0.2, seed=3), data.split(dataset, 0.2, seed=4)
    assert (again[0].sha256, again[1].sha256) == (train.sha256, test.sha256)
    assert other[1].sha256 != test.sha256


def test_split_is_plain_where_it_cannot_be_stratified() -> None:
    lone = data.from_arrays(np.arange(10.0)[:, None], [0] * 9 + [1])
    assert [len(part.X) for part in data.split(lone, 0.3, seed=0)] == [7, 3]
    many = toy(n=20, classes=10)
    assert [len(part.X) for part in data.split(many, 0.1, seed=0)] == [18, 2]


@pytest.mark.parametrize("size", [0, 1, -0.1, 1.5, math.nan, math.inf])
def test_split_refuses_a_share_outside_0_and_1(size: float) -> None:
    with pytest.raises(SparsegenError, match="between 0 and 1"):
        data.split(toy(), size, seed=0)


def test_split_refuses_bad_seeds_and_too_few_rows() -> None:
    with pytest.raises(OptionError, match="seed"):
        data.split(toy(), 0.5, seed=-1)
    with pytest.raises(DataError, match="too few"):
        data.split(data.from_arrays([[1.0]], [0]), 0.5, seed=0)


def test_match_features_reorders_by_name() -> None:
    dataset = toy()
    assert data.match_features(dataset, ("a", "b", "c"), 3) is dataset
    moved = data.match_features(dataset, ("c", "a", "b"), 3)
    assert moved.feature_names == ("c", "a", "b")
    assert np.array_equal(moved.X, dataset.X[:, [2, 0, 1]])
    assert np.array_equal(moved.y, dataset.y)


@pytest.mark.parametrize("names", [None, (), ("x0", "x1", "x2"), ("x1", "x2", "x3")])
def test_match_features_by_position_where_the_model_has_no_names(names: tuple[str, ...] | None) -> None:
    dataset = toy()
    assert data.match_features(dataset, names, 3) is dataset
    with pytest.raises(DataError, match="3 features where the model has 4"):
        data.match_features(dataset, None, 4)


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (("a", "b"), "does not know: 'c'"),
        (("a", "b", "c", "d"), "feature 'd' of the model is not in toy.csv"),
        (("a", "b", "cc"), "did you mean 'c'"),
    ],
)
def test_match_features_refuses_other_columns(names: tuple[str, ...], match: str) -> None:
    with pytest.raises(DataError, match=match):
        data.match_features(toy(), names, len(names))


# ---- Data for prediction ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "label", "y"),
    [
        ("a,b\n1,2\n", None, None),
        ("b,a\n2,1\n", None, None),
        ("b,a,label\n2,1,cat\n", None, ["cat"]),
        ("label,b,a\ncat,2,1\n", "label", ["cat"]),
        ("b,when,a\n2,noon,1\n", None, None),
        ("b,a,label\n2,1,\n", None, None),
    ],
)
def test_read_features_takes_the_models_columns(write: Write, text: str, label: str | None, y: Any) -> None:
    X, labels = data.read_features(write(text), ("a", "b"), label)
    assert X.tolist() == [[1.0, 2.0]]
    assert (labels if labels is None else labels.tolist()) == y
    assert not X.flags.writeable


def test_read_features_by_position_where_the_model_has_no_names(write: Write) -> None:
    assert data.read_features(write("p,q\n1,2\n"), ("x0", "x1"))[0].tolist() == [[1.0, 2.0]]
    X, y = data.read_features(write("p,q,r\n1,2,3\n"), None, "p", n_features=2)
    assert X.tolist() == [[2.0, 3.0]]
    assert y is not None
    assert y.tolist() == [1]
    with pytest.raises(DataError, match="3 features where the model has 5"):
        data.read_features(write("p,q,r\n1,2,3\n"), None, n_features=5)


def test_read_features_names_what_is_missing_or_wrong(write: Write) -> None:
    with pytest.raises(DataError, match=r"feature 'accel' of the model is not in toy\.csv \(did you mean 'acel'\?\)"):
        data.read_features(write("acel,b\n1,2\n"), ("accel", "b"))
    with pytest.raises(DataError, match="row 2, column 'b'"):
        data.read_features(write("b,a\noops,1\n"), ("a", "b"))


@pytest.mark.parametrize("names", [("a", "b"), ("x0", "x1"), None])
@pytest.mark.parametrize(
    ("label", "part"), [("lable", "did you mean 'label'"), ("kind", "is not in"), (7, "is not in")]
)
def test_read_features_refuses_a_label_that_is_no_column(
    write: Write, names: tuple[str, ...] | None, label: str | int, part: str
) -> None:
    with pytest.raises(DataError, match=part):
        data.read_features(write("b,a,label\n2,1,cat\n"), names, label, n_features=2)


def test_read_features_refuses_a_label_that_is_a_feature(write: Write) -> None:
    with pytest.raises(DataError, match=r"column 'a' of toy\.csv is a feature of the model"):
        data.read_features(write("b,a\n2,1\n"), ("a", "b"), "a")
    with pytest.raises(DataError, match="1 feature where the model has 2"):
        data.read_features(write("b,a\n2,1\n"), None, "a", n_features=2)


def test_read_features_from_npz(npz: Write) -> None:
    X, y = data.read_features(npz(X=[[1, 2]]), ("a", "b"))
    assert (X.tolist(), y) == ([[1.0, 2.0]], None)
    _, y = data.read_features(npz(X_train=[[1, 2]], X_test=[[1, 2]], y_test=[7]), ("a", "b"))
    assert y is not None
    assert y.tolist() == [7]
    with pytest.raises(DataError, match="2 features where the model has 3"):
        data.read_features(npz(X=[[1, 2]]), ("a", "b", "c"))


def test_read_features_from_libsvm_keeps_the_models_numbering(write: Write) -> None:
    path = write("5 1:1\n", "toy.svm")
    assert data.read_features(path, ("x0", "x1", "x2"))[0].tolist() == [[0.0, 1.0, 0.0]]
    assert data.read_features(path, ("x1", "x2", "x3"))[0].tolist() == [[1.0, 0.0, 0.0]]
    assert data.read_features(path, ("a", "b"))[0].tolist() == [[1.0, 0.0]]
    with pytest.raises(DataError, match="counted from 1"):
        data.read_features(write("5 0:1\n", "toy.svm"), ("x1", "x2"))
    with pytest.raises(DataError, match="4 features where the model has 3"):
        data.read_features(write("5 4:1\n", "toy.svm"), ("x1", "x2", "x3"))


# ---- Properties ------------------------------------------------------------------------------------------------------

FINITE = st.floats(allow_nan=False, allow_infinity=False)
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[float]], list[str]]:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(FINITE, min_size=width, max_size=width), min_size=1, max_size=6))
    return rows, draw(st.lists(NAMES, min_size=len(rows), max_size=len(rows)))


@settings(max_examples=150, suppress_health_check=QUIET, deadline=None)
@given(
    table=tables(),
    separator=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
)
def test_csv_round_trip_is_exact(
    tmp_path: Path, table: tuple[list[list[float]], list[str]], separator: str, quoting: Any, end: str, bom: bool
) -> None:
    rows, labels = table
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=separator, quoting=quoting, lineterminator=end)
    names = [f"f, {i}" if i % 2 else f"f; {i}" for i in range(len(rows[0]))]
    writer.writerow([*names, "kind"])
    writer.writerows([*row, f"_{label}"] for row, label in zip(rows, labels, strict=True))
    path = tmp_path / "round.csv"
    path.write_bytes(buffer.getvalue().encode("utf-8-sig" if bom else "utf-8"))
    dataset = data.read(path)
    assert dataset.X.tobytes() == np.array(rows).tobytes()
    assert dataset.y.tolist() == [f"_{label}" for label in labels]
    assert dataset.feature_names == tuple(names)


@settings(max_examples=100, suppress_health_check=QUIET, deadline=None)
@given(table=tables(), labels=st.data())
def test_libsvm_round_trip_is_exact(tmp_path: Path, table: tuple[list[list[float]], list[str]], labels: Any) -> None:
    rows, _ = table
    y = labels.draw(st.lists(st.integers(-9, 9), min_size=len(rows), max_size=len(rows)))
    path = tmp_path / "round.svm"
    lines = (" ".join([str(k), *(f"{i}:{v!r}" for i, v in enumerate(row, 1))]) for k, row in zip(y, rows, strict=True))
    path.write_text("\n".join(lines))
    dataset = data.read(path)
    assert np.array_equal(dataset.X, rows)
    assert dataset.y.tolist() == y


def dataset_or_sentence(path: Path) -> Dataset | None:
    try:
        dataset = data.read(path)
    except DataError as error:
        assert "\n" not in str(error)
        assert str(error).isprintable()
        return None
    assert np.isfinite(dataset.X).all()
    assert dataset.y.shape == (len(dataset.X),)
    assert dataset.X.shape[1] == len(dataset.feature_names)
    return dataset


SUFFIXES = [suffix.removeprefix(".") for suffix in known_suffixes()]
MESSY = st.text(st.sampled_from("ab01.,;:-+e\"' \t\n\r#_\u00e9\u0661\x0b\x85\u2028"), max_size=80)
VALID_NPZ = zipped(X=npy_header((2, 2)) + bytes(32), y=npy_header((2,), "<i8") + bytes(16))


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=100, suppress_health_check=QUIET, deadline=None)
@given(content=st.one_of(st.binary(max_size=200), MESSY.map(str.encode)))
def test_any_bytes_give_a_dataset_or_a_sentence(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"fuzz.{suffix}"
    path.write_bytes(content)
    dataset_or_sentence(path)


@settings(max_examples=300, suppress_health_check=QUIET, deadline=None)
@given(body=MESSY)
def test_a_messy_csv_is_read_as_the_csv_module_reads_it(tmp_path: Path, body: str) -> None:
    path = tmp_path / "fuzz.csv"
    path.write_bytes(("p,q\n" + body).encode())
    dataset = dataset_or_sentence(path)
    if dataset is not None:
        records = [r for r in csv.reader(io.StringIO(body, newline="")) if len(r) > 1]
        assert dataset.X[:, 0].tolist() == [float(record[0]) for record in records]


@settings(max_examples=200, suppress_health_check=QUIET, deadline=None)
@given(position=st.integers(0, len(VALID_NPZ) - 1), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_npz_gives_a_dataset_or_a_sentence(tmp_path: Path, position: int, byte: int, cut: bool) -> None:
    path = tmp_path / "fuzz.npz"
    tail = b"" if cut else VALID_NPZ[position + 1 :]
    path.write_bytes(VALID_NPZ[:position] + bytes([byte]) + tail)
    dataset_or_sentence(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "content",
    [
        b"\0" * 1000,
        b"a" * 1_000_000,
        b"a," * 500_000,
        b"1," * 500_000,
        b'"' * 100_001,
        b"\xff\xfe" * 500,
        np.random.default_rng(0).bytes(4096),
        pickle.dumps(Bomb()),
        zipped(X=pickle.dumps(Bomb()), y=pickle.dumps(Bomb())),
        b"1 " + b"1:1 " * 100_000,
        b"a,b\n" + b"\n" * 100_000,
        b"\x1b[31mred,b,c\n1,2,3\n",
    ],
    ids=lambda content: f"{len(content)} bytes {content[:6]!r}",
)
def test_hostile_files_give_a_sentence(write: Write, suffix: str, content: bytes) -> None:
    assert dataset_or_sentence(write(content, f"hostile.{suffix}")) is None


def test_a_hostile_file_name_is_made_printable(write: Write) -> None:
    assert data.read(write(GOOD, "a\x1b[31m\n.csv")).source == "a?[31m?.csv"


def test_importing_does_not_load_pandas_or_sklearn() -> None:
    code = "import sys, sparsegen.data; print([m for m in ('pandas', 'sklearn', 'scipy') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
