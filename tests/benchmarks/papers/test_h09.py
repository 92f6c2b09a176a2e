from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _report
from benchmarks.papers import TABLES, h09
from benchmarks.papers import _h09_cells as runs
from benchmarks.papers import _h09_claims as claims
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
    monkeypatch.setattr(h09, "FLAT", "heart")
    monkeypatch.setattr(runs, "GAMMAS", (0.25, 1.0))
    monkeypatch.setattr(runs, "COSTS", (0.0078125, 4.0))
    monkeypatch.setattr(runs, "BEST_GAMMAS", 1)
    monkeypatch.setattr(runs, "PILOT_ROWS", 60)
    monkeypatch.setattr(runs, "FOLDS", 2)
    monkeypatch.setattr(runs, "DESCENT", {"tol": 0.01, "max_iter": 3})
    return Lab(tmp_path, tmp_path / "store", splits=2)


def test_tables_show_the_paper_and_are_computed_once(lab: Lab) -> None:
    first = TABLES["h09-comparison"](lab, lab.store)
    rows = [line for line in first.body.splitlines() if line.startswith(("| banana", "| heart")) and "±" in line]
    assert len(rows) == len(NAMES) * len(runs.SHARES)
    assert all(row.count("±") == 1 + len(runs.MACHINES) for row in rows)
    chosen = [line for line in first.body.splitlines() if line.startswith("| heart") and "gamma 2^" in line]
    assert len(chosen) == len(runs.SHARES)
    assert all(line.count("| 2^") == len(runs.MACHINES) for line in chosen)
    assert "| machine | vectors | 2^-7 | 2^2 |" in first.body
    assert "One distinct row makes up 2% of the first split's" in first.body
    assert "| SMKC1 fixed with SSKC | 2% |" in first.body
    assert [path.name for path in first.plots] == ["h09_figure1.png", "h09_figure2.png", "h09_figure3.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in first.plots)
    assert len(first.claims) == 16
    store = lab.store / "_h09_cells.jsonl"
    finished = store.read_bytes()
    assert TABLES["h09-comparison"](lab, lab.store).body == first.body
    kernels = TABLES["h09-table2"](lab, lab.store)
    assert store.read_bytes() == finished
    assert "| banana | 3.3 ± 1.8 | " in kernels.body
    assert kernels.body.count("±") >= 8 * len(NAMES)
    assert "(the paper: 2.0, at most 5.3)" in kernels.claims[0].found
    assert [claim.source for claim in kernels.claims] == ["[H09] IV-A, Table II", "[H09] Table II"]


def test_more_splits_than_the_other_papers_as_far_as_there_are(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(lab, splits=1)
    assert {name: len(found) for name, found in runs.references(one, NAMES).items()} == {"banana": 2, "heart": 2}
    monkeypatch.setattr(runs, "SPLITS_FACTOR", 1)
    assert {name: len(found) for name, found in runs.references(one, NAMES).items()} == {"banana": 1, "heart": 1}


def choose(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, method: str, error: Callable[[int, float, float], float]
) -> tuple[float, float, list[float], list[tuple[int, float]]]:
    """Return the first chosen gamma, C, the errors shown, and which (split, gamma) were tried."""
    seen = []

    def validate(folder: Path, position: int, gammas: list[float], costs: list[float], **_: Any) -> dict[str, Any]:
        seen.append((position, gammas[0]))
        return {"errors": [error(position, gammas[0], C) for C in costs]}

    validate.__module__ = runs.__name__
    monkeypatch.setattr(runs, "validate", validate)
    pilots = [{"name": "banana", "position": p, "method": method, "vectors": 2} for p in (0, 1)]
    gammas, C, validated = runs.choose(lab, pilots, "")
    return gammas[0], C, list(validated), seen


def test_parameters_are_those_of_least_validated_error(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first split knows the best gamma, all pilots together the best C; test rows are not asked."""
    found = choose(lab, monkeypatch, "SSKC", lambda p, gamma, C: 10.0 / gamma + (3.0 * abs(C - 4.0) if p else C))
    assert found[:2] == (1.0, 4.0)
    assert found[2] == pytest.approx([10.0 + 1.5 * (4.0 - 0.0078125) + 0.00390625, 12.0])
    assert found[3] == [(0, 0.25), (0, 1.0), (1, 1.0)]


@pytest.mark.parametrize(("costs", "chosen"), [((1.0, 2.0, 4.0, 8.0), 4.0), ((2.0, 4.0, 8.0), 4.0), ((4.0, 8.0), 4.0)])
def test_of_equal_errors_the_middle_one_is_taken(
    costs: tuple[float, ...], chosen: float, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "COSTS", costs)
    found = choose(lab, monkeypatch, "SMKC1", lambda p, gamma, C: 30.0 if C == 1.0 else 20.0 + 1e-12 * C)
    assert found[1] == chosen


def cell(*errors: float, C: float = 1.0) -> runs.Cell:
    n = len(errors)
    return runs.Cell(list(errors), [1.0] * n, [2.0] * n, [3.0] * n, [1.0], C, [10.0, 12.0])


def test_differences_count_where_they_are_significant() -> None:
    one = cell(10.0, 12.0, 14.0, 16.0)
    assert claims.significance(one, cell(9.0, 11.0, 12.9, 15.0)) == 1
    assert claims.significance(one, cell(11.0, 13.0, 15.1, 17.0)) == -1
    assert claims.significance(one, cell(9.0, 13.0, 13.5, 16.1)) == 0
    assert claims.significance(one, one) == 0
    assert claims.significance(one, cell(9.0, 11.0, 13.0, 15.0)) == 1  # the same difference on every split


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> runs.Cells:
    """Return cells of two sets where SMKC2 is worse than SSKC, and SMKC1 the same."""
    monkeypatch.setattr(h09, "SETS", NAMES)
    errors = {"SSKC": (10.0, 12.0), "SMKC1": (10.0, 12.0), "SMKC2": (11.0, 13.0), "MK-SVM": (10.5, 12.0)}
    return {
        (name, share, method): cell(*errors.get(method, (15.0, 17.0)), C=2.0 if method == "SMKC1" else 1.0)
        for name in NAMES
        for share in runs.SHARES
        for method in runs.MACHINES
    }


def test_conclusions_follow_from_the_errors(made_up: runs.Cells) -> None:
    holds = {claim.text.split(": ", 1)[1]: claim.holds for claim in claims.conclusions(made_up)}
    assert holds == {
        "not sufficient to only optimize mu: SSKC outperforms SMKC1 on 9 data sets": False,
        "not sufficient to only optimize mu: SSKC outperforms SMKC1 on 7 data sets": False,
        "not sufficient to only optimize mu: SSKC outperforms SMKC2 on 8 data sets": False,
        "not sufficient to only optimize mu: SSKC outperforms SMKC2 on 4 data sets": False,
        "optimizing the expansion vectors greatly improves SMKC1": True,
        "optimizing the expansion vectors greatly improves SMKC2": True,
        "SMKC1 now becomes comparable with SSKC": True,
        "SMKC2 is even better [than SSKC]": False,
        "empirically, the second formulation is particularly competitive": False,
        "the resultant classifier is compact and accurate": True,
    }


@pytest.mark.parametrize(
    ("counts", "holds"),
    [
        (claims.Counts(better=7, worse=0, as_accurate=9, n=13), (True, True, True)),
        (claims.Counts(better=6, worse=0, as_accurate=9, n=13), (False, True, True)),
        (claims.Counts(better=6, worse=0, as_accurate=6, n=13), (False, False, True)),
        (claims.Counts(better=2, worse=2, as_accurate=9, n=13), (False, False, True)),
        (claims.Counts(better=1, worse=2, as_accurate=9, n=13), (False, False, False)),
    ],
)
def test_greatly_better_asks_for_more_than_better_and_that_for_more_than_comparable(
    counts: claims.Counts, holds: tuple[bool, ...]
) -> None:
    assert tuple(rule.holds(counts) for rule in (claims.GREATLY_BETTER, claims.BETTER, claims.COMPARABLE)) == holds


def test_machines_that_learn_one_row_are_named_and_said_to_agree_only_where_they_do(
    lab: Lab, made_up: runs.Cells
) -> None:
    same = "their errors are the same"
    assert "nothing else: none." in h09._flat(lab, made_up)
    for method in ("SSKC", "SMKC1"):
        made_up["heart", 0.02, method] = replace(made_up["heart", 0.02, method], rare_rows=[1.0, 1.0])
    text = h09._flat(lab, made_up)
    assert "nothing else: SSKC at 2% (C 2^0), SMKC1 at 2% (C 2^1)." in text
    assert same in text
    made_up["heart", 0.02, "SMKC2"] = replace(made_up["heart", 0.02, "SMKC2"], rare_rows=[1.0, 1.0])
    assert same not in h09._flat(lab, made_up)


def test_machines_with_the_same_errors_are_named(made_up: runs.Cells) -> None:
    (text,) = h09._same_errors(made_up)
    assert "| heart | 4% | SSKC, SMKC1 | 2^0, 2^1 | 1.0, 1.0 | 3.0 |" in text
    assert "| heart | 4% | SMKC1 fixed, SMKC2 fixed | 2^0, 2^0 | 1.0, 1.0 | 3.0 |" in text
    different = {key: cell(i, 0.0) for i, key in enumerate(made_up)}
    assert h09._same_errors(different) == []


def test_fixed_machines_stay_at_their_centres() -> None:
    fixed, moved = (runs.machine(name, 3, [0.5, 1.0], 1.0, 0) for name in ("SMKC2 fixed", "SMKC2"))
    assert (fixed.get_params()["optimize"], moved.get_params()["optimize"]) == ("coefficients", "vectors")
    sskc = runs.machine("SSKC", 3, [0.5], 1.0, 0).get_params()
    assert (sskc["gamma"], sskc["solver"]) == (0.5, "exact")
    assert runs.machine("MK-SVM", None, [0.5, 1.0], 8.0, 0).C == 8.0


def test_no_data_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["h09-table2", "--data", str(tmp_path), "--store", str(tmp_path / "store")]
    assert _report.run(main, arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: there is no data set")
    assert err.count("\n") == 1
