"""What commands say of accuracy: by class, with its interval, on held-out rows, and after which training."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

from sparsegen.cli.classes import print_classes
from sparsegen.model import SparseModel
from sparsegen.model.confusion import Confusion

FIXED = ("--gamma", "0.5", "--C", "1", "--vectors", "4", "--set", "max_iter=3")
INTERVAL = r"\(95 % interval \d+\.\d\d to \d+\.\d\d % if rows are independent\)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 160 rows of a common class and 8 of a rare one amid it, in recordings of 4 rows each."""
    folder = tmp_path_factory.mktemp("accuracy")
    rng = np.random.default_rng(5)
    X, rare = rng.normal(size=(168, 3)), np.arange(168) % 21 == 0
    lines = [
        f"{','.join(f'{v:.4f}' for v in row)},{'fault' if is_rare else 'ok'}"
        for row, is_rare in zip(X, rare, strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,label", *lines]) + "\n")
    recorded = [f"rec{i // 4},{line}" for i, line in enumerate(lines)]
    (folder / "recorded.csv").write_text("\n".join(["file,a,b,c,label", *recorded]) + "\n")
    (folder / "new.csv").write_text("a,b,c,label\n1,2,3,ok\n-1,-2,0.5,ok\n")
    return folder


@pytest.fixture
def model(run: Run, folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    assert run("train", folder / "rows.csv", *FIXED, "-o", path).code == 0
    return path


def test_a_class_that_is_missed_is_seen_at_a_glance(run: Run, folder: Path, tmp_path: Path) -> None:
    arguments = ("train", folder / "rows.csv", *FIXED, "-o", tmp_path / "m.safetensors")
    code, out, err = run(*arguments)
    assert code == 0
    assert "the accuracy hides how often some classes are missed: 'fault' (2 of its 2 test rows)" in err
    assert re.search(r"fault +│ +2 │ +- │ +0\.00 % │ +0 │ +2 ", out)
    assert re.search(rf"test accuracy │ 95\.23 % of 42 rows {INTERVAL}", out)
    assert re.search(r"balanced +│ 50\.00 %: the mean recall of the classes", out)
    assert re.search(r"in integers +│ q15 95\.23 %, q7 95\.23 % of these rows, without rows to calibrate on", out)
    document = json.loads(run(*arguments, "--json").out)
    assert document["confusion"] == [[0, 2], [0, 40]]
    assert document["per_class"][0] == {"class": "fault", "rows": 2, "precision": None, "recall": 0.0}
    assert document["balanced_accuracy"] == 0.5
    assert document["accuracy_interval"][0] < document["accuracy"] < document["accuracy_interval"][1]
    assert document["integers"]["q7"]["rows"] == 42


def test_later_commands_measure_on_the_held_out_rows(run: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    sentence = rf"of 168 rows 42 were held out in training; accuracy on those: 95\.23 % {INTERVAL}"
    arguments = (model, folder / "rows.csv")
    assert re.fullmatch(f"{sentence}\n", run("predict", *arguments).err)
    assert re.search(sentence, run("predict", *arguments, "-o", tmp_path / "p.csv").out)
    verified = ("verify", *arguments, "--target", "onnx", "--device", "onnx-reference")
    assert re.search(sentence, run(*verified).out)
    (verdict,) = json.loads(run(*verified, "--json").out)
    assert (verdict["held_out_rows"], verdict["held_out_accuracy"]) == (42, 40 / 42)
    assert "judged" not in verdict
    q7 = ("export", model, "--dtype", "q7", "--calibrate", folder / "rows.csv", "-o", tmp_path / "q7")
    assert run(*q7).code == 0
    header = (tmp_path / "q7" / "model.h").read_text()
    held = r"accuracy: 95\.23 % in q7 \(40 of 42 rows held out in training; the real-valued model: 40\)\n"
    assert re.search(held + r" \* interval: 95 % interval [\d.]+ to [\d.]+ % if rows are independent\n", header)
    f32 = json.loads(run("export", model, "--calibrate", folder / "rows.csv", "-o", tmp_path / "f32", "--json").out)
    assert (f32["held_out_rows"], f32["accuracy"]) == (42, 160 / 168)
    held = r"accuracy: 95\.23 % in Python, as float64 \(40 of 42 rows held out in training"
    assert re.search(held, (tmp_path / "f32" / "model.h").read_text())
    unknown = run("predict", model, folder / "new.csv").err
    assert "of 2 rows (95 % interval" in unknown and "if rows are independent and were never trained on)" in unknown
    assert "none of them is known to be held out in training" in unknown
    documents = json.loads(run("predict", model, folder / "new.csv", "--json").out)
    assert documents["held_out_rows"] is None and documents["accuracy"] is not None


def test_after_the_final_training_no_row_counts_as_held_out(run: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    out = run("train", folder / "rows.csv", *FIXED, "--final", "-o", path).out
    assert "168 rows, test rows included; the accuracies are those before" in out and "95.23 % of 42 rows" in out
    assert json.loads(run("inspect", path, "--json").out)["final_rows"] == 168
    assert "all 168 rows, test rows included; the accuracy is that before" in run("inspect", path).out
    told = run("predict", path, folder / "rows.csv").err
    assert "none was held out: the model was trained at last on all 168 rows of its data" in told
    assert run("export", path, "-o", tmp_path).code == 0
    header = (tmp_path / "model.h").read_text()
    assert "accuracy: 95.23 % on 42 test rows in Python, as float64\n * interval: 95 % interval " in header
    assert "final training: the model was trained at last on all 168 rows, those of the test included, and" in header


def test_test_rows_that_were_trained_on_are_told_wherever_the_accuracy_is(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    """The adversary tests on the training rows: an interval of what was learned by heart is none of other rows."""
    rows, saved = folder / "rows.csv", tmp_path / "m.safetensors"
    given = ("--gamma", "1", "--C", "1", "--vectors", "2", "-o", saved)
    copied = "% if rows are independent, but 168 are copies of training rows"
    assert copied in "".join(run("train", rows, "--test-data", rows, *given).out.split("\n"))
    assert copied in run("inspect", saved).out
    assert run("export", saved, "-o", tmp_path).code == 0
    assert copied in (tmp_path / "model.h").read_text()


def test_groups_stay_together_and_widen_the_interval(run: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    arguments = ("train", folder / "recorded.csv", "--group", "file", *FIXED, "-o", path)
    out = run(*arguments).out
    assert re.search(r"of \d+ rows in \d+ groups \(95 % interval [\d.]+ to [\d.]+ % if groups of rows are indep", out)
    document = json.loads(run(*arguments, "--json").out)
    assert document["features"] == 3 and document["test_groups"] >= 10
    assert document["test_rows"] == 4 * document["test_groups"]
    told = run("predict", path, folder / "recorded.csv").err
    assert f"of 168 rows {document['test_rows']} were held out" in told and "if groups of rows are indep" in told


def test_the_metric_is_named_where_it_chose(run: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    quick = ("--vectors", "2", "--gamma", "0.5", "--set", "max_iter=2", "-o", path)
    out = run("train", folder / "rows.csv", "--metric", "balanced", *quick, "-v").out
    assert "best of 4 by balanced, 3-fold cross-validation on 126 rows" in out
    assert re.search(r"C ┃ balanced", out)
    assert SparseModel.load(path).card["search"]["metric"] == "balanced"
    ended = run("train", folder / "rows.csv", "--metric", "balance", *quick)
    assert ended.code == 2 and "did you mean 'balanced'" in ended.err and ended.err.count("\n") == 1


def test_inspect_opens_with_what_a_person_asks(run: Run, model: Path) -> None:
    out = run("inspect", model).out
    opening = out[: out.index("test rows by class")]
    for told in ("slmc, rbf gamma 0.5, 2 classes: fault, ok", "95.23 % of 42 rows (95 %", "in the test"):
        assert told in opening
    assert re.search(r"size +│ 4 vectors, \d+ bytes of tables as float32 C", opening)
    assert "3 features: a, b, c" in opening
    assert "held_out" not in out and "held out" not in out and "range in the training rows" not in out
    everything = run("inspect", model, "--all").out
    assert re.search(r"2 │ c +│ +-[\d.]+ │ +[\d.]+ ", everything)
    document = json.loads(run("inspect", model, "--json").out)
    assert document["per_class"][1]["class"] == "ok" and document["balanced_accuracy"] == 0.5


def test_quiet_leaves_warnings_and_json_only(run: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    ended = run("train", folder / "rows.csv", *FIXED, "-o", tmp_path / "n.safetensors", "-q")
    assert (ended.code, ended.out) == (0, "") and ended.err.startswith("warning: the accuracy hides")
    assert run("export", model, "-o", tmp_path, "--quiet") == (0, "", "")
    assert json.loads(run("export", model, "-o", tmp_path, "--quiet", "--json").out)["dtype"] == "f32"
    quiet = run("predict", model, folder / "rows.csv", "-q")
    assert quiet.err == "" and quiet.out.startswith("label,score_ok\n")
    assert run("inspect", model).out != ""


@pytest.mark.parametrize("arguments", [("-h",), ("train", "-h"), ("-V",)])
def test_short_forms_that_everybody_tries(run: Run, arguments: tuple[str, ...]) -> None:
    long = [{"-h": "--help", "-V": "--version"}.get(argument, argument) for argument in arguments]
    assert run(*arguments) == run(*long)
    assert run(*arguments).code == 0


def test_shells_complete_commands_and_options(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "_sparsegen_completion" in run("--show-completion", "bash").out
    monkeypatch.setenv("_SPARSEGEN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "sparsegen ins")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run().out.split() == ["inspect"]


def test_a_plain_install_hears_what_else_there_is(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sparsegen.devices import DEVICES

    arguments = ("train", folder / "rows.csv", *FIXED, "-o", tmp_path / "m.safetensors")
    for device in DEVICES.values():
        monkeypatch.setattr(device, "missing", lambda: "not here")
    last = "next: sparsegen export works as it is; verify and bench need: pip install 'sparsegen[devices]'"
    assert run(*arguments).out.splitlines()[-1] == last
    monkeypatch.setattr(DEVICES["host"], "missing", lambda: None)
    assert last not in run(*arguments).out


def test_of_many_classes_the_worst_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    matrix = np.diag(np.full(26, 40))
    matrix[7, 3], matrix[7, 7] = 9, 31
    names = [f"{chr(65 + k)}\x1b[2J" for k in range(26)]
    print_classes(names, Confusion.of_matrix(matrix.tolist()))
    out = capsys.readouterr().out
    assert "the 10 of 26 with the lowest recall" in out and "\x1b" not in out
    assert re.search(r"77\.50 %", out.splitlines()[4])
    assert r"taken for another most often: H\x1b[2J for D\x1b[2J (9 of 40 rows)" in out
    assert max(map(len, out.splitlines())) <= 80
    print_classes(names, Confusion.of_matrix(matrix.tolist()), every=True)
    assert capsys.readouterr().out.count("100.00 %") > 40
    print_classes(["walking up", "walking down", "resting"], Confusion.of_matrix(np.diag(np.full(3, 1000)).tolist()))
    out = capsys.readouterr().out
    assert re.search(r"┃ walking up ┃ walking d\. ┃ +resting ┃", out), "the matrix tells the two apart"
    print_classes(names[:10], Confusion.of_matrix(matrix[:10, :10].tolist()))
    out = capsys.readouterr().out
    assert "what the test rows of each class are taken for" in out and max(map(len, out.splitlines())) <= 160
    print_classes(range(10), Confusion.of_matrix(np.diag(np.full(10, 1000)).tolist()))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
