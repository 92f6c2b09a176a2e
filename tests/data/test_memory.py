"""Small files must not take much memory, and large ones no more than they need."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.data import memory
from sparsegen.errors import DataError

ROWS, FEATURES = 20_000, 50
BYTES = 8 * ROWS * FEATURES


def saved(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, **arrays)
    return path


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i2", "?", "|u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npz_is_in_memory_once_whatever_its_type(tmp_path: Path, dtype: str, order: Any) -> None:
    X = np.random.default_rng(0).integers(0, 2, (ROWS, FEATURES)).astype(dtype)
    path = saved(tmp_path / "rows.npz", X=np.asarray(X, order=order), y=np.arange(ROWS) % 2)
    tracemalloc.start()
    try:
        rows = data.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(rows.X, X.astype(np.float64))
    assert not rows.X.flags.writeable
    assert peak < BYTES + (BYTES >> 2) + (4 << 20)  # the rows, which of them are finite, a piece of the file


def test_pieces_of_an_npz_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsegen.data.readers.npz.PIECE", 37)
    X = np.random.default_rng(1).normal(size=(30, 7)).astype(np.float32)
    for order in ("C", "F"):
        path = saved(tmp_path / f"{order}.npz", X=np.asarray(X, order=order), y=np.arange(30) % 2)
        assert np.array_equal(data.read(path).X, X)


def test_splitting_copies_once(tmp_path: Path) -> None:
    pytest.importorskip("sklearn.model_selection")  # loaded now, so that its memory is not counted
    rows = data.from_arrays(np.random.default_rng(0).normal(size=(ROWS, FEATURES)), np.arange(ROWS) % 2)
    tracemalloc.start()
    try:
        data.split(rows, 0.25, 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < BYTES + (BYTES >> 1)


def test_an_archive_that_holds_less_than_it_says_shows_no_memory_of_others(tmp_path: Path) -> None:
    whole = io.BytesIO()
    np.lib.format.write_array(whole, np.ones((100, 10)))
    content = whole.getvalue()
    short = content[: len(content) // 2]
    path = tmp_path / "short.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", short)
        archive.writestr("y.npy", short)
    raw = path.read_bytes()
    claimed = raw.replace(len(short).to_bytes(4, "little"), len(content).to_bytes(4, "little"))
    assert claimed != raw and zlib.crc32(short).to_bytes(4, "little") in claimed
    path.write_bytes(claimed)
    with pytest.raises(DataError, match=r"cut short or damaged|not a readable NPZ"):
        data.read(path)


def test_a_claim_beyond_the_free_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "zeros.npz", X=np.zeros((ROWS, FEATURES)), y=np.arange(ROWS) % 2)
    assert path.stat().st_size < BYTES / 100
    monkeypatch.setattr(memory, "free_memory", lambda: BYTES)
    told = r"array 'X' of zeros\.npz takes 15 MiB of memory, but 7 MiB are free; use a sample of its rows"
    with pytest.raises(DataError, match=told):
        data.read(path)
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert len(data.read(path).X) == ROWS


def test_labels_of_absurd_length_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "labels.npz", X=np.zeros((2, 2)), y=np.array(["a", "b" * 10_000]))
    with pytest.raises(DataError, match="longer texts than are allowed"):
        data.read(path)


@pytest.mark.parametrize("index", [2**31 - 1, 2**31, 2**32 + 1, 2**63, 10**30])
def test_a_huge_index_in_libsvm_text_is_refused(tmp_path: Path, index: int) -> None:
    path = tmp_path / "huge.libsvm"
    path.write_text(f"1 {index}:1\n0 1:1\n")
    with pytest.raises(DataError):
        data.read(path)


def test_a_small_libsvm_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "sparse.libsvm"
    path.write_text("1 100000:1\n0 1:1\n" * 100)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"sparse\.libsvm is almost all zeros"):
            data.read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_the_system_says_how_much_is_free() -> None:
    free = memory.free_memory()
    assert free is None or free > 1 << 20
