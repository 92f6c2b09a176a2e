from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _report
from benchmarks.papers import TABLES, h09
from benchmarks.papers.__main__ import main
from benchmarks.papers._lab import Lab

NAMES = ("banana", "heart")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a lab with two tiny sets of two splits, and make the grids small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1).astype(np.int8)
    splits = np.array([rng.permutation(90) for _ in range(2)]).astype(np.uint16)
    (tmp_path / "ida").mkdir()
    for name in NAMES:
        path = tmp_path / "ida" / f"{name}.npz"
        np.savez(path, X=X, y=y, train=splits[:, :60], test=splits[:, 60:], origin=np.array([1, 0]))
    monkeypatch.setattr(h09, "SETS", NAMES)
    monkeypatch.setattr(h09, "GAMMAS", (0.25, 1.0))
    monkeypatch.setattr(h09, "COSTS", (0.01, 4.0))
    monkeypatch.setattr(h09, "BEST_GAMMAS", 1)
    monkeypatch.setattr(h09, "PILOT_ROWS", 60)
    monkeypatch.setattr(h09, "FOLDS", 2)
    monkeypatch.setattr(h09, "DESCENT", {"tol": 0.01, "max_iter": 3})
    return Lab(tmp_path, tmp_path / "store", splits=2)


def test_tables_show_the_paper_and_are_computed_once(lab: Lab) -> None:
    first = TABLES["h09-comparison"](lab, lab.store)
    rows = [line for line in first.body.splitlines() if line.startswith(("| banana", "| heart"))]
    assert len(rows) == len(NAMES) * len(h09.SHARES)
    assert all(row.count("±") == 1 + len(h09.MACHINES) for row in rows)
    assert "| SMKC1 fixed with SSKC | 2% |" in first.body
    assert [path.name for path in first.plots] == ["h09_figure1.png", "h09_figure2.png", "h09_figure3.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in first.plots)
    assert len(first.claims) == 8
    finished = (lab.store / "h09.jsonl").read_bytes()
    assert TABLES["h09-comparison"](lab, lab.store).body == first.body
    kernels = TABLES["h09-table2"](lab, lab.store)
    assert (lab.store / "h09.jsonl").read_bytes() == finished
    assert "| banana | 3.3 ± 1.8 | " in kernels.body
    assert kernels.body.count("±") >= 8 * len(NAMES)
    assert "(the paper: 2.0, at most 5.3)" in kernels.claims[0].found


def test_parameters_are_those_of_least_validated_error(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first split knows the best gamma, all pilots together the best C; test rows are not asked."""
    seen = []

    def validate(folder: Path, position: int, gammas: list[float], costs: list[float], **_: Any) -> dict[str, Any]:
        seen.append((position, *gammas))
        return {"errors": [10.0 / gammas[0] + (abs(C - 4.0) if position else C) for C in costs]}

    validate.__module__ = h09.__name__
    monkeypatch.setattr(h09, "validate", validate)
    pilots = [{"name": "banana", "position": p, "method": "SSKC", "vectors": 2} for p in (0, 1)]
    gammas, C = h09._choose(lab, pilots, "")
    assert (tuple(gammas), C) == ((1.0,), 0.01)
    assert seen == [(0, 0.25), (0, 1.0), (1, 1.0)]


def cell(*errors: float) -> h09.Cell:
    return h09.Cell(list(errors), [1.0] * len(errors), [2.0] * len(errors), [1.0], 1.0)


def test_differences_count_where_they_are_significant() -> None:
    one = cell(10.0, 12.0, 14.0, 16.0)
    assert h09._significance(one, cell(9.0, 11.0, 12.9, 15.0)) == 1
    assert h09._significance(one, cell(11.0, 13.0, 15.1, 17.0)) == -1
    assert h09._significance(one, cell(9.0, 13.0, 13.5, 16.1)) == 0
    assert h09._significance(one, one) == 0
    assert h09._significance(one, cell(9.0, 11.0, 13.0, 15.0)) == 1  # the same difference on every split


def test_conclusions_follow_from_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h09, "SETS", NAMES)
    errors = {"SSKC": (10.0, 12.0), "SMKC1": (10.0, 12.0), "SMKC2": (11.0, 12.0)}
    cells = {
        (name, share, method): cell(*errors.get(method, (15.0, 16.5)))
        for name in NAMES
        for share in h09.SHARES
        for method in h09.MACHINES
    }
    holds = {claim.text.split(": ")[1]: claim.holds for claim in h09._conclusions(cells)}
    assert holds == {
        "SMKC2 is at least as accurate as SSKC on most sets": False,
        "SMKC1 is comparable with SSKC": True,
        "optimising the vectors of SMKC1 helps on most sets": True,
        "optimising the vectors of SMKC2 helps on most sets": True,
    }


def test_fixed_machines_stay_at_their_centres() -> None:
    assert h09.machine("SMKC2 fixed", 3, [0.5, 1.0], 1.0, 0).optimize == "coefficients"
    assert h09.machine("SMKC2", 3, [0.5, 1.0], 1.0, 0).optimize == "vectors"
    assert h09.machine("SSKC", 3, [0.5], 1.0, 0).gamma == 0.5


def test_no_data_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["h09-table2", "--data", str(tmp_path), "--store", str(tmp_path / "store")]
    assert _report.run(main, arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: there is no data set")
    assert err.count("\n") == 1
