"""The scratch file: rows as written, every row once in an epoch, and mixed pools even of a file sorted by class."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sparsegen.data.streams import scratch as module
from sparsegen.data.streams.scratch import Scratch
from sparsegen.errors import DataError


def filled(index: np.ndarray) -> Scratch:
    """Return a scratch file whose rows hold their own place."""
    made = Scratch(2, len(index))
    for rows in np.array_split(np.arange(len(index)), 3):
        made.append(np.column_stack([rows, -rows]).astype(np.float32), index[rows])
    return made


def test_rows_come_back_as_they_were_written_in_parts() -> None:
    index = np.random.RandomState(0).randint(3, size=50)
    with filled(index) as scratch:
        X, codes = scratch.read(10, 5)
        assert X[:, 0].tolist() == [10, 11, 12, 13, 14]
        assert codes.tolist() == index[10:15].tolist()
        rows = scratch.labelled(np.array(["a", "b", "c"]))
        assert rows.of_class.tolist() == np.bincount(index).tolist()


def test_nothing_is_left_and_nobody_else_can_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with filled(np.arange(50) % 2):
        assert not list(tmp_path.iterdir())  # not even if this process were killed now


def test_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART_BYTES", 8 * 7)
    with filled(np.arange(50) % 2) as scratch:
        parts = scratch.labelled(np.array([0, 1]))
        sizes = list(parts.rows.each(lambda part: len(part.X)))
        assert sizes == [7] * 7 + [1]
        assert parts.counts.sum() == 50


@pytest.mark.parametrize("chunks", [1, 3, 1024])
def test_an_epoch_shows_every_row_once_in_an_order_of_its_own(chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNKS", chunks)
    monkeypatch.setattr(module, "POOL_BYTES", 12 * 4 * chunks)  # chunks of four rows
    with filled(np.arange(60) % 2) as scratch:
        batches = scratch.batches(6, np.random.RandomState(0))
        epochs = [np.concatenate([X[:, 0] for X, _ in itertools.islice(batches, 10)]) for _ in range(2)]
    for epoch in epochs:
        assert sorted(epoch.tolist()) == list(range(60))
    assert not np.array_equal(epochs[0], epochs[1])


def test_rows_too_few_for_a_minibatch_sit_an_epoch_out() -> None:
    with filled(np.arange(20) % 2) as scratch:
        batches = scratch.batches(8, np.random.RandomState(0))
        epoch = np.concatenate([X[:, 0] for X, _ in itertools.islice(batches, 2)])
        assert len(set(epoch.tolist())) == 16
        assert len(next(batches)[0]) == 8
        assert len(next(scratch.batches(256, np.random.RandomState(0)))[0]) == 20


def test_pools_of_a_file_sorted_by_class_are_mixed_as_well_as_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks, rows = 64, 16  # a pool of 1024 rows, of 16,384
    monkeypatch.setattr(module, "CHUNKS", chunks)
    monkeypatch.setattr(module, "POOL_BYTES", 12 * rows * chunks)
    index = np.repeat([0, 1], 8192)
    with filled(index) as scratch:
        batches = scratch.batches(1024, np.random.RandomState(0))
        shares = np.array([codes.mean() for _, codes in itertools.islice(batches, 32)])  # two epochs, pool by pool
    bound = np.sqrt(0.25 / chunks)
    assert abs(shares.mean() - 0.5) < 1e-12
    assert shares.std() < 1.3 * bound
    assert np.abs(shares - 0.5).max() < 4 * bound


def test_a_disk_without_room_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4 * 3 * 100 + 2 * 100 - 1))
    with pytest.raises(DataError, match=r"MiB of temporary files are needed, but 0 MiB are free in .*TMPDIR"):
        Scratch(3, 100)
    with Scratch(3, 99):
        pass


def test_a_file_that_is_cut_under_the_reader_is_an_error() -> None:
    with filled(np.zeros(9, np.intp)) as scratch:
        scratch._rows.truncate(8)
        with pytest.raises(DataError, match="cut short while it was in use"):
            scratch.read(0, 9)
