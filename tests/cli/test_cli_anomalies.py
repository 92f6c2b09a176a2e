"""What commands make of a detector of anomalies, from rows with labels of their own to the header of its C."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

from sparsegen.devices import DEVICES
from sparsegen.model import SparseModel

FIXED = ("--task", "anomaly", "--gamma", "0.5", "--vectors", "4", "--set", "max_iter=5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 80 rows of a pump, 8 of a leaking one, and files that hold only some of them or no labels."""
    folder = tmp_path_factory.mktemp("anomalies")
    rng = np.random.default_rng(3)
    speed = rng.uniform(0.5, 1.0, 88)
    rms = speed * rng.normal(1.0, 0.05, 88) * np.where(np.arange(88) < 80, 1.0, 3.0)
    features = [f"{a:.4f},{b:.4f}" for a, b in zip(speed, rms, strict=True)]
    labelled = [f"{line},{'ok' if i < 80 else 'leak'}" for i, line in enumerate(features)]
    (folder / "pump.csv").write_text("\n".join(["speed,rms,state", *labelled]) + "\n")
    (folder / "good.csv").write_text("\n".join(["speed,rms", *features[:60]]) + "\n")
    (folder / "new.csv").write_text("\n".join(["speed,rms,state", *labelled[60:]]) + "\n")
    (folder / "strange.csv").write_text("\n".join(["speed,rms,state", *labelled[80:]]) + "\n")
    return folder


@pytest.fixture
def model(run: Run, folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    assert run("train", folder / "pump.csv", *FIXED, "--normal", "ok", "-o", path).code == 0
    return path


def test_training_tells_false_alarms_and_detections(run: Run, folder: Path, tmp_path: Path) -> None:
    arguments = ("train", folder / "pump.csv", *FIXED, "--normal", "ok", "-o", tmp_path / "m.safetensors")
    code, out, _ = run(*arguments)
    assert code == 0
    interval = r"\(95 % interval \d+\.\d\d to \d+\.\d\d % if rows are independent\)"
    assert re.search(rf"false alarms +│ \d+\.\d\d % of 20 normal rows held out {interval}", out)
    assert re.search(rf"detected +│ \d+\.\d\d % of 8 known anomalies {interval}; others may look different", out)
    assert re.search(r"ROC area +│ \d.*: how often a normal row scores above an anomaly", out)
    assert re.search(r"in integers +│ q15 false alarms \d+\.\d\d %, detected \d+\.\d\d %; q7 false alarms", out)
    assert re.search(r"trained on +│ 60 normal rows \(label ok\), 2 features, nu 0.05", out)
    assert "accuracy" not in out
    document = json.loads(run(*arguments, "--json").out)
    assert (document["normal"], document["nu"], document["train_rows"], document["test_rows"]) == ("ok", 0.05, 60, 28)
    alarms, detections = document["false_alarms"], document["detections"]
    assert (alarms["rows"], detections["rows"]) == (20, 8)
    assert alarms["interval"][0] <= alarms["share"] == alarms["count"] / 20 <= alarms["interval"][1]
    assert document["integers"]["q7"]["false_alarms"]["rows"] == 20


def test_rows_without_labels(run: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    code, out, err = run("train", folder / "good.csv", *FIXED, "--unlabelled", "--nu", "0.1", "-o", path)
    assert code == 0
    assert "no anomaly is known, so how many are detected was not tested" in err
    assert "detected" not in out
    assert "nu 0.1" in out
    assert SparseModel.load(path).card["anomalies"]["normal"] == "normal"
    tested = ("--unlabelled", "--test-data", folder / "new.csv")
    code, out, _ = run("train", folder / "good.csv", *FIXED, *tested, "--normal", "ok", "-o", path)
    assert code == 0
    assert "of 8 known anomalies" in out
    code, _, err = run("train", folder / "good.csv", *FIXED, *tested, "-o", path)
    assert code == 2
    assert "no test row of new.csv has the label 'normal' of normal rows" in err
    assert err.rstrip().endswith("(--normal LABEL)")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*FIXED,), "is not clear: 'leak', 'ok'; name it (--normal LABEL)"),
        ((*FIXED, "--normal", "okay"), "has the label 'okay' (did you mean 'ok'?)"),
        ((*FIXED, "--normal", "ok", "--C", "3"), "has no C; give nu instead (--C)"),
        ((*FIXED, "--normal", "ok", "--label", "state", "--unlabelled"), "rows that have no labels"),
        ((*FIXED, "--normal", "ok", "--nu", "0"), "nu is 0.0, but must be"),
        (("--normal", "ok"), "a label of normal rows means nothing to a classifier"),
        (("--unlabelled",), "--unlabelled goes with --task anomaly"),
        (("--nu", "0.1"), "method 'slmc' has no parameter 'nu'"),
    ],
)
def test_errors(run: Run, folder: Path, tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    code, _, err = run("train", folder / "pump.csv", *arguments, "-o", tmp_path / "m.safetensors")
    assert code == 2
    assert sentence in err
    assert not (tmp_path / "m.safetensors").exists()


def test_inspect(run: Run, model: Path) -> None:
    out = run("inspect", model).out
    assert "normal or not; normal rows had the label ok" in out
    assert "of 20 normal rows held out (95 % interval" in out
    assert "accuracy" not in out
    assert json.loads(run("inspect", model, "--json").out)["anomalies"]["normal"] == "ok"


def test_a_files_own_labels_are_understood(run: Run, folder: Path, model: Path) -> None:
    code, out, err = run("predict", model, folder / "pump.csv")
    assert code == 0
    assert "of 88 rows 28 were held out in training; of those: false alarms" in err
    assert {line.split(",")[0] for line in out.splitlines()[1:]} == {"normal", "anomaly"}
    document = json.loads(run("predict", model, folder / "pump.csv", "--json").out)
    assert document["anomalies"]["detections"]["rows"] == 8
    code, _, err = run("predict", model, folder / "strange.csv")
    assert code == 2
    assert "no row of strange.csv has the label 'ok', as normal rows had in training, nor the label 'normal'" in err


def test_export_and_verify(run: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    calibrate = ("--dtype", "q15", "--calibrate", folder / "pump.csv")
    assert run("export", model, *calibrate, "-o", tmp_path / "c").code == 0
    header = (tmp_path / "c" / "model.h").read_text()
    assert " * tested in: q15\n" in header
    assert re.search(r" \* false alarms: \d+\.\d\d % of 20 normal rows held out in training\n", header)
    assert re.search(r" \* detected: \d+\.\d\d % of 8 known anomalies; others may look different\n", header)
    assert "Call it before model_predict and treat a 0 as an anomaly" in header
    assert "accuracy:" not in header
    if DEVICES["host"].missing() is None:
        code, out, _ = run("verify", model, folder / "pump.csv", "--dtype", "f32,q7", "--device", "host")
        assert code == 0
        assert "false alarms" in out
