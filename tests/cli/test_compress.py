"""``sparsegen compress``: machines of sparsegen, LIBSVM and ONNX, and what goes wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from foreign_files import libsvm_text, onnx_svm
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsegen import SparseModel, from_sklearn

X, SPECIES = load_iris(return_X_y=True)
SCALED = StandardScaler().fit_transform(X)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "iris.csv"
    lines = [",".join([*map(repr, row.tolist()), str(k)]) for row, k in zip(SCALED, SPECIES, strict=True)]
    path.write_text("\n".join(["a,b,c,d,species", *lines]) + "\n")
    return path


@pytest.fixture
def machines(tmp_path: Path) -> dict[str, Path]:
    machine = SVC(gamma=0.5).fit(SCALED, SPECIES)
    contents = {
        "m.safetensors": from_sklearn(machine).to_bytes(), "m.model": libsvm_text(machine), "m.onnx": onnx_svm(machine),
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return {name: tmp_path / name for name in contents}


@pytest.mark.parametrize("name", ["m.safetensors", "m.model", "m.onnx"])
def test_every_format(run: Run, machines: dict[str, Path], rows: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "small.safetensors"
    ended = run("compress", machines[name], "--vectors", 5, "--data", rows, "--C", 10, "-o", out, "--json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    model = SparseModel.load(out)
    assert (document["vectors"], model.n_vectors) == (5, 5)
    assert document["accuracy"] == model.card["accuracy"] >= 0.9
    assert document["lost_points"] == pytest.approx(100 * (document["original"]["accuracy"] - document["accuracy"]))
    assert 0 < 5 * document["table_bytes"] < document["original"]["table_bytes"]
    labels = run("predict", out, rows, "--json")
    assert np.mean(np.array(json.loads(labels.out)["labels"]) == SPECIES) > 0.9


def test_the_loss_is_told_with_its_condition(run: Run, machines: dict[str, Path], rows: Path, tmp_path: Path) -> None:
    ended = run("compress", machines["m.onnx"], "--vectors", 4, "--data", rows, "--C", 1, "-o", tmp_path / "s")
    assert ended.code == 0, ended.err
    for part in ("vectors", "-> 4", "points", "all held out here", "may have been trained on", "agreement"):
        assert part in ended.out


@pytest.mark.parametrize("method", ["rs", "mrs"])
def test_other_methods(run: Run, machines: dict[str, Path], rows: Path, tmp_path: Path, method: str) -> None:
    out = tmp_path / "small.safetensors"
    command = ("compress", machines["m.model"], "--vectors", 8, "--data", rows, "--method", method, "-o", out)
    said = run(*command)
    assert said.code == 0, said.err
    assert ("reduced set alone" in said.out) == (method == "mrs")
    assert SparseModel.load(out).card["method"].split()[0] == method
    assert json.loads(run(*command, "--json").out)["method"] == method


def test_bad_input_writes_nothing(run: Run, machines: dict[str, Path], rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.safetensors"
    broken = tmp_path / "broken.model"
    broken.write_bytes(machines["m.model"].read_bytes()[:200])
    cases = {
        "ask for fewer": (machines["m.model"], "--vectors", 1000),
        "must be a number or auto": (machines["m.model"], "--vectors", 4, "--C", "much"),
        "exclude each other": (machines["m.model"], "--vectors", 4, "--test-size", 0.5, "--test-data", rows),
        "did you mean 'mrs'?": (machines["m.model"], "--vectors", 4, "--method", "msr"),
        "leave C out": (machines["m.model"], "--vectors", 4, "--method", "rs", "--C", 1),
        "C is -1.0, but must be": (machines["m.model"], "--vectors", 4, "--C", -1),
        "broken.model": (broken, "--vectors", 4),
        "not a usable sparsegen model": (rows, "--vectors", 4),
        "no class of the model": (machines["m.model"], "--vectors", 4, "--label", "a"),
    }
    for part, arguments in cases.items():
        ended = run("compress", *arguments, "--data", rows, "-o", out)
        assert ended.code == 2, part
        assert part in ended.err
        assert ended.err.startswith("error: ") and ended.err.count("\n") == 1
        assert not out.exists()
