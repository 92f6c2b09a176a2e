"""The command as a user meets it: what it prints, where, and with which exit code. Everything goes through main()."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from command_line import Ended, Run

from sparsegen import data
from sparsegen.model import SparseModel
from sparsegen.training import tasks
from sparsegen.training import train as training

ODD_LABELS = ("[red]x[/red]", "[/]", ":smile:", 'a,"b')
QUICK = ("--set", "max_iter=3")


def table_width(text: str) -> int:
    """Return how many columns the tables in an output take; sentences below them may be longer."""
    return max(len(line.rstrip()) for line in text.splitlines() if "┃" in line or "│" in line)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data in several shapes, good and bad, and a model trained on the good."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 2.0 * y[:, None]
    rows = [[f"{value:.4f}" for value in row] for row in X]
    names = ["ax", "ay", "az", "temp"]
    labels = [("rest", "walk", "run")[k] for k in y]

    def write(
        file: str, header: list[str], body: list[list[str]], separator: str = ",", encoding: str = "utf-8"
    ) -> None:
        with (folder / file).open("w", newline="", encoding=encoding) as handle:
            csv.writer(handle, delimiter=separator).writerows([header, *body])

    last = [[*row, label] for row, label in zip(rows, labels, strict=True)]
    write("good.csv", [*names, "label"], last)
    write("semicolons.csv", [*names, "label"], last, ";")
    write("tabs.tsv", [*names, "label"], last, "\t")
    write("bom.csv", [*names, "label"], last, encoding="utf-8-sig")
    write("first.csv", ["label", *names], [[row[-1], *row[:-1]] for row in last])
    write("unlabelled.csv", names, rows)
    write("integers.csv", [*names, "label"], [[*row, str(k)] for row, k in zip(rows, y, strict=True)])
    write("odd.csv", [*names, "label"], [[*row, ODD_LABELS[i % 4]] for i, row in enumerate(rows)])
    write("constant.csv", [*names, "label"], [["5", *row[1:]] for row in last])
    write("narrow.csv", ["ax", "ay", "label"], [[*row[:2], row[-1]] for row in last])
    write("other.csv", ["p", "q", "r", "s", "label"], last)
    write("unseen.csv", [*names, "label"], [*last, [*rows[0], "swim"]])
    write("lonely.csv", [*names, "label"], [*last[:3], *last])
    write("few.csv", [*names, "label"], last[:4])
    write("pair.csv", [*names, "label"], last[:2])
    write("one_class.csv", [*names, "label"], [[*row, "rest"] for row in rows])
    write("words.csv", [*names, "label"], [["hot", *last[0][1:]], *last])
    write("nan.csv", [*names, "label"], [["nan", *last[0][1:]], *last])
    write("ragged.csv", [*names, "label"], [*last, ["1", "2"]])
    (folder / "empty.csv").write_text("")
    (folder / "corrupt.safetensors").write_bytes(b"\x10" + bytes(40))
    (folder / "subfolder").mkdir()
    good = data.read(folder / "good.csv")
    training.train(good, good, parameters={"n_vectors": 4, "max_iter": 3}).model.save(folder / "good.safetensors")
    return folder


# ---- Good input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("good.csv", ()),
        ("semicolons.csv", ()),
        ("tabs.tsv", ()),
        ("bom.csv", ()),
        ("first.csv", ("--label", "label")),
        ("first.csv", ("--label", "0")),
    ],
)
def test_train_reads_every_table_alike(run: Run, folder: Path, tmp_path: Path, file: str, options: tuple[str]) -> None:
    model = tmp_path / "m.safetensors"
    ended = run("train", folder / file, *options, "--vectors", 4, *QUICK, "-o", model, "--json")
    assert (ended.code, ended.err) == (0, "")
    document = json.loads(ended.out)
    assert document["classes"] == ["rest", "run", "walk"]
    assert (document["vectors"], document["features"], document["train_rows"], document["test_rows"]) == (4, 4, 45, 15)
    assert document["model"] == str(model)
    assert document["table_bytes"] > 0
    assert SparseModel.load(model).card["feature_names"] == ["ax", "ay", "az", "temp"]


def test_train_prints_a_table_and_is_quiet_in_a_pipe(run: Run, folder: Path, tmp_path: Path) -> None:
    ended = run("train", folder / "integers.csv", "--ratio", 0.2, *QUICK, "-o", tmp_path / "new" / "m.safetensors")
    assert (ended.code, ended.err) == (0, "")
    assert "test accuracy" in ended.out
    assert "bytes of flash" in ended.out
    assert SparseModel.load(tmp_path / "new" / "m.safetensors").classes == (0, 1, 2)


def test_train_with_a_test_file(run: Run, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.safetensors"
    ended = run("train", folder / "good.csv", "--test-data", folder / "bom.csv", *QUICK, "-o", model, "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["test_rows"] == 60


def test_warnings_stay_out_of_the_json(run: Run, folder: Path, tmp_path: Path) -> None:
    ended = run("train", folder / "constant.csv", *QUICK, "-o", tmp_path / "m.safetensors", "--json")
    assert ended.err == "warning: constant features carry no information: ax; drop them for a smaller model\n"
    assert json.loads(ended.out)["warnings"] == [ended.err.removeprefix("warning: ").strip()]


def test_auto_is_reported_in_table_json_and_card(run: Run, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.safetensors"
    arguments = ("train", folder / "good.csv", "--vectors", 3, "--C", "auto", "--gamma", "scale", *QUICK, "-o", model)
    search = json.loads(run(*arguments, "--json").out)["search"]
    assert len(search["candidates"]) == 4
    assert set(search["chosen"]) == {"C"}
    assert SparseModel.load(model).card["search"] == search
    shown = run(*arguments).out
    assert "best of 4, 3-fold cross-validation on 45 rows" in shown
    assert "chosen" in run("inspect", model).out


def test_predict_writes_csv_json_and_a_file(run: Run, folder: Path, tmp_path: Path) -> None:
    model = folder / "good.safetensors"
    lines = run("predict", model, folder / "unlabelled.csv").out.splitlines()
    assert lines[0] == "label,score_rest,score_run,score_walk"
    assert len(lines) == 61
    document = json.loads(run("predict", model, folder / "good.csv", "--json").out)
    assert [line.split(",")[0] for line in lines[1:]] == document["labels"]
    target = tmp_path / "p.csv"
    summary = json.loads(run("predict", model, folder / "good.csv", "-o", target, "--json").out)
    assert summary["rows"] == 60
    assert 0.5 < summary["accuracy"] <= 1.0
    assert target.read_text().splitlines() == lines
    assert f"wrote {target}: 60 rows" in run("predict", model, folder / "good.csv", "-o", target).out


def test_export_prints_a_command_that_can_be_pasted(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "with space"
    ended = run("export", folder / "good.safetensors", "--name", "gait", "-o", out)
    assert ended.code == 0
    assert {file.name for file in out.iterdir()} == {"gait.c", "gait.h", "example_main.c"}
    assert f"use: cd '{out}' && cc " in ended.out
    document = json.loads(run("export", folder / "good.safetensors", "--target", "onnx", "-o", out, "--json").out)
    assert document["files"] == [str(out / "model.onnx")]
    assert (out / "model.onnx").exists()


def test_an_onnx_graph_has_options_of_its_own(run: Run, folder: Path, tmp_path: Path) -> None:
    options = ("--target", "onnx", "--opset", "9", "--integer-labels", "--float64")
    assert run("export", folder / "good.safetensors", *options, "-o", tmp_path).code == 0
    graph = onnx.load(tmp_path / "model.onnx")
    assert graph.opset_import[0].version == 9
    assert graph.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    assert {entry.key: entry.value for entry in graph.metadata_props}["labels"] == "indices"
    arguments = ("verify", folder / "good.safetensors", folder / "good.csv", *options, "--device", "onnx-reference")
    (verdict,) = json.loads(run(*arguments, "--json").out)
    assert (verdict["target"], verdict["ok"], verdict["mismatches"]) == ("onnx", True, 0)


def test_verify_and_bench_on_this_computer(run: Run, folder: Path) -> None:
    if next(device for device in _list(run, "devices") if device["name"] == "host")["missing"] is not None:
        pytest.skip("no C compiler here")
    arguments = (folder / "good.safetensors", folder / "good.csv", "--device", "host,host")
    ended = run("verify", *arguments, "--json")
    (verdict,) = json.loads(ended.out)
    assert ended.code == 0
    assert (verdict["rows"], verdict["mismatches"], verdict["ok"]) == (60, 0, True)
    table = run("verify", *arguments).out
    assert table_width(table) <= 80
    (cost,) = json.loads(run("bench", folder / "good.safetensors", "--device", "host", "--json").out)
    assert cost["device"] == "host"
    assert cost["table_bytes"] > 0
    with_data = run("bench", folder / "good.safetensors", "--device", "host", "--data", folder / "good.csv")
    assert "instruc-" in with_data.out
    assert table_width(with_data.out) <= 80


def test_a_mismatch_exits_with_1(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsegen import verify

    wrong = verify.Verdict("c", "host", 60, 2, float("inf"), float("inf"), None)
    monkeypatch.setattr(verify, "verify", lambda *args, **options: [wrong])
    ended = run("verify", folder / "good.safetensors", folder / "good.csv")
    assert ended.code == 1
    assert "DIFFERS" in ended.out
    ended = run("verify", folder / "good.safetensors", folder / "good.csv", "--json")
    assert ended.code == 1
    assert json.loads(ended.out, parse_constant=pytest.fail)[0]["max_difference"] is None


def test_inspect_shows_the_card_and_draws(run: Run, folder: Path, tmp_path: Path) -> None:
    model = folder / "good.safetensors"
    card = json.loads(run("inspect", model, "--json").out)
    assert card["sha256"] == SparseModel.load(model).sha256
    assert card["coefficients"] == "beta = Kz^-1 Kzx Y alpha_z [W05, eq. 33]; no m x m matrix is stored"
    shown = run("inspect", model, "--image", "2x2").out
    assert "rest, run, walk" in shown
    assert "beta = Kz^-1 Kzx Y alpha_z [W05, eq. 33]" in shown
    assert "█" in shown
    assert run("inspect", model, "--image", "2x2", "-o", tmp_path / "z.png").code == 0
    assert (tmp_path / "z.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["one", "named", "unnamed"])
def test_bench_says_loudly_what_does_not_fit(
    run: Run, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sparsegen import bench
    from sparsegen.devices import Measurement, Profile

    tiny = Profile("ATtiny85", 8_000_000, 8192, 512)
    small = bench.Cost("atmega328p", Measurement(5000, 60, None, None, 40_000.0, None, 48_000), 4000, tiny, 64)
    large = bench.Cost("attiny85", Measurement(9000, 60, None, None), 8000, tiny, 64)
    monkeypatch.setattr(bench, "bench", lambda *args, **options: [large] if name == "one" else [small, large])
    device = [] if name == "unnamed" else ["--device", "attiny85"]
    ended = run("bench", folder / "good.safetensors", *device)
    kind = "warning" if name == "unnamed" else "error"
    assert ended.code == (0 if name == "unnamed" else 1)
    assert ended.err.startswith(
        f"{kind}: the model does not fit device attiny85 (ATtiny85): it needs at least 9,000 bytes"
    )
    assert "of flash, and there are 8,192; use fewer" in ended.err and ended.err.count("\n") == 1
    assert "9,000" in ended.out and "110 %" in ended.out
    assert table_width(ended.out) <= 80
    document = json.loads(run("bench", folder / "good.safetensors", *device, "--json").out)
    assert document[-1]["problem"] in ended.err
    assert document[-1]["profile"]["flash_bytes"] == 8192
    if name != "one":
        assert (document[0]["milliseconds"], document[0]["worst_milliseconds"], document[0]["problem"]) == (5, 6, None)
        assert document[0]["ram_share"] == 124 / 512
        assert "62 %" in ended.out and "25 %" in ended.out


def test_verify_leaves_out_what_does_not_fit_with_a_sentence(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import warnings

    from sparsegen import verify
    from sparsegen.errors import FitError, FitWarning

    good = verify.Verdict("c", "host", 60, 0, 0.0, 0.0, None)

    def verify_some(*args: object, devices: object, **options: object) -> list[verify.Verdict]:
        if devices is not None:
            raise FitError("model does not fit device attiny85")
        warnings.warn("attiny85 is left out: model does not fit", FitWarning, stacklevel=1)
        return [good]

    monkeypatch.setattr(verify, "verify", verify_some)
    ended = run("verify", folder / "good.safetensors", folder / "good.csv")
    assert (ended.code, ended.err) == (0, "warning: attiny85 is left out: model does not fit\n")
    named = run("verify", folder / "good.safetensors", folder / "good.csv", "--device", "attiny85")
    assert_refused(named, "model does not fit device attiny85")


def test_list_devices_shows_the_part_and_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsegen.devices import DEVICES

    monkeypatch.setattr(DEVICES["attiny85"], "missing", lambda: "simavr not found; install it")
    monkeypatch.setattr(DEVICES["atmega328p"], "missing", lambda: None)
    monkeypatch.setattr(DEVICES["atmega328p"], "made_by", lambda measuring: "a simulator")
    lines = {line.split("│")[1].strip(): line for line in run("list", "devices").out.splitlines() if "│" in line}
    assert "ATtiny85: 8 MHz, 8 KB flash, 512 B RAM" in lines["attiny85"]
    assert "no: simavr not found; install it" in lines["attiny85"]
    assert "yes, with a simulator" in lines["atmega328p"]
    entries = {entry["name"]: entry for entry in _list(run, "devices")}
    assert (entries["atmega328p"]["clock_hz"], entries["atmega328p"]["ram_bytes"]) == (16_000_000, 2048)
    assert entries["host"]["part"] is None
    assert (entries["atmega328p"]["made_by"], entries["attiny85"]["made_by"]) == ("a simulator", None)
    assert all((entry["flash_bytes"] is None) == (DEVICES[name].profile is None) for name, entry in entries.items())


@pytest.mark.parametrize("what", ["methods", "kernels", "targets", "devices"])
def test_list(run: Run, what: str) -> None:
    entries = _list(run, what)
    shown = run("list", what).out
    assert entries
    assert all(entry["name"] in shown for entry in entries)


def test_odd_labels_and_paths_print_as_they_are(run: Run, folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "[bold]m[" / "[/].safetensors"
    ended = run("train", folder / "odd.csv", *QUICK, "-o", model)
    assert (ended.code, ended.err) == (0, "")
    assert f"saved to {model}" in ended.out
    shown = run("inspect", model).out
    assert all(label in shown for label in ODD_LABELS)
    predicted = list(csv.reader(run("predict", model, folder / "odd.csv").out.splitlines()))
    assert {row[0] for row in predicted[1:]} <= set(ODD_LABELS)
    assert run("export", model, "-o", tmp_path / "[red]").out.startswith(f"wrote {tmp_path / '[red]' / 'model.c'}")


def test_demo_prints_tables_that_fit_80_columns(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsegen import bench, demo, verify
    from sparsegen.devices import Measurement

    cost = bench.Cost("cortex-m0plus", Measurement(155_840, 10_240, 5_634_550.0, 1234.56), 154_240)
    good = verify.Verdict("c", "cortex-m0plus", 599, 0, 1e-6, 1e-6, 0.98)
    monkeypatch.setattr(demo, "DEVICE_ORDER", ("host",))
    monkeypatch.setattr(demo, "bench_exports", lambda *args, **options: [cost])
    for stand_in in ("verify", "verify_exports"):
        monkeypatch.setattr(demo, stand_in, lambda *args, **options: [good])
    monkeypatch.setattr(demo, "SLMC_PARAMETERS", {"n_vectors": 10, "max_iter": 5})
    ended = run("demo", "-o", tmp_path / "d")
    assert (ended.code, ended.err) == (0, "")
    assert max(len(line) for line in ended.out.splitlines() if "┃" in line or "│" in line) <= 80
    assert {"digits.c", "digits.h", "digits.onnx", "digits.safetensors"} <= {p.name for p in (tmp_path / "d").iterdir()}
    document = json.loads(run("demo", "-o", tmp_path / "d", "--json").out)
    assert [row["model"] for row in document] == ["SLMC", "SLMC, q7", "SVC"]


def test_version(run: Run) -> None:
    assert re.fullmatch(r"sparsegen \d+\S*\n", run("--version").out)


# ---- Bad input -------------------------------------------------------------------------------------------------------

BAD_TRAINING = {
    "--vectors 0": "n_vectors is 0, but must be a whole number >= 1",
    "--vectors -1": "n_vectors is -1, but must be a whole number >= 1",
    "--vectors 100000000": "fewer than the 100000000 vectors",
    "--vectors 99999999999999999999999": "fewer than the",
    "--vectors 46": "has 45 rows for training",
    "--vectors 5 --ratio 0.1": "--vectors and --ratio exclude each other",
    "--ratio 0": "ratio is 0.0, but must be a finite number > 0 and <= 1",
    "--ratio 2": "ratio is 2.0",
    "--ratio nan": "ratio is nan",
    "--gamma -1": "gamma is -1.0, but must be 'scale' or a finite number > 0",
    "--gamma abc": "--gamma is 'abc', but must be a number or scale or auto",
    "--gamma nan": "gamma is nan",
    "--gamma inf": "gamma is inf",
    "--gamma 1e300 --kernel poly": "training broke down",
    "--C 0": "C is 0.0, but must be a finite number > 0",
    "--C abc": "--C is 'abc', but must be a number or auto",
    "--C nan": "C is nan",
    "--C inf": "C is inf",
    "--kernel rbff": "there is no kernel 'rbff' (did you mean 'rbf'?)",
    "--method slcm": "there is no method 'slcm' (did you mean 'slmc'?)",
    "--method svm --vectors 5": "method 'svm' has no parameter 'n_vectors'",
    "--projection 5": "only 4 features",
    "--projection 0": "projection is 0, but must be a whole number >= 1",
    "--scale std": "scale 'std' is unknown (did you mean 'standard'?)",
    "--test-size 0": "between 0 and 1",
    "--test-size 1": "between 0 and 1",
    "--test-size nan": "between 0 and 1",
    "--test-size 0.5 --test-data {f}/good.csv": "--test-size and --test-data exclude each other",
    "--test-data {f}/narrow.csv": "not in narrow.csv",
    "--test-data {f}/other.csv": "not in other.csv",
    "--test-data {f}/unseen.csv": "labels that no training row has: 'swim'",
    "--test-data {f}/integers.csv": "labels that no training row has: 0, 1, 2",
    "--test-data {f}/missing.csv": "there is no file",
    "--test-data {f}/good.csv --seed -1": "the seed must lie between 0 and 4294967295",
    "--seed -1": "the seed must lie between 0 and 4294967295",
    "--seed 4294967296": "the seed must lie between 0 and 4294967295",
    "--label lable": "did you mean 'label'?",
    "--label 7": "column '7' is not in good.csv",
    "--set loss": "must be NAME=VALUE",
    "--set loss=square": "loss is 'square', but must be 'hinge' or 'squared_hinge'",
    "--set los=hinge": "did you mean 'loss'?",
    "--set loss=hinge --set loss=hinge": "given twice",
    "--set n_vectors=3": "has an option of its own",
    "--set random_state=3": "has an option of its own",
    "--set max_iter=0": "max_iter is 0",
    "--set max_iter=[1]": "max_iter is [1]",
    "--set init=[[1,2]]": "init must be an array with 4 columns",
}


@pytest.mark.parametrize(("options", "reason"), BAD_TRAINING.items(), ids=BAD_TRAINING)
def test_bad_options_of_train(run: Run, folder: Path, tmp_path: Path, options: str, reason: str) -> None:
    arguments = options.replace("{f}", str(folder)).split()
    ended = run("train", folder / "good.csv", *arguments, "-o", tmp_path / "out" / "m.safetensors", "--json")
    assert_refused(ended, reason)
    assert list(tmp_path.iterdir()) == []


BAD_DATA = {
    "missing.csv": "there is no file",
    "subfolder": "is a folder",
    "empty.csv": "is empty",
    "ragged.csv": "row 62 of ragged.csv has 2 cells",
    "nan.csv": "row 2, column 'ax' of nan.csv is 'nan'",
    "words.csv": "row 2, column 'ax' of words.csv is 'hot', not a number; encode it as one, drop the column, or "
    "name it as the label column if it holds the classes (--label, --drop)\n",
    "one_class.csv": "one class only ('rest')",
    "pair.csv": "labels that no training row has",
    "few.csv --vectors 5 --test-data {f}/few.csv": "has 4 rows for training, fewer than the 5 vectors",
    "pair.csv --gamma auto --test-data {f}/pair.csv": "needs two training rows of every class",
    "corrupt.safetensors": "unknown suffix",
}


@pytest.mark.parametrize(("options", "reason"), BAD_DATA.items(), ids=BAD_DATA)
def test_bad_data(run: Run, folder: Path, tmp_path: Path, options: str, reason: str) -> None:
    file, *others = options.replace("{f}", str(folder)).split()
    assert_refused(run("train", folder / file, *others, "-o", tmp_path / "m.safetensors"), reason)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options", ["--gamma 1e300", "--gamma 1e-300", "--C 1e300", "--C 1e-300", "--method svm --C 1e300"]
)
def test_extreme_numbers_train_or_are_refused(run: Run, folder: Path, tmp_path: Path, options: str) -> None:
    model = tmp_path / "m.safetensors"
    ended = run("train", folder / "good.csv", *options.split(), "-o", model, "--json")
    if ended.code == 0:
        assert all(line.startswith("warning: ") for line in ended.err.splitlines())
        assert np.isfinite(SparseModel.load(model).scores(np.zeros((1, 4)))).all()
    else:
        assert_refused(ended, "training broke down")
        assert not model.exists()


@pytest.mark.parametrize("command", ["train", "predict", "export"])
@pytest.mark.parametrize("place", ["a folder", "below a file", "a long name"])
def test_outputs_that_cannot_be_written(run: Run, folder: Path, tmp_path: Path, command: str, place: str) -> None:
    (tmp_path / "file").write_text("mine")
    output = {"a folder": tmp_path, "below a file": tmp_path / "file" / "m", "a long name": tmp_path / ("m" * 300)}[
        place
    ]
    if command == "export" and place == "a folder":
        (tmp_path / "model.c").mkdir()
    arguments = {
        "train": (folder / "good.csv", *QUICK),
        "predict": (folder / "good.safetensors", folder / "good.csv"),
        "export": (folder / "good.safetensors",),
    }
    before = sorted(tmp_path.iterdir())
    ended = run(command, *arguments[command], "-o", output)
    assert_refused(ended, "cannot write")
    assert "it is a folder" in ended.err or ended.err.endswith("; choose another place (-o)\n")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(run: Run, folder: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert_refused(run("train", folder / "good.csv", "-o", tmp_path / "m.safetensors"), "cannot write")


BAD_COMMANDS = {
    "predict {f}/missing.safetensors {f}/good.csv": "cannot read model",
    "predict {f}/corrupt.safetensors {f}/good.csv": "not a usable sparsegen model",
    "predict {f}/good.csv {f}/good.csv": "not a usable sparsegen model",
    "predict {f}/subfolder {f}/good.csv": "cannot read model",
    "predict {f}/good.safetensors {f}/narrow.csv": "not in narrow.csv",
    "predict {f}/good.safetensors {f}/missing.csv": "there is no file",
    "predict {f}/good.safetensors {f}/good.csv --label lable": "did you mean 'label'?",
    "export {f}/good.safetensors --target cc -o {o}": "there is no target 'cc' (did you mean 'c'?)",
    "export {f}/good.safetensors --name int -o {o}": "a reserved word of C",
    "export {f}/good.safetensors --name ../x -o {o}": "cannot prefix C symbols",
    "export {f}/good.safetensors --opset 12 -o {o}": "target c has no option 'opset'; only onnx has it (--target onnx)",
    "export {f}/good.safetensors --target arduino --float64 -o {o}": "target arduino has no option 'float64'; only",
    "export {f}/good.safetensors --target onnx --opset 8 -o {o}": "opset 8 is none of 9 to ",
    "verify {f}/good.safetensors {f}/good.csv --integer-labels": "target c has no option 'integer_labels'; only onnx",
    "verify {f}/good.safetensors {f}/good.csv --device hots": "there is no device 'hots' (did you mean 'host'?)",
    "verify {f}/good.safetensors {f}/good.csv --device onnxruntime": "does not run c exports",
    "verify {f}/good.safetensors {f}/good.csv --device ,": "names no device",
    "verify {f}/good.safetensors {f}/good.csv --target onx": "did you mean 'onnx'?",
    "verify {f}/good.safetensors {f}/narrow.csv": "not in narrow.csv",
    "bench {f}/good.safetensors --device cortex-m4": "did you mean 'cortex-m",
    "bench {f}/good.safetensors --label label": "give --data too",
    "bench {f}/good.safetensors --data {f}/narrow.csv": "not in narrow.csv",
    "inspect {f}/good.safetensors --image 3x3": "has 9 pixels, but the model has 4 features",
    "inspect {f}/good.safetensors --image wide": "must be HEIGHTxWIDTH",
    "inspect {f}/good.safetensors -o {o}/x.png": "give their size too",
    "inspect {f}/good.safetensors --image 2x2 --json": "--json prints no drawing",
    "list kernel": "there is no list of 'kernel' (did you mean 'kernels'?)",
}


@pytest.mark.parametrize(("command", "reason"), BAD_COMMANDS.items(), ids=BAD_COMMANDS)
def test_bad_commands(run: Run, folder: Path, tmp_path: Path, command: str, reason: str) -> None:
    arguments = command.replace("{f}", str(folder)).replace("{o}", str(tmp_path / "out")).split()
    assert_refused(run(*arguments), reason)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["train"], ["nonsense"], ["list"], ["train", "x.csv", "--vectors", "many"]])
def test_usage_errors_exit_with_2(run: Run, arguments: list[str]) -> None:
    ended = run(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_no_device_at_all_says_where_to_look(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsegen import verify

    monkeypatch.setattr(verify, "devices_for", lambda runs_as, names: [])
    ended = run("verify", folder / "good.safetensors", folder / "good.csv")
    assert_refused(ended, "no device can run c exports here; what each needs: sparsegen list devices")


def test_running_out_of_memory_is_a_sentence(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhaust(*args: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr(tasks, "train_for", exhaust)
    assert_refused(run("train", folder / "good.csv"), "not enough memory")


def assert_refused(ended: Ended, reason: str) -> None:
    """Check that a mistake gave one sentence on stderr, exit code 2 and nothing else."""
    assert ended.err.startswith("error: "), ended
    assert reason in ended.err
    assert len(ended.err.splitlines()) == 1
    assert (ended.code, ended.out) == (2, "")


# ---- The process around it -------------------------------------------------------------------------------------------


def test_a_reader_that_leaves_early_is_no_error(folder: Path) -> None:
    files = [str(folder / "good.safetensors"), str(folder / "good.csv")]
    command = [sys.executable, "-m", "sparsegen", "predict", *files]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
    assert errors == b""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_of_80_columns_shows_progress_and_whole_tables(folder: Path, tmp_path: Path) -> None:
    import pty

    main, terminal = pty.openpty()
    model = tmp_path / "m.safetensors"
    process = subprocess.Popen(
        [sys.executable, "-m", "sparsegen", "train", folder / "odd.csv", "--C", "auto", *QUICK, "-o", model],
        stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
        env={**os.environ, "COLUMNS": "80", "TERM": "xterm"},
    )  # fmt: skip
    os.close(terminal)
    seen = b""
    try:
        while chunk := os.read(main, 65536):
            seen += chunk
    except OSError:  # Linux says so when the other end is closed
        pass
    finally:
        os.close(main)
    assert process.wait(timeout=60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "choosing scale, gamma and C" in text
    table = [line for line in text.splitlines() if line.startswith(("┏", "│", "└"))]
    assert "test accuracy" in "".join(table)
    assert max(map(len, table)) <= 80


def _list(run: Run, what: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(run("list", what, "--json").out)
    return entries
