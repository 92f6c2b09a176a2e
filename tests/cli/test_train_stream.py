"""``sparsegen train`` on files that are streamed: NPY and folders of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

from sparsegen import SparseModel


def rows_of() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.RandomState(0).standard_normal((400, 4))
    return X, np.array(["low", "high"])[(X[:, 0] + X[:, 1] ** 2 > 1.0).astype(int)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    X, y = rows_of()
    np.save("X.npy", X)
    np.save("y.npy", y)
    yield tmp_path


def test_the_command_trains_on_npy(folder: Path, run: Run) -> None:
    done = run("train", "X.npy", "--labels", "y.npy", "--vectors", "4", "--C", "10", "--gamma", "0.2", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["train_rows"] + told["test_rows"] == 400
    model = SparseModel.load(folder / "model.safetensors")
    assert model.card["data"]["source"] == "X.npy"
    assert not list(folder.glob("*.tmp"))


def test_the_command_trains_on_a_folder(folder: Path, run: Run) -> None:
    pd = pytest.importorskip("pandas")
    X, y = rows_of()
    (folder / "rows").mkdir()
    for part in range(2):
        frame = pd.DataFrame(X[part::2], columns=list("uvwz")).assign(kind=y[part::2])
        frame.to_parquet(folder / "rows" / f"{part}.parquet")
    pd.DataFrame(X, columns=list("uvwz")).assign(kind=y).to_csv(folder / "test.csv", index=False)
    given = ("--vectors", "4", "--C", "10", "--gamma", "0.2", "--drop", "z", "--test-data", "test.csv", "--json")
    done = run("train", "rows", "--label", "kind", *given)
    assert done.code == 0, done.err
    assert json.loads(done.out)["test_rows"] == 400


COMMANDS = {
    "no labels": (("X.npy",), "X.npy holds rows without labels; name the NPY file of their labels (--labels FILE)"),
    "labels of a table": (("a.csv", "--labels", "y.npy"), "a.csv cannot be streamed; that takes a Parquet file"),
    "group": (("X.npy", "--labels", "y.npy", "--group", "u"), "rows of one group cannot be kept together"),
    "stream a table": (("a.csv", "--stream"), "a.csv cannot be streamed"),
}


@pytest.mark.parametrize(("arguments", "sentence"), COMMANDS.values(), ids=COMMANDS)
def test_the_command_refuses_in_one_sentence(arguments: tuple[str, ...], sentence: str, folder: Path, run: Run) -> None:
    (folder / "a.csv").write_text("u,label\n1,a\n2,b\n")
    done = run("train", *arguments)
    assert done.code == 2
    assert sentence in done.err
    assert not (folder / "model.safetensors").exists()
