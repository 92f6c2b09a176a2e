"""--dtype, --input, --calibrate and --max-loss as a user meets them. Everything goes through main()."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c_programs import any_compiler, compile_c
from golden_models import SMALL, rows

from sparsegen import data
from sparsegen.devices import DEVICES
from sparsegen.kernels import KERNELS
from sparsegen.model import Transform
from sparsegen.training import train as training


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Digits in 12 vectors, and small hand-written models."""
    from sklearn.datasets import load_digits

    folder = tmp_path_factory.mktemp("formats")
    X, y = load_digits(return_X_y=True)
    names = ",".join(f"p{j}" for j in range(64))
    for file, part in (("train.csv", slice(0, 900)), ("test.csv", slice(900, None))):
        lines = [",".join(map(str, [*row.astype(int), label])) for row, label in zip(X[part], y[part], strict=True)]
        (folder / file).write_text(f"{names},label\n" + "\n".join(lines) + "\n")
    parameters = {"n_vectors": 20, "max_iter": 3}
    report = training.train(data.read(folder / "train.csv"), data.read(folder / "test.csv"), parameters=parameters)
    report.model.save(folder / "digits.safetensors")
    for name in ("binary_rbf", "poly"):
        SMALL[name].save(folder / f"{name}.safetensors")
    of = SMALL["binary_rbf"]
    text = "width,length,size,label\n" + "".join(
        f"{','.join(map(str, row))},{label}\n"
        for row, label in zip(rows(of).tolist(), of.predict(rows(of)), strict=True)
    )
    (folder / "rows.csv").write_text(text.replace("width,length,size", 'width,"a ""quoted"" */ name",größe'))
    (folder / "narrow.csv").write_text("width,label\n1,0\n2,1\n")
    return folder


def require(device):
    if DEVICES[device].missing() is not None:
        pytest.skip(f"{device}: {DEVICES[device].missing()}")


def test_digits_agree_with_the_simulator_on_every_row(run, folder):
    require("host")
    code, out, err = run(
        "verify", folder / "digits.safetensors", folder / "test.csv", "--dtype", "q7,q15", "--device", "host", "--json"
    )
    assert (code, err) == (0, "")
    verdicts = json.loads(out)
    assert [v["dtype"] for v in verdicts] == ["q7", "q15"]
    for verdict in verdicts:
        assert (verdict["rows"], verdict["mismatches"], verdict["max_difference"], verdict["ok"]) == (897, 0, 0.0, True)
        assert verdict["same_labels"] > 0.97


def test_verify_shows_the_format_and_how_many_labels_stay(run, folder):
    require("host")
    code, out, _ = run(
        "verify", folder / "binary_rbf.safetensors", folder / "rows.csv", "--dtype", "f32,q7", "--device", "host"
    )
    assert code == 0
    assert re.search(r"c export \(f32\) against Python.*host\W+ok", out, re.DOTALL)
    assert re.search(r"c export \(q7\) against its simulator.*host\W+ok.* 100\.00 %", out, re.DOTALL)


@pytest.mark.parametrize("reads", ["f32", "raw-int16", "raw-uint8", "grid"])
def test_export_of_digits_reads_what_it_is_told_to(run, folder, tmp_path, reads):
    code, out, err = run("export", folder / "digits.safetensors", "--dtype", "q7", "--input", reads, "--calibrate",
                         folder / "train.csv", "--name", "digits", "-o", tmp_path, "--json")  # fmt: skip
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["dtype"] == "q7"
    assert set(document["promises"]) == {"range", "score error", "label", "overflow", "agreement", "lead", "proved"}
    assert "of 900 calibration rows keep their label" in document["promises"]["agreement"]
    kind = {"f32": "float", "raw-int16": "int16_t", "raw-uint8": "uint8_t", "grid": "uint8_t"}[reads]
    assert f"void digits_scores(const {kind} *x, int32_t *scores);" in (tmp_path / "digits.h").read_text()
    built = compile_c(
        any_compiler(), "-std=c99", tmp_path / "digits.c", tmp_path / "example_main.c", "-o", tmp_path / "example"
    )
    assert built.returncode == 0, built.stderr
    assert b"self-test ok" in subprocess.run([tmp_path / "example"], capture_output=True, check=True).stdout


def test_export_prints_what_it_promises(run, folder, tmp_path):
    code, out, _ = run("export", folder / "binary_rbf.safetensors", "--dtype", "q15", "-o", tmp_path)
    assert code == 0
    assert "bytes of tables, q15" in out
    for subject in (
        "range: ",
        "score error: at most",
        "label: the real-valued model's",
        "overflow: ruled",
        "agreement: ",
    ):
        assert f"\n{subject}" in out


def test_calibration_rows_set_the_scales(run, folder, tmp_path):
    for name, options in (("without", ()), ("with", ("--calibrate", folder / "rows.csv"))):
        assert (
            run("export", folder / "binary_rbf.safetensors", "--dtype", "q7", *options, "-o", tmp_path / name)[0] == 0
        )
    assert (tmp_path / "with" / "model.c").read_bytes() != (tmp_path / "without" / "model.c").read_bytes()
    header = (tmp_path / "with" / "model.h").read_text()
    assert "of 40 calibration rows keep their label, 0.00 points of accuracy are lost" in header


def test_a_device_chooses_its_loops(run, folder, tmp_path):
    for device, words in (
        ("cortex-m4f", ["__ARM_FEATURE_DSP", "__asm__"]),
        ("atmega328p", ["__asm__"]),
        ("cortex-m0plus", []),
    ):
        assert (
            run("export", folder / "digits.safetensors", "--dtype", "q7", "--device", device, "-o", tmp_path / device)[
                0
            ]
            == 0
        )
        source = (tmp_path / device / "model.c").read_text()
        assert [w for w in ("__ARM_FEATURE_DSP", "__asm__") if w in source] == words


@pytest.mark.parametrize(("loss", "dtype"), [("100", "q7c8"), ("-101", "f32")])
def test_auto_takes_the_smallest_format_that_loses_little_enough(run, folder, tmp_path, loss, dtype):
    code, out, _ = run("export", folder / "binary_rbf.safetensors", "--dtype", "auto", "--max-loss", loss,
                       "--calibrate", folder / "rows.csv", "-o", tmp_path, "--json")  # fmt: skip
    assert code == 0
    assert json.loads(out)["dtype"] == dtype


def test_auto_of_a_kernel_without_integers_is_float32(run, folder, tmp_path):
    code, out, _ = run("export", folder / "poly.safetensors", "--dtype", "auto", "-o", tmp_path, "--json")
    assert code == 0
    assert json.loads(out)["dtype"] == "f32"


def test_bench_measures_every_format(run, folder):
    require("cortex-m0plus")
    code, out, err = run(
        "bench", folder / "binary_rbf.safetensors", "--dtype", "f32,q7", "--device", "cortex-m0plus", "--json"
    )
    assert (code, err) == (0, "")
    real, small = json.loads(out)
    assert small["instructions"] < 0.2 * real["instructions"]
    assert small["table_bytes"] < real["table_bytes"] + 60


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("export", "--dtype", "q8"), "--dtype 'q8' is unknown (did you mean 'q7c8'?); choose from: f32, q15, q7,"),
        (("export", "--dtype", "q7,q15"), "one number format, but --dtype is 'q7,q15'; export once for each"),
        (("export", "--dtype", "q7", "--input", "raw"), "--input 'raw' is unknown"),
        (("export", "--input", "grid"), "float32 exports read f32 and never stop early; choose --dtype"),
        (("export", "--dtype", "q7", "--max-loss", "1"), "--max-loss goes with --dtype auto; give both or neither"),
        (("export", "--dtype", "q7", "--calibrate", "missing.csv"), "missing.csv"),
        (("export", "--dtype", "q7", "--calibrate", "narrow.csv"), "narrow.csv"),
        (("export", "--dtype", "q7", "--target", "onnx"), "holds float32 only; export integers as C (--target c)"),
        (("export", "--dtype", "q7", "--device", "cortex-m4"), "there is no device 'cortex-m4'"),
        (("export", "--dtype", "auto", "--input", "grid", "--max-loss", "-101"), "no integer format loses at most"),
        (("export", "--dtype", "auto", "--input", "grid", "--max-loss", "-101"), "(--max-loss, --input f32)\n"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence_and_write_nothing(run, folder, tmp_path, arguments, sentence):
    command, *options = (folder / word if word.endswith(".csv") else word for word in arguments)
    code, out, err = run(command, folder / "binary_rbf.safetensors", *options, "-o", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert not (tmp_path / "new").exists()


def test_a_kernel_without_integers_is_one_sentence(run, folder, tmp_path):
    code, _, err = run("export", folder / "poly.safetensors", "--dtype", "q7", "-o", tmp_path)
    assert (code, err) == (2, "error: the kernel poly has no integer form; export it as float32 (--dtype f32)\n")


def test_a_device_that_differs_is_exit_code_1(run, folder, monkeypatch):
    require("host")
    host = DEVICES["host"]
    right = host.run

    def wrong(export, X):
        out = right(export, X)
        out.scores[3, 0] += 1
        return out

    monkeypatch.setattr(host, "run", wrong)
    code, out, _ = run(
        "verify", folder / "binary_rbf.safetensors", folder / "rows.csv", "--dtype", "q7", "--device", "host", "--json"
    )
    assert code == 1
    (verdict,) = json.loads(out)
    assert (verdict["mismatches"], verdict["ok"]) == (1, False)
    assert 0.0 < verdict["max_difference"] < 1e-3
    assert np.isclose(verdict["same_labels"], 1.0)


@pytest.mark.parametrize("command", ["export", "verify", "bench", "flash"])
def test_a_model_that_float32_cannot_compute_is_refused_by_every_command(command, run, folder, tmp_path):
    """Its self-test would fail on the device."""
    of = SMALL["binary_rbf"]
    offset = Transform(np.full(of.n_features, 1.0 / 3.0), np.ones(of.n_features))
    narrow = replace(of, kernels=(KERNELS["rbf"].bind(gamma=1e14),), transform=offset)
    narrow.save(tmp_path / "narrow.safetensors")
    more = {
        "export": ["--target", "c", "-o", tmp_path / "out"], "verify": [folder / "rows.csv", "--device", "host"],
        "bench": ["--device", "host"], "flash": ["--board", "uno", "--emulate"],
    }  # fmt: skip
    code, out, err = run(command, tmp_path / "narrow.safetensors", *more[command])
    assert (code, out) == (2, "")
    assert "so its self-test would fail on every device; rescale the features" in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
