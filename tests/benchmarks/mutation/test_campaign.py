"""Mutants run: a planted defect is found, an equal one is not, and nothing is run twice."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.mutation import AREAS, Area
from benchmarks.mutation.__main__ import main
from benchmarks.mutation.campaign import Campaign, sample
from benchmarks.mutation.mutants import Mutant

if sys.platform == "win32":
    pytest.skip("mutants are forked", allow_module_level=True)

SMALL = Area("model", ("model/test_predictions.py",))


def drawn(mutated: str) -> Mutant:
    (found,) = [mutant for mutant in sample(SMALL, None, 0) if mutant.mutated == mutated]
    return found


def test_a_defect_is_killed_once_and_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = "names = model.classes if model.n_outputs > 0 else model.classes[1:]"
    unseen = (
        'raise ModelError("a scaler in front of the model has a zero or infinite factor; remove constant features")'
    )
    chosen = [drawn(seen), next(m for m in sample(SMALL, None, 0) if m.where == "Transform.after")]
    with Campaign(tmp_path, jobs=1, slowest=5.0, say=lambda text: None) as campaign:
        killed, survived = campaign.judge(SMALL, chosen)
    assert killed.killed_by is not None
    assert killed.killed_by.startswith("tests/model/test_predictions.py::")
    assert (survived.killed_by, survived.n_tests) == (None, 0), unseen
    with Campaign(tmp_path, jobs=1, slowest=5.0, say=lambda text: None) as again:
        monkeypatch.setattr(again, "_ask", lambda job: pytest.fail("this was known"))
        assert list(again.judge(SMALL, chosen)) == [killed, survived]


def test_the_program_reports_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AREAS, "model", SMALL)
    options = ["--areas", "model", "--only", "predictions", "--sample", "2", "--jobs", "1", "--json"]
    text, code = main([*options, "--cache", str(tmp_path)])
    (score,) = json.loads(text)
    assert (score["area"], score["mutants"]) == ("model", 2)
    assert code == int(score["killed"] < 2)
