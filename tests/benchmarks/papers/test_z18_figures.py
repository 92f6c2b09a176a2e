from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.papers import z18_figures
from benchmarks.papers._lab import Lab
from benchmarks.papers._z18_machines import rows_of


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(z18_figures, "TASKS", dict.fromkeys(["a", "b", "c", "d"], ("toy", (0, 1), 10)))
    monkeypatch.setattr(z18_figures, "SHOWN", (1, 10, 50))
    return Lab(tmp_path, tmp_path / "store")


def test_figure_marks_fewer_support_vectors_for_the_smaller_power(lab: Lab, tmp_path: Path) -> None:
    section = z18_figures.figure1(lab, tmp_path)
    assert section.plots[0].read_bytes().startswith(b"\x89PNG")
    assert "| SVM, L1 | 15 (" in section.body
    assert [claim.holds for claim in section.claims] == [True, True]


def test_objective_falls_with_the_iterations(lab: Lab) -> None:
    rows = rows_of(None, "toy", (0, 1), 10)
    few, many = (z18_figures.objective(rows, n, {"solver": "momentum", "init": "zero"}, 1e-3) for n in (1, 100))
    assert many < few


def test_figure_3_has_every_solver_and_a_claim_for_each_start(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def objective(rows: object, iterations: int, options: Mapping[str, str], rate: float | None) -> float:
        return 1.0 if options["init"] == "svm" else 1.0 + 1.0 / iterations

    monkeypatch.setattr(z18_figures, "objective", objective)
    section = z18_figures.figure3(lab, tmp_path)
    assert section.plots[0].read_bytes().startswith(b"\x89PNG")
    assert [line.split(" | ")[0].strip("| ") for line in section.body.splitlines()[2:]] == list(z18_figures.SOLVERS)
    assert [claim.text for claim in section.claims] == [
        "Algorithm 1 on the four datasets converges in less than 50 iterations"
    ] * 2
    assert [claim.holds for claim in section.claims] == [True, False]


def test_rate_has_the_lowest_objective_after_fifty_iterations(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        z18_figures, "objective", lambda rows, iterations, options, rate: (rate != 1e-3) + 1.0 / iterations
    )
    found = z18_figures.follow(lab.data, "a", "Algorithm 1 from zero")
    assert found == {"rate": 1e-3, "objectives": [1.0, 0.1, 0.02]}
    assert z18_figures.follow(lab.data, "a", "reweighted")["rate"] is None


@pytest.mark.parametrize(
    ("objectives", "iteration"),
    [([1.0, 1.0, 1.0], 1), ([1.02, 1.0, 1.0], 10), ([1.0, 0.98, 1.0], 50), ([1.009, 0.991, 1.0], 1)],
)
def test_settled_is_within_a_hundredth_of_the_last_from_there_on(
    lab: Lab, objectives: list[float], iteration: int
) -> None:
    assert z18_figures.settled_after(objectives) == iteration
