from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import _report
from benchmarks.papers import __main__ as program
from benchmarks.papers import z18
from benchmarks.papers._lab import Lab
from sparsegen.methods.svm import SVM


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    rng = np.random.default_rng(0)
    digits = np.repeat([3, 8], 40).astype(np.uint8)
    X = (np.where(digits == 3, 1.0, -1.0)[:, None] + 1.5 * rng.normal(size=(80, 4))).astype(np.float32)
    np.savez(tmp_path / "usps.npz", X_train=X, y_train=digits, X_test=X[:2], y_test=digits[:2])
    monkeypatch.setattr(z18, "TASKS", (z18.Task("usps", (3, 8)), z18.Task("usps", (3, 8), 10), z18.Task("toy")))
    monkeypatch.setattr(z18, "C_GRID", (0.1, 1.0))
    return Lab(tmp_path, tmp_path / "store")


def test_table_has_both_machines_and_a_second_run_computes_nothing(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = z18.table2(lab, tmp_path)
    rows = [line.strip("| ").split(" | ") for line in section.body.splitlines() if line.startswith(("| usps", "| toy"))]
    assert [row[0] for row in rows] == ["usps 3-8", "usps 3-8, 10 rows each", "toy"]
    for row in rows:
        one, half = map(float, row[4].split(" / "))
        inside_one, inside_half = map(float, row[5].split(" / "))
        assert half < one
        assert inside_one >= one
        assert inside_half >= half
    assert section.claims[0].holds
    monkeypatch.setattr(z18, "rows_of", lambda *_: pytest.fail("computed again"))
    assert z18.table2(lab, tmp_path).body == section.body


def test_angle_and_distance_are_those_between_the_weight_vectors(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {"svm": z18.Line(np.array([2.0, 0.0]), 0.0), "minimal": z18.Line(np.array([0.0, 1.0]), 0.0)}
    monkeypatch.setattr(z18, "fit", lambda machine, *_: lines[machine])
    outcome = z18.compare(lab.data, "toy", (0, 1), None, 0, 1.0)
    assert outcome["angle"] == pytest.approx(90.0)
    assert outcome["distance"] == pytest.approx(np.sqrt(5.0) / 2.0)


def test_claims_fail_where_figures_are_worse() -> None:
    claims = z18._claims([(10.0, 10.0), (10.0, 12.0)], [(0.9, 0.8), (0.9, 0.8)])
    assert [claim.holds for claim in claims] == [False, False]


def test_c_is_chosen_on_the_training_part_of_the_fold(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def error(machine: SVM, X: np.ndarray, y: np.ndarray, n_folds: int) -> float:
        seen.append(len(X))
        return 1.0 if machine.C < 1.0 else 0.0

    monkeypatch.setattr(z18, "cross_validated_error", error)
    assert z18.select(lab.data, "usps", (3, 8), 10, 0) == {"C": 1.0}
    assert seen == [16, 16]


def test_figure_marks_fewer_support_vectors_for_the_smaller_power(lab: Lab, tmp_path: Path) -> None:
    section = z18.figure1(lab, tmp_path)
    assert section.plots[0].read_bytes().startswith(b"\x89PNG")
    assert "| SVM, L1 | 15 (" in section.body
    assert [claim.holds for claim in section.claims] == [True, True]


def test_a_missing_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["z18-table2", "--data", str(tmp_path / "none"), "--store", str(tmp_path)]
    assert _report.run(program.main, arguments) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: there is no data set")
    assert message.count("\n") == 1
