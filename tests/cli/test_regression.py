"""Regression on the command line: train, inspect, predict, export, verify and bench know values."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Ended, Run

from sparsegen.model import SparseModel

QUICK = ("--vectors", 4, "--gamma", 0.05, "--C", 10, "--set", "max_iter=5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("regression")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = 20 + 3 * np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80)
    with (made / "heat.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "heat"])
        writer.writerows([f"{v:.5f}" for v in [*row, value]] for row, value in zip(X, y, strict=True))
    return made


@pytest.fixture
def model(run: Run, folder: Path) -> Path:
    path = folder / "m.safetensors"
    if not path.exists():
        assert run("train", folder / "heat.csv", "--task", "regress", *QUICK, "-o", path).code == 0
    return path


def refused(ended: Ended, reason: str) -> None:
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1), ended
    assert reason in ended.err


def test_train_prints_errors_and_their_interval(run: Run, folder: Path, tmp_path: Path) -> None:
    ended = run("train", folder / "heat.csv", "--task", "regress", *QUICK, "-o", tmp_path / "m.safetensors")
    assert (ended.code, ended.err) == (0, "")
    for words in (
        "slmr",
        "R2 0.",
        "mean error",
        "RMSE",
        "95 % interval",
        "the mean alone",
        "q15",
        "60 rows, 3 features",
    ):
        assert words in ended.out
    assert "class" not in ended.out and "accuracy" not in ended.out
    ended = run("train", folder / "heat.csv", "--task", "regress", *QUICK, "--json", "-o", tmp_path / "n.safetensors")
    document = json.loads(ended.out)
    assert document["values"]["r2"] > 0.5
    assert set(document["integers"]) == {"q15", "q7"}
    assert (document["vectors"], document["test_rows"], document["search"]) == (4, 20, None)


def test_trials_of_a_search_are_shown(run: Run, folder: Path, tmp_path: Path) -> None:
    options = ("--vectors", 3, "--gamma", "auto", "--C", 10, "--set", "max_iter=3", "--metric", "mae", "-v")
    ended = run("train", folder / "heat.csv", "--task", "regress", *options, "-o", tmp_path / "m.safetensors")
    assert ended.code == 0
    assert "cross-validation" in ended.out and "chosen" in ended.out and "by mae" in ended.out


def test_inspect_and_predict(run: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    told = run("inspect", model)
    assert "one value" in told.out and "the mean alone" in told.out and "classes" not in told.out
    assert json.loads(run("inspect", model, "--json").out)["task"] == "regression"
    ended = run("predict", model, folder / "heat.csv")
    lines = ended.out.splitlines()
    assert (lines[0], len(lines)) == ("prediction", 81)
    X = np.genfromtxt(folder / "heat.csv", delimiter=",", skip_header=1)[:, :3]
    assert np.array_equal(np.array(lines[1:], dtype=float), SparseModel.load(model).predict(X))
    assert ended.err.startswith("of 80 rows 20 were held out in training; on those: R2 ")
    document = json.loads(run("predict", model, folder / "heat.csv", "--json").out)
    assert len(document["predictions"]) == 80 and "scores" not in document
    assert document["values"]["rows"] == 80 and document["held_out_values"]["rows"] == 20
    table = tmp_path / "p.csv"
    assert run("predict", model, folder / "heat.csv", "-o", table).code == 0
    assert run("predict", model, folder / "heat.csv", "-o", table).code == 0  # its own table is overwritten
    refused(run("predict", model, folder / "heat.csv", "--reject", 0.9), "a regression has no probabilities")


def test_verify_bench_and_export(run: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    for target, devices in (("c", "host"), ("onnx", "onnxruntime")):
        dtype = "f32,q7" if target == "c" else "f32"
        ended = run("verify", model, folder / "heat.csv", "--target", target, "--device", devices, "--dtype", dtype)
        assert (ended.code, ended.err) == (0, ""), ended
        assert "label" not in ended.out and "accuracy" not in ended.out
        assert "on those: R2 0." in ended.out
    verdict = json.loads(run("verify", model, folder / "heat.csv", "--device", "host", "--json").out)[0]
    assert verdict["ok"] and verdict["same_labels"] is None and verdict["values"]["rows"] == 80
    ended = run("bench", model, "--data", folder / "heat.csv", "--device", "host", "--dtype", "q7")
    assert ended.code == 0 and "on those: R2 0." in ended.out
    ended = run("export", model, "--dtype", "auto", "--calibrate", folder / "heat.csv", "-o", tmp_path)
    assert ended.code == 0
    assert "value error: at most" in ended.out and "points of R2 are lost" in ended.out
    header = (tmp_path / "model.h").read_text()
    assert "int32_t model_value(" in header and "predict" not in header.replace("prediction", "")
    refused(run("export", model, "--reject", 0.9, "-o", tmp_path / "no"), "a regression has no probabilities")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--task regression", "task 'regression' is unknown (did you mean 'regress'?)"),
        ("--task regress --class-weight balanced", "which has no classes; leave them out (--class-weight)"),
        ("--task regress --probability", "a regression has no classes and so no probabilities"),
        ("--task regress --metric accuracy", "metric 'accuracy' is not one of a regression"),
        ("--task regress --ratio 0.1", "knows no share of support vectors"),
        ("--task regress --method slmc", "method 'slmc' is for classification"),
        ("--method slmr", "method 'slmr' is for regression, not for classification"),
        ("", "every row of heat.csv has a label of its own"),
    ],
)
def test_what_goes_together_with_no_regression_is_refused(
    run: Run, folder: Path, tmp_path: Path, options: str, reason: str
) -> None:
    refused(run("train", folder / "heat.csv", *options.split(), "-o", tmp_path / "m.safetensors"), reason)
    assert not list(tmp_path.iterdir())


def test_labels_that_look_like_measurements_name_the_flag(run: Run, folder: Path, tmp_path: Path) -> None:
    text = (folder / "heat.csv").read_text().splitlines()
    rounded = [text[0], *(f"{line.rpartition(',')[0]},{float(line.rpartition(',')[2]):.1f}" for line in text[1:])]
    (tmp_path / "r.csv").write_text("\n".join(rounded) + "\n")
    ended = run("train", tmp_path / "r.csv")
    refused(ended, "look like measurements and not like classes")
    assert "--task regress" in ended.err
