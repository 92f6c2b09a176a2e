from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import large_rows
from sparsegen.data.streams import Wish, open_stream
from sparsegen.errors import DataError

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("kind", large_rows.WRITERS)
def test_rows_are_written_sorted_by_class(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_rows, "BLOCK", 70)
    path, *_, last = large_rows.WRITERS[kind](tmp_path, 200, 0)
    stream = open_stream(path, Wish(labels=Path(last)) if kind == "npy" else Wish(last))
    labels = np.concatenate(list(stream.label_blocks()))
    assert np.unique(labels, return_counts=True)[1].tolist() == [66, 67, 67]
    assert (np.diff(labels) >= 0).all()
    X = np.concatenate([rows for _, rows, _ in stream.blocks()])
    assert X.shape == (200, large_rows.FEATURES)
    assert len(np.unique(X[:, 0])) == 200  # no block is repeated
    assert (len(list(tmp_path.rglob("*.parquet"))) > 1) == (kind == "parquet")


def test_the_table_says_which_side_of_two_gigabytes_it_is() -> None:
    run = large_rows.Run("npy", 10**7, 800.0, 520.0, 400.0, 900.0, 0.8, 0.801, 100_000, 0.79)
    assert "| npy | 10,000,000 | 800 | 520 | 400 | 900 | 80.00 | 80.10 | 79.00 |" in large_rows._table([run], 32)
    assert "is 520 MB, below 2,000." in large_rows._table([run], 32)


def test_a_disk_without_room_and_an_unknown_format_are_told() -> None:
    with pytest.raises(DataError, match="MiB of disk are needed"):
        large_rows.main(["--rows", str(10**13)])
    with pytest.raises(DataError, match="there is no format 'csv'"):
        large_rows.main(["--rows", "100", "--formats", "csv"])
