"""The frontier: models fit their budgets, nothing is chosen on test rows, and a killed run goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.frontier import __main__ as frontier
from benchmarks.frontier import _search
from benchmarks.frontier._problems import SOURCES
from sparsegen.devices import DEVICES


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := DEVICES[frontier.DEVICE].missing():
        pytest.skip(reason)
    monkeypatch.setattr(_search, "PROJECTIONS", (None, 4))
    for name in ("GAMMAS", "COSTS", "PENALTIES"):
        monkeypatch.setattr(_search, name, (1.0,))
    for name in ("SHAPE_ROWS", "FINE_ROWS"):
        monkeypatch.setattr(_search, name, 300)
    for name in ("SHAPE_STEPS", "FINE_STEPS", "FINAL_STEPS"):
        monkeypatch.setattr(_search, name, 50)
    monkeypatch.setattr(frontier, "MAX_FITS", 2)


def run(tmp_path: Path, *arguments: str) -> str:
    places = ["--store", str(tmp_path / "cells"), "--output", str(tmp_path)]
    return frontier.main([*arguments, *places])


@pytest.mark.usefixtures("quick")
def test_a_model_fits_its_budget_and_is_remembered(tmp_path: Path) -> None:
    (cell,) = json.loads(run(tmp_path, "--sets", "digits", "--kilobytes", "2", "--json"))
    assert cell["flash"] <= 2000
    assert cell["vectors"] >= 10
    assert cell["accuracy"] > 50.0
    assert cell["dtype"] == "q7c8"
    stored = tmp_path / "cells" / "__main__.jsonl"
    stored.write_text(stored.read_text().replace(f'"accuracy": {cell["accuracy"]}', '"accuracy": 12.5'))
    assert "| digits | 2 kB | 12.50 % |" in run(tmp_path, "--sets", "digits", "--kilobytes", "2")


@pytest.mark.usefixtures("quick")
def test_test_rows_decide_nothing() -> None:
    problem = SOURCES["digits"].load(None)
    other = replace(problem, y_test=np.roll(problem.y_test, 1))
    assert _search.choose(problem, 2000).setting == _search.choose(other, 2000).setting


def test_shapes_hold_what_a_budget_allows() -> None:
    problem = SOURCES["digits"].load(None)
    shapes = list(_search._shapes(problem, 3000))
    assert {shape.projection for shape in shapes} >= {None, 4, 8}
    assert {shape.block for shape in shapes} == {1, 2}
    for shape in shapes:
        inputs = 64 // shape.block**2
        tables = 40 + shape.vectors * shape.vector_bytes
        tables += 0 if shape.projection is None else shape.projection * (inputs + 4)
        assert tables + _search.CODE_BYTES <= 3000
    assert not list(_search._shapes(problem, 800)), "nothing fits"


def test_a_picture_shows_every_set(tmp_path: Path) -> None:
    cells = [
        {"name": name, "flash": 1000 * (i + 1), "accuracy": 90.0 + i} for name in ("usps", "digits") for i in range(3)
    ]
    frontier.draw(cells, tmp_path / "frontier.png")
    assert (tmp_path / "frontier.png").read_bytes().startswith(b"\x89PNG")
