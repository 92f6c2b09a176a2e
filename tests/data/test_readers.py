"""The readers as a registry: a new format is one new file, and shared suffixes are told apart by their bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data.readers import READERS, FileRows, Reader, Wanted, known_suffixes, reader_of


@pytest.mark.parametrize("name", READERS)
def test_every_reader_names_its_suffixes(name: str) -> None:
    suffixes = READERS[name].suffixes
    assert suffixes
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)


@pytest.mark.parametrize("suffix", known_suffixes())
def test_at_most_one_reader_takes_what_nobody_recognises(suffix: str) -> None:
    assert sum(reader.recognises is None for reader in READERS.values() if suffix in reader.suffixes) <= 1
    assert reader_of(suffix, b"") is not None


@pytest.mark.parametrize(
    ("suffix", "raw", "name"),
    [
        (".txt", b"1 1:2 3:4\n", "libsvm"),
        (".txt", b"# rows\n1 1:2\n", "libsvm"),
        (".txt", b"a,b\n1,2\n", "csv"),
        (".svm", b"a,b\n1,2\n", "libsvm"),
        (".csv", b"1 1:2 3:4\n", "csv"),
        (".npz", b"", "npz"),
    ],
)
def test_the_suffix_decides_and_then_the_bytes(suffix: str, raw: bytes, name: str) -> None:
    assert reader_of(suffix, raw) is READERS[name]
    assert reader_of(".xlsx", raw) is None


def test_a_new_reader_is_an_entry_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
        return FileRows(np.frombuffer(raw, dtype="<f8").reshape(-1, 2), np.array([0, 1]), None)

    assert list(READERS)
    monkeypatch.setitem(READERS._entries, "doubles", Reader(read, suffixes=(".f64",), is_text=False))
    (tmp_path / "rows.f64").write_bytes(np.array([1.0, 2.0, 3.0, 4.0]).tobytes())
    assert data.read(tmp_path / "rows.f64").X.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_training_and_test_rows_come_from_one_file_or_two(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 3},{'xy'[i % 2]}\n" for i in range(40))
    (tmp_path / "all.csv").write_text(f"a,b,label\n{rows}")
    (tmp_path / "moved.csv").write_text("b,a,label\n5,6,x\n")
    train, test = data.read_train_and_test(tmp_path / "all.csv")
    assert (len(train.X), len(test.X)) == (30, 10)
    train, test = data.read_train_and_test(tmp_path / "all.csv", test_size=0.5, seed=1)
    assert (len(train.X), len(test.X)) == (20, 20)
    train, test = data.read_train_and_test(tmp_path / "all.csv", test_path=tmp_path / "moved.csv")
    assert (len(train.X), test.X.tolist(), test.feature_names) == (40, [[6.0, 5.0]], ("a", "b"))
