"""Exports that lose too much, and who made a figure, as a user meets them. Everything goes through main()."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from golden_models import model, rbf

from sparsegen.devices import DEVICES

IN_G = model([rbf(4.0)], 8, 3, ("still", "moving"), card={"accuracy": 0.99996, "test_rows": 30_000})
"""Features within -1 and 1: whole numbers cannot tell them apart."""
X = np.sin(np.arange(1, 1201) ** 1.5).reshape(400, 3)
WHOLE_NUMBERS = ("--dtype", "q7", "--input", "raw-int16")


def table(labels) -> str:
    lines = [",".join([*(f"{v:.6f}" for v in row), str(label)]) for row, label in zip(X, labels, strict=True)]
    return "ax,ay,az,label\n" + "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("verdicts")
    IN_G.save(folder / "in_g.safetensors")
    (folder / "rows.csv").write_text(table(IN_G.predict(np.round(X, 6))))
    (folder / "unlabelled.csv").write_text(table([""] * len(X)))
    (folder / "other.csv").write_text(table(["on", "off"] * 200))
    return folder


def require(device):
    if DEVICES[device].missing() is not None:
        pytest.skip(f"{device}: {DEVICES[device].missing()}")


@pytest.mark.parametrize("rows", [None, "rows.csv", "unlabelled.csv"])
def test_an_export_that_loses_too_much_is_refused_unless_forced(run, folder, tmp_path, rows):
    calibrate = () if rows is None else ("--calibrate", folder / rows)
    arguments = ("export", folder / "in_g.safetensors", *WHOLE_NUMBERS, *calibrate, "-o", tmp_path / "new")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    unit = "points" if rows == "rows.csv" else "% of the labels"
    assert re.match(rf"error: (\d+\.\d\d {unit}|the class '\w+') would be lost in q7: \d+\.\d\d % of \d+ ", err)
    asked = "--input f32, --dtype q15, --force" if calibrate else "--input f32, --dtype q15, --calibrate, --force"
    assert err.endswith(f"or force it ({asked})\n")
    assert not (tmp_path / "new").exists()
    code, out, err = run(*arguments, "--force")
    assert (code, err) == (0, "")
    header = (tmp_path / "new" / "model.h").read_text()
    assert ("points of accuracy are lost" in header) == (rows == "rows.csv")


def test_flash_refuses_as_export_does(run, folder, monkeypatch):
    monkeypatch.setattr("sparsegen.firmware.flash.check_access", lambda *access, emulated: None)
    code, out, err = run("flash", folder / "in_g.safetensors", "--board", "uno", "--emulate", *WHOLE_NUMBERS)
    assert (code, out) == (2, "")
    assert "would be lost in q7" in err and "--force" in err


def test_what_is_printed_of_accuracy_is_rounded_down(run, folder, tmp_path):
    assert run("export", folder / "in_g.safetensors", "-o", tmp_path)[0] == 0
    assert "accuracy: 99.99 % on 30000 test rows in Python, as float64" in (tmp_path / "model.h").read_text()
    assert re.search(r"accuracy\W+99\.99 %", run("inspect", folder / "in_g.safetensors").out)


def test_verify_judges_the_accuracy_of_integers(run, folder):
    require("host")
    arguments = ("verify", folder / "in_g.safetensors", folder / "rows.csv", "--device", "host")
    assert run(*arguments, "--dtype", "f32,q7,q15").code == 0
    code, out, err = run(*arguments, *WHOLE_NUMBERS)
    assert (code, err) == (1, "")
    assert "LOSES" in out and "model's" in out
    code, out, _ = run(*arguments, *WHOLE_NUMBERS, "--json")
    (verdict,) = json.loads(out)
    assert (code, verdict["ok"], verdict["mismatches"], verdict["real_accuracy"]) == (1, False, 0, 1.0)
    assert verdict["lost"]


def test_labels_that_are_no_classes_are_one_sentence(run, folder, tmp_path):
    sentence = (
        "error: none of the labels ('on', 'off') is a class of the model ('still', 'moving'); name the column that "
        "holds the labels, or leave them out (--label)\n"
    )
    code, out, err = run("verify", folder / "in_g.safetensors", folder / "other.csv", "--device", "host")
    assert (code, out, err) == (2, "", sentence)
    calibrate = ("--dtype", "q7", "--calibrate", folder / "other.csv", "-o", tmp_path / "new")
    assert run("export", folder / "in_g.safetensors", *calibrate) == (2, "", sentence)


@pytest.mark.parametrize("command", ["verify", "bench"])
def test_every_table_names_who_made_it(run, folder, command):
    require("host")
    rows = [folder / "rows.csv"] if command == "verify" else []
    arguments = (command, folder / "in_g.safetensors", *rows, "--device", "host")
    maker = DEVICES["host"].made_by(measuring=command == "bench")
    assert run(*arguments).out.endswith(f"\nhost: made by {maker}\n")
    (record,) = json.loads(run(*arguments, "--json").out)
    assert record["made_by"] == maker


def test_devices_made_by_the_same_share_a_line(run, folder):
    require("cortex-m3")
    out = run("bench", folder / "in_g.safetensors", "--device", "cortex-m3,cortex-m4f").out
    assert out.endswith(f"\ncortex-m3, cortex-m4f: made by {DEVICES['cortex-m3'].made_by()}\n")


def test_without_onnx_runtime_nothing_claims_to_be_it(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # what cannot be imported is not installed
    entries = {entry["name"]: entry for entry in json.loads(run("list", "devices", "--json").out)}
    assert "pip install onnxruntime" in entries["onnxruntime"]["missing"]
    assert entries["onnxruntime"]["made_by"] is None
    assert entries["onnx-reference"]["made_by"].startswith("onnx.reference 1.")
    arguments = ("verify", folder / "in_g.safetensors", folder / "rows.csv", "--target", "onnx")
    (verdict,) = json.loads(run(*arguments, "--json").out)
    assert (verdict["device"], verdict["ok"]) == ("onnx-reference", True)
    assert verdict["made_by"].startswith("onnx.reference 1.")
    assert "onnxruntime" not in run(*arguments).out
    assert run(*arguments, "--device", "onnxruntime").code == 2


def test_undecided_rows_are_shown_in_a_column_and_a_sentence(run, folder, monkeypatch):
    from sparsegen import verify

    tied = verify.Verdict("c", "host", 60, 0, 1e-7, 1e-7, 0.9, undecided=3, largest_tie=2e-9, made_by="gcc 12.2.0")
    monkeypatch.setattr(verify, "verify", lambda *args, **options: [tied])
    code, out, _ = run("verify", folder / "in_g.safetensors", folder / "rows.csv")
    assert code == 0
    assert "decided" in out
    assert "host: undecided: 3 of 60 rows, where the model prefers its class by at most 2.001e-09" in out


def test_the_demo_names_who_made_each_device_once(capsys):
    from sparsegen.bench import Cost
    from sparsegen.cli.demo import print_demo
    from sparsegen.demo import DemoRow
    from sparsegen.devices import Measurement
    from sparsegen.model.confusion import Confusion
    from sparsegen.promised import Accuracy
    from sparsegen.training.report import TrainingReport
    from sparsegen.verify import Verdict

    counts = Confusion.of_matrix([[49_998, 2], [0, 50_000]])
    report = TrainingReport(IN_G, IN_G, Accuracy(99_998, 100_000), counts, 100, 1.0, None, ())
    costs = [Cost("host", Measurement(1, 2, 3.0, 4.0), 5, made_by="gcc 12.2.0 and valgrind")]
    ran = [("host", "gcc 12.2.0"), ("onnx-reference", "onnx.reference 1.18.0")]
    verdicts = [Verdict("c", device, 50, 0, 0.0, 0.0, 1.0, made_by=maker) for device, maker in ran]
    print_demo([DemoRow("SLMC", report, report.accuracy, 5, costs, verdicts)], Path("demo"), as_json=False)
    out = capsys.readouterr().out
    assert "99.99 %" in out
    assert "onnxruntime" not in out
    assert out.endswith("\nhost: made by gcc 12.2.0 and valgrind\nonnx-reference: made by onnx.reference 1.18.0\n")
