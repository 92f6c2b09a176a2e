"""``sparsegen train --class-weight``: balanced, by label, or JSON; what cannot be read is one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

from sparsegen.model import SparseModel

LABELS = ("ok", "a=b", "1,5")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "rows.csv"
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + y[:, None]
    lines = [f'{a:.3f},{b:.3f},"{LABELS[k]}"' for (a, b), k in zip(X, y, strict=True)]
    path.write_text("\n".join(["p,q,label", *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("balanced", {"ok": 1.0, "a=b": 1.0, "1,5": 1.0}),
        ("ok=2", {"ok": 2.0, "a=b": 1.0, "1,5": 1.0}),
        ("a=b=3,ok=0.5", {"ok": 0.5, "a=b": 3.0, "1,5": 1.0}),
        ('{"1,5": 4, "ok": 2}', {"ok": 2.0, "a=b": 1.0, "1,5": 4.0}),
    ],
)
def test_weights_reach_the_card_and_the_header(
    run: Run, rows: Path, tmp_path: Path, given: str, expected: dict[str, float]
) -> None:
    model = tmp_path / "m.safetensors"
    ended = run("train", rows, "--label", "label", "--method", "svm", "--class-weight", given, "-o", model, "--json")
    assert ended.code == 0, ended.err
    card = SparseModel.load(model).card
    assert card["class_weights"] == pytest.approx(expected, rel=0.1)
    assert json.loads(run("inspect", model, "--json").out)["class_weights"] == card["class_weights"]
    ended = run("export", model, "-o", tmp_path / "c")
    assert ended.code == 0, ended.err
    (header,) = (tmp_path / "c").glob("*.h")
    (line,) = (line for line in header.read_text(encoding="utf-8").splitlines() if "class weights" in line)
    assert all(f"{label} {weight:.3g}" in line for label, weight in card["class_weights"].items())


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("balance", "--class-weight 'balance' must be balanced, LABEL=WEIGHT,... or JSON"),
        ("ok=2,ok=3", "names 'ok' twice"),
        ('{"ok": 2, "ok": 3}', "names 'ok' twice"),
        ('{"ok": "much"}', "must be balanced, LABEL=WEIGHT"),
        ('{"ok": 2', "is no JSON object"),
        ("okay=2", "class_weight names a class 'okay' that no row has (did you mean 'ok'?)"),
        ("ok=0", "class_weight of 'ok' is 0.0, but must be a finite number > 0"),
        ("ok=nan", "class_weight of 'ok' is nan, but must be a finite number > 0"),
    ],
)
def test_what_is_no_weight_is_one_sentence(run: Run, rows: Path, tmp_path: Path, given: str, reason: str) -> None:
    model = tmp_path / "m.safetensors"
    ended = run("train", rows, "--label", "label", "--method", "svm", "--class-weight", given, "-o", model)
    assert (ended.code, ended.out) == (2, "")
    (error,) = (line for line in ended.err.splitlines() if line.startswith("error:"))
    assert reason in error
    assert not model.exists()


def test_the_option_has_no_second_name(run: Run, rows: Path) -> None:
    ended = run("train", rows, "--set", "class_weight=balanced")
    assert ended.code == 2
    assert "class_weight has an option of its own" in ended.err
