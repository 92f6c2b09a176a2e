from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _ida, _report
from benchmarks.papers import __main__ as program
from benchmarks.papers import _w05_machines as machines
from benchmarks.papers import w05
from benchmarks.papers._lab import Lab
from sparsegen.methods.mrs import MRS

NAMES = ("usps", "waveform")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data folder with a small set of three splits, and digits of 4 x 4 pixels."""
    rng = np.random.default_rng(0)
    (tmp_path / "ida").mkdir()
    for name in NAMES[1:]:
        X = rng.normal(size=(90, 2)).astype(np.float32)
        y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1).astype(np.int8)
        splits = np.array([rng.permutation(90) for _ in range(3)]).astype(np.uint16)
        path = tmp_path / "ida" / f"{name}.npz"
        np.savez(path, X=X, y=y, train=splits[:, :60], test=splits[:, 60:], origin=np.array([1, 2, 0]))
    digits = np.repeat([1, 3, 8], 60).astype(np.uint8)[rng.permutation(180)]
    X = (np.eye(16)[digits] + 0.3 * rng.normal(size=(180, 16))).astype(np.float32)
    np.savez(tmp_path / "usps.npz", X_train=X[:120], y_train=digits[:120], X_test=X[120:], y_test=digits[120:])
    return tmp_path


@pytest.fixture
def lab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    few = replace(
        w05.IDA_EFFORT,
        C=(1.0, 10.0),
        gamma_factors=(1.0,),
        rvm_gamma_factors=(1.0,),
        draws=2,
        slmc_starts=1,
        rs_starts=1,
        selection_splits=1,
        selection_draws=1,
    )
    monkeypatch.setattr(w05, "IDA_EFFORT", few)
    monkeypatch.setitem(w05.EFFORTS, "usps", replace(few, selection_rows=50))
    monkeypatch.setitem(machines.SLMC_STOP, "max_iter", 5)
    columns = [w05.SETS.index(name) for name in NAMES]
    paper = {row: tuple(figures[column] for column in columns) for row, figures in w05.PAPER.items()}
    paper["N_SV"] = (60, *paper["N_SV"][1:])  # so that 5 % and 10 % of it are fewer than the small set's rows
    monkeypatch.setattr(w05, "SETS", NAMES)
    monkeypatch.setattr(w05, "PAPER", paper)
    return Lab(folder, folder / "store", splits=2)


def test_table_has_every_cell_beside_the_papers_and_a_second_run_computes_nothing(
    lab: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = w05.table1(lab, folder)
    lines = {line.split(" | ")[0].lstrip("| "): line for line in section.body.splitlines() if line.startswith("|")}
    for method in ("RS", "MRS", "RSVM", "MRSVM", "SLMC"):
        assert {f"{method}, 5%", f"{method}, 10%"} <= lines.keys()
    assert lines["test error %"].split(" | ")[1:] == [*NAMES[:-1], NAMES[-1] + " |"]
    papers = [cell.partition("(")[2].rstrip(") |") for cell in lines["SLMC, 5%"].split(" | ")[1:]]
    assert papers == ["4.9", "9.9"]
    assert lines["RVM, N_z"].count("±") == 1, "USPS has one split"
    errors = [check for check in section.checks if check.kind == "error"]
    assert len(errors) == len(NAMES) * 12
    assert {round(check.limit - check.paper, 9) for check in errors if "usps" in check.cell} == {0.5}
    assert {round(check.limit - check.paper, 9) for check in errors if "waveform" in check.cell} == {1.0}
    assert len(section.claims) == 4
    monkeypatch.setattr(machines, "rows_of", lambda *_: pytest.fail("computed again"))
    assert w05.table1(lab, folder).body == section.body
    assert_numbers_of_vectors_are_shares_of_the_support_vectors(lab)


def assert_numbers_of_vectors_are_shares_of_the_support_vectors(lab: Lab) -> None:
    results = w05._results(lab, "waveform")
    support = [outcome["vectors"] for outcome in results.rows["svm"]]
    for mark, ratio in (("5%", 0.05), ("10%", 0.1)):
        wanted = [int(np.ceil(ratio * n - 1e-9)) for n in support]
        for method in ("rs", "mrs", "rsvm", "mrsvm", "slmc"):
            assert [outcome["vectors"] for outcome in results.rows[f"{method} {mark}"]] == wanted
    assert w05._results(lab, "usps").rows["slmc 10%"][0]["vectors"] == 6


def test_parameters_have_the_lowest_cross_validated_error(lab: Lab) -> None:
    case: dict[str, Any] = {"name": "waveform", "position": 0, "n_vectors": 4}
    chosen = w05._choose_random_rows(lab, [case], w05.IDA_EFFORT)
    errors = {
        C: machines.random_rows_cv(lab.data, **case, C=C, gamma=0.05, n_rows=None, draws=1)["error"]
        for C in (1.0, 10.0)
    }
    assert chosen == {"C": min(errors, key=lambda C: errors[C]), "gamma": 0.05}


def test_mrs_is_the_method_of_that_name(folder: Path) -> None:
    outcome = machines.reduced_set(folder, "waveform", 0, n_vectors=4, n_init=1)
    given, split = _ida.PARAMETERS["waveform"], _ida.split(folder, "waveform", 0)
    mrs = MRS(4, C=given.C, gamma=given.gamma, n_init=1, random_state=0).fit(split.X, split.y)
    assert outcome["mrs"] == pytest.approx(split.error(mrs))


def test_figure_draws_the_vectors_of_three_and_eight(lab: Lab, folder: Path) -> None:
    section = w05.figure1(lab, folder)
    assert "| SLMC | 12 (12) |" in section.body
    assert section.plots[0].read_bytes().startswith(b"\x89PNG")
    stored = (folder / "store" / "_w05_machines.jsonl").read_text().splitlines()
    pixels = next(
        outcome["pixels"] for outcome in (json.loads(line)["outcome"] for line in stored) if "pixels" in outcome
    )
    assert np.shape(pixels) == (12, 16)
    assert [check.limit for check in section.checks if check.kind == "error"] == pytest.approx([2.3, 2.3])
    svm = machines.three_or_eight(folder, "svm", 12, 1)
    assert svm["vectors"] <= 80, "rows of '1' take no part"


def test_a_missing_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["w05-table1", "--data", str(tmp_path / "none"), "--store", str(tmp_path)]
    assert _report.run(program.main, arguments) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: there is no data set")
    assert message.count("\n") == 1
