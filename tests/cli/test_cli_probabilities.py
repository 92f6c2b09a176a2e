"""Probabilities on the command line: trained, shown, predicted, exported, refused where there are none."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from golden_models import SMALL, rows
from reference import Rows

from sparsegen.model import SparseModel

MODEL = SMALL["temperature"]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    MODEL.save(path)
    return path


@pytest.fixture
def unlabelled(tmp_path: Path) -> Path:
    path = tmp_path / "rows.npz"
    np.savez(path, X=rows(MODEL))
    return path


def test_train_learns_them_and_says_how_good_they_are(run: Run, two_classes: Rows, tmp_path: Path) -> None:
    X, y = two_classes
    data, model = tmp_path / "data.npz", tmp_path / "m.safetensors"
    np.savez(data, X=X, y=y)
    given = ("train", data, "--method", "svm", "--gamma", "1", "--C", "1", "-o", model)
    ended = run(*given, "--probability")
    assert ended.code == 0, ended.err
    assert "log loss 0." in ended.out and "class shares alone: 0.6932" in ended.out
    loaded = SparseModel.load(model)
    assert loaded.calibration is not None and loaded.calibration.kind == "platt"
    assert loaded.card["probabilities"]["rows"] == 30
    assert loaded.card["probabilities"]["log_loss"] < 0.8 * loaded.card["probabilities"]["prior_log_loss"]
    shown = json.loads(run("inspect", model, "--json").out)
    assert shown["calibration"] == {"kind": "platt", "slope": loaded.calibration.slope, "offset": 0.0}
    assert "calibration" in run("inspect", model).out
    assert run(*given).code == 0
    assert "log loss" not in run(*given).out


def test_predict_writes_a_column_per_class(run: Run, saved: Path, unlabelled: Path) -> None:
    header, *lines = csv.reader(run("predict", saved, unlabelled).out.splitlines())
    assert header == ["label", *(f"{what}_{k}" for what in ("score", "probability") for k in range(3))]
    found = np.array([[float(p) for p in line[4:]] for line in lines])
    np.testing.assert_allclose(found, MODEL.probabilities(rows(MODEL)), rtol=1e-12)
    assert [int(line[0]) for line in lines] == MODEL.predict(rows(MODEL)).tolist()
    document = json.loads(run("predict", saved, unlabelled, "--json").out)
    assert np.array(document["probabilities"]).shape == (len(lines), 3)


def test_predict_leaves_unsure_labels_empty(run: Run, saved: Path, unlabelled: Path, tmp_path: Path) -> None:
    expected = MODEL.predict_or_reject(rows(MODEL), 0.7)
    texts = ["" if index < 0 else str(index) for index in expected.tolist()]
    ended = run("predict", saved, unlabelled, "--reject", "0.7")
    assert [line[0] for line in list(csv.reader(ended.out.splitlines()))[1:]] == texts
    labels = json.loads(run("predict", saved, unlabelled, "--reject", "0.7", "--json").out)["labels"]
    assert labels == [None if index < 0 else index for index in expected.tolist()]
    told = run("predict", saved, unlabelled, "--reject", "0.7", "-o", tmp_path / "out.csv").out
    assert f"{texts.count('')} without a label" in told and "wrong" not in told


def test_rows_without_a_label_count_as_wrong_and_it_is_said(run: Run, saved: Path, tmp_path: Path) -> None:
    labelled, unknown = tmp_path / "rows.npz", np.count_nonzero(MODEL.predict_or_reject(rows(MODEL), 0.7) < 0)
    np.savez(labelled, X=rows(MODEL), y=MODEL.predict(rows(MODEL)))
    assert unknown > 1
    sentence = f"{unknown} of {len(rows(MODEL))} rows have no label, and count as wrong"
    assert sentence in run("predict", saved, labelled, "--reject", "0.7").err
    assert "count as wrong" not in run("predict", saved, labelled).err
    told = run("predict", saved, labelled, "--reject", "0.7", "-o", tmp_path / "out.csv").out
    assert f"{unknown} without a label, which count as wrong" in told


def test_export_adds_the_rejecting_prediction(run: Run, saved: Path, tmp_path: Path) -> None:
    for target in ("c", "onnx"):
        ended = run("export", saved, "--reject", "0.8", "--target", target, "-o", tmp_path / target)
        assert ended.code == 0, ended.err
    assert "int model_predict_or_reject(" in (tmp_path / "c" / "model.h").read_text()
    assert b"predict_or_reject" in (tmp_path / "onnx" / "model.onnx").read_bytes()
    shown = json.loads(run("export", saved, "--dtype", "q7", "-o", tmp_path / "q7", "--json").out)
    assert shown["promises"]["probabilities"].startswith("in range, each is within")


def test_verify_shows_the_difference_of_probabilities(run: Run, saved: Path, unlabelled: Path) -> None:
    ended = run("verify", saved, unlabelled, "--target", "onnx", "--device", "onnx-reference")
    assert ended.code == 0, ended.err
    assert "|probability" in ended.out


def test_what_cannot_be_is_one_sentence(run: Run, saved: Path, unlabelled: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.safetensors"
    SMALL["laplacian_text"].save(plain)
    for arguments, said in (
        (("export", plain, "--reject", "0.8"), "the model has no probabilities"),
        (("predict", plain, unlabelled, "--reject", "0.8"), "the model has scores but no probabilities"),
        (("export", saved, "--reject", "1.5"), "must lie above 0 and be at most 1, but it is 1.5"),
        (("predict", saved, unlabelled, "--reject", "0"), "must lie above 0 and be at most 1, but it is 0"),
    ):
        ended = run(*arguments)
        assert ended.code == 2
        assert said in ended.err
        assert ended.err.count("\n") == 1
    assert "(--probability)" in run("export", plain, "--reject", "0.8").err
