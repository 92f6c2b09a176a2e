from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.papers import z18_figures
from benchmarks.papers._lab import Lab
from benchmarks.papers._z18_machines import rows_of
from benchmarks.papers.z18_figures import Objectives


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


@pytest.mark.parametrize(
    ("svm", "minimal", "holds"),
    [((20, 16), (20, 15), True), ((20, 15), (20, 5), False), ((20, 20), (20, 16), False)],
)
def test_the_svm_must_not_be_sensitive_to_c_and_the_minimal_svm_must(
    svm: tuple[int, int],
    minimal: tuple[int, int],
    holds: bool,
    lab: Lab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = {
        ("svm", 1.0): svm[0],
        ("svm", 100.0): svm[1],
        ("minimal", 1.0): minimal[0],
        ("minimal", 100.0): minimal[1],
    }
    line = {"w": [1.0, 1.0], "b": 0.0, "margin": 1.0, "rows": [0]}
    monkeypatch.setattr(z18_figures, "FIGURE1_C", (1.0, 100.0))
    monkeypatch.setattr(
        Lab,
        "map",
        lambda self, work, cases, title: [{**line, "vectors": counts[c["machine"], c["C"]]} for c in cases],
    )
    assert z18_figures.figure1(lab, tmp_path).claims[1].holds == holds


def test_objective_falls_with_the_iterations(lab: Lab) -> None:
    X, y = rows_of(None, "toy", (0, 1), 10)
    options = {"solver": "momentum", "init": "zero", "learning_rate": 1e-3}
    few, many = (z18_figures.objectives_of(X, y, 1.0, n, options) for n in (1, 100))
    assert many.exact < few.exact
    assert many.exact < many.smoothed < few.smoothed


def test_figure_3_has_every_solver_and_is_scored_from_the_svm(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def objectives(X: object, y: object, C: float, iterations: int, options: Mapping[str, str]) -> Objectives:
        value = 1.0 if options["init"] == "svm" else 1.0 + 1.0 / iterations
        return Objectives(value, value)

    monkeypatch.setattr(z18_figures, "objectives_of", objectives)
    section = z18_figures.figure3(lab, tmp_path)
    assert section.plots[0].read_bytes().startswith(b"\x89PNG")
    assert [line.split(" | ")[0].strip("| ") for line in section.body.splitlines()[2:]] == list(z18_figures.SOLVERS)
    (claim,) = section.claims
    assert claim.holds
    assert claim.found.startswith("from the SVM in 4 of 4 (1, 1, 1, 1), from zero in 0 of 4 (50, 50, 50, 50)")


def test_rate_has_the_lowest_smoothed_objective_after_fifty_iterations(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def objectives(X: object, y: object, C: float, iterations: int, options: Mapping[str, float]) -> Objectives:
        return Objectives(1.0 / iterations, abs(options.get("learning_rate", 0.0) - 1e-3))

    monkeypatch.setattr(z18_figures, "objectives_of", objectives)
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
