from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks import _report, accuracy_bytes, ida, integers, marginal, methods, train, usps
from sparsegen.devices import DEVICES
from sparsegen.methods import classifiers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data folder with a tiny set in each layout."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1).astype(np.int8)
    splits = np.array([rng.permutation(90) for _ in range(3)]).astype(np.uint16)
    (tmp_path / "ida").mkdir()
    for name in ("banana", "german"):
        path = tmp_path / "ida" / f"{name}.npz"
        np.savez(path, X=X, y=y, train=splits[:, :60], test=splits[:, 60:], origin=np.array([0, 1, 2]))
    digits = (np.arange(90) % 3).astype(np.uint8)
    D = X + 2 * np.eye(3)[digits]
    np.savez(tmp_path / "usps.npz", X_train=D[:60], y_train=digits[:60], X_test=D[60:], y_test=digits[60:])
    return tmp_path


def run(program: ModuleType, *arguments: Any) -> str:
    return str(program.main([str(argument) for argument in arguments]))


def test_ida_table_shows_every_configuration_beside_the_paper(folder: Path) -> None:
    options = ["--data", folder, "--sets", "banana", "german", "--max-iter", 2, 3, "--init", "random"]
    table = run(ida, *options)
    rows = [line for line in table.splitlines() if line.startswith(("| banana", "| german"))]
    assert len(rows) == 4
    assert "| 16.5 |" in rows[0]
    assert table.count("- SLMC (") == 4
    assert len(rows[0].split("|")) == 2 + 5 + 4


def test_ida_uses_original_splits_only_and_gives_the_same_numbers_in_processes(folder: Path) -> None:
    options = ["--data", folder, "--sets", "banana", "--max-iter", 2, "--loss", "hinge", "--json"]
    results = json.loads(run(ida, *options))
    assert {result["position"] for result in results} == {0, 1}
    assert len(results) == 2 * (1 + 2)
    svm, five, ten = results[:3]
    assert five["n_vectors"] == np.ceil(0.05 * svm["n_vectors"])
    assert ten["n_vectors"] == np.ceil(0.1 * svm["n_vectors"])
    again = json.loads(run(ida, *options, "--jobs", 2))
    assert [result["error"] for result in again] == [result["error"] for result in results]


def test_usps(folder: Path) -> None:
    table = run(usps, "--data", folder, "--vectors", 4, 6, "--max-iter", 2)
    assert [row.split(" | ")[0] for row in table.splitlines()[2:]] == ["| svm", "| slmc", "| slmc"]
    results = json.loads(run(usps, "--data", folder, "--vectors", 4, "--max-iter", 2, "--rows", 30, "--json"))
    assert results[0]["vectors"] <= 30
    assert results[1]["vectors"] == 4


def test_train() -> None:
    sizes = ["--rows", 100, 200, "--features", 4, 8, "--vectors", 4, 8, "--max-iter", 2, "--iterations", 2, "--small"]
    table = run(train, *sizes)
    assert "| generated | SVC | 500 |" in table
    assert "| rows n | 100, 200 |" in table
    results = json.loads(run(train, *sizes, "--json"))
    assert [growth["size"] for growth in results["growth"]] == ["n", "d", "m"]


def test_methods() -> None:
    results = json.loads(run(methods, "--sets", "wine", "--vectors", 4, "--json"))
    assert [result["method"] for result in results] == [*classifiers()]
    assert all(result["n_vectors"] <= 4 for result in results if result["method"] in ("slmc", "spsvm", "rsvm"))


def test_methods_on_a_set_of_a_folder(tmp_path: Path) -> None:
    X = np.arange(100, dtype=np.uint8).reshape(50, 2)
    y = (np.arange(50) // 5) % 2
    np.savez(tmp_path / "mnist.npz", X_train=X[:40], y_train=y[:40], X_test=X[40:], y_test=y[40:])
    options = ["--data", tmp_path, "--sets", "mnist", "--methods", "cholesky", "rsvm", "--vectors", 4]
    table = run(methods, *options, "--rows", 30)
    assert [line.split(" | ")[0] for line in table.splitlines()[4:]] == ["| cholesky", "| rsvm"]
    (one, other) = json.loads(run(methods, *options, "--json"))
    assert (one["data"], one["method"], other["method"]) == ("mnist", "cholesky", "rsvm")


def test_accuracy_bytes_draws_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if DEVICES[accuracy_bytes.DEVICE].missing():
        pytest.skip(str(DEVICES[accuracy_bytes.DEVICE].missing()))
    monkeypatch.setattr(accuracy_bytes, "SERIES", {"SLMC": [{"n_vectors": 4, "max_iter": 2}]})
    table = run(accuracy_bytes, "-o", tmp_path / "picture.png")
    assert "| SLMC | 4 |" in table
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("program", [ida, usps], ids=["ida", "usps"])
@pytest.mark.parametrize("arguments", [[], ["--data", "absent"]])
def test_no_data_is_one_sentence_and_exit_code_2(
    program: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _report.run(program.main, arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_integers_lose_little_and_say_beyond_which_score_nothing() -> None:
    losses = json.loads(integers.main(["--sets", "breast_cancer", "--max-iter", "5", "--json"]))
    assert [loss["dtype"] for loss in losses] == ["q15", "q7", "q15c8", "q7c8"]
    assert all(loss["loss"] <= 0.5 and loss["same_labels"] > 98.0 for loss in losses)
    assert 0.0 < losses[0]["margin"] < losses[1]["margin"]
    assert "| breast_cancer | q7 |" in integers.main(["--sets", "breast_cancer", "--max-iter", "5"])


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize(
    "name", ["ida", "usps", "train", "scaling", "integers", "marginal", "methods", "accuracy_bytes"]
)
def test_runs_as_a_module(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What ``python -m`` does, without starting a Python for it."""
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)
    assert not ended.value.code
    assert "--data" in capsys.readouterr().out


def test_marginal_splits_a_figure_into_its_parts() -> None:
    found = {(m, d): 500.0 + 4 * m * d + 30 * m + 2 * d for m in (32, 64) for d in (32, 64)}
    assert marginal.split(found, 32, 64) == (500.0, 4.0, 30.0, 2.0)
    if DEVICES["cortex-m4f"].missing():
        pytest.skip(str(DEVICES["cortex-m4f"].missing()))
    flash, cost = json.loads(run(marginal, "--device", "cortex-m4f", "--dtype", "q7", "--json"))
    assert flash["product"] == pytest.approx(1.0, abs=0.05)  # a byte
    assert 0.0 < cost["product"] < 4.0
