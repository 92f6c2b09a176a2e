from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import _report
from benchmarks.papers import __main__ as papers
from benchmarks.papers import k06
from benchmarks.papers._greedy_path import greedy_method, grow
from benchmarks.papers._lab import Lab
from benchmarks.papers._results import error_check, vector_check
from benchmarks.papers._squared_hinge import SquaredHingeSVM
from sparsegen.arrays import Array
from sparsegen.methods.spsvm import SpSVM
from sparsegen.solvers.greedy import GrowingMachine


def crossed_classes(n: int) -> tuple[Array, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    flipped = rng.random(n) < 0.1
    return X, np.where((X[:, 0] * X[:, 1] > 0) ^ flipped, 1, -1).astype(np.int8)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    X, y = crossed_classes(120)
    rng = np.random.default_rng(1)
    splits = np.array([rng.permutation(120) for _ in range(2)]).astype(np.uint16)
    (tmp_path / "ida").mkdir()
    for name in ("banana", "heart"):
        path = tmp_path / "ida" / f"{name}.npz"
        np.savez(path, X=X, y=y, train=splits[:, :60], test=splits[:, 60:], origin=np.array([1, 0]))
    monkeypatch.setattr(k06, "TABLE_1", {name: k06.TABLE_1[name] for name in ("banana", "heart")})
    monkeypatch.setattr(k06, "LAMBDAS", {"SpSVM-2": (0.5, 0.05), "SVM": (0.5, 0.05)})
    monkeypatch.setattr(k06, "WIDTHS", (1.0,))
    monkeypatch.setattr(k06, "SIZES", 6)
    return Lab(tmp_path, tmp_path / "cells", splits=2)


@pytest.mark.parametrize("method", ["spsvm", "kmp", "mark", "gsvc", "smola"])
def test_a_growing_machine_is_the_fitted_one_at_every_size(method: str) -> None:
    X, y = crossed_classes(150)
    options: dict[str, Any] = {"C": 3.0, "gamma": 1.0, "random_state": 4}
    path = list(grow(greedy_method(method)(25, **options), X[:100], y[:100].astype(float), X[100:]))
    assert [stage.size for stage in path] == list(range(1, 26))
    assert [stage.seconds for stage in path] == sorted(stage.seconds for stage in path)
    assert all(stage.newton_steps >= 1 for stage in path)
    for size in (1, 7, 25):
        fitted = greedy_method(method)(size, **options).fit(X[:100], y[:100])
        np.testing.assert_allclose(path[size - 1].scores, fitted.decision_function(X[100:]), atol=1e-8)
        assert path[size - 1].objective == pytest.approx(fitted.model_.card["fit"]["objective"], rel=1e-8)


def test_a_machine_stops_growing_where_no_row_is_left() -> None:
    X = np.repeat(np.arange(4.0)[:, None], 10, axis=0)
    y = np.where(X[:, 0] > 1.5, 1.0, -1.0)
    sizes = [stage.size for stage in grow(SpSVM(20, gamma=1.0, random_state=0), X, y, X)]
    assert sizes == [1, 2, 3, 4]


def test_the_full_svm_is_the_optimum_over_all_rows_and_counts_those_with_a_loss() -> None:
    X, y = crossed_classes(80)
    machine = SquaredHingeSVM(C=1 / 0.3, gamma=1.0).fit(X, y)
    K = rbf_kernel(X, gamma=1.0)
    optimum = GrowingMachine(y.astype(float), 0.3)
    optimum.load(K, K, np.zeros(81))
    optimum.solve(100)
    np.testing.assert_allclose(machine.decision_function(X), optimum.o, atol=0.02)
    assert len(machine.vectors_) == np.count_nonzero(y * optimum.o < 1.0)
    assert machine.model_.card["fit"]["objective"] == pytest.approx(optimum.objective() / 0.3, rel=1e-3)


@pytest.mark.parametrize(("most", "size"), [(2.9, 2), (4.0, 3), (9.0, 5)])
def test_choose_takes_the_lowest_error_among_bases_no_larger_than_the_papers(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, most: float, size: int
) -> None:
    def outcomes(work: Any, cases: list[dict[str, Any]], title: str) -> list[dict[str, Any]]:
        folds = np.array([30.0, 21.0, 20.0, 20.0, 19.0]) + np.array([-2.0, 2.0])[:, None]
        return [{"errors": folds + (5.0 if case["lam"] > 0.1 else 0.0)} for case in cases]

    monkeypatch.setattr(Lab, "map", lambda self, *arguments: outcomes(*arguments))
    assert k06.choose(lab, "SpSVM-2", "heart", most) == k06.Choice(lam=0.05, width=1.0, size=size)


def test_table_1_shows_the_papers_figures_and_computes_each_cell_once(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = k06.table1(lab, tmp_path)
    banana = next(line for line in section.body.splitlines() if line.startswith("| banana"))
    assert [banana.split(" | ")[i] for i in (1, 3, 6, 8)] == ["10.87", "17.3", "10.54", "221.7"]
    assert [check.kind for check in section.checks] == ["error", "vectors"] * 4
    ours = {(check.cell, check.kind): check.ours for check in section.checks}
    assert 0.0 < ours["banana, SpSVM-2", "error"] < 40.0
    assert 1.0 <= ours["banana, SpSVM-2", "vectors"] <= 6.0 < ours["banana, SVM", "vectors"] <= 60.0
    assert [claim.source for claim in section.claims] == ["[K06] 5"]
    missed = [check.figure for check in section.checks if check.kind == "error" and not check.within]
    assert missed and all("over all 2 of the file" in section.reasons[figure] for figure in missed)
    monkeypatch.setattr(Lab, "_compute", lambda *arguments: pytest.fail("a finished cell was computed again"))
    assert k06.table1(lab, tmp_path) == section


def test_the_next_smaller_lam_is_beside_the_chosen_one(lab: Lab) -> None:
    reason = k06._other_lam(lab, "heart", k06.Choice(lam=0.5, width=1.0, size=1))
    for lam in (0.5, 0.05):
        cells = [k06.measure_svm(lab.data, "heart", position, lam, 1.0, 1) for position in (0, 1)]
        folds = [k06.select_svm(lab.data, "heart", position, lam, 1.0)["errors"] for position in (0, 1)]
        vectors, error = (np.mean([cell[figure] for cell in cells]) for figure in ("vectors", "error"))
        assert (
            f"{lam:g} has {vectors:.0f} at a test error of {error:.2f} % and a validated one of {np.mean(folds):.2f} %"
        ) in reason
    assert k06._other_lam(lab, "heart", k06.Choice(lam=0.05, width=1.0, size=1)).count("test error") == 1


@pytest.mark.parametrize(
    ("errors", "vectors", "holds"),
    [((11.0, 16.5), (20, 15), True), ((11.0, 18.0), (20, 15), False), ((11.0, 16.5), (20, 17), False)],
)
def test_a_small_fraction_is_a_tenth_of_the_vectors_at_nearly_the_same_error(
    monkeypatch: pytest.MonkeyPatch, errors: tuple[float, float], vectors: tuple[int, int], holds: bool
) -> None:
    """Both of two sets make most of them; one does not."""
    monkeypatch.setattr(k06, "TABLE_1", {name: k06.TABLE_1[name] for name in ("banana", "heart")})
    checks = []
    for name, error, size in zip(("banana", "heart"), errors, vectors, strict=True):
        checks += [error_check(f"{name}, SpSVM-2", [error], 0.0), vector_check(f"{name}, SpSVM-2", [size], 1.0)]
        svm = {"banana": (10.5, 220), "heart": (16.0, 160)}[name]
        checks += [error_check(f"{name}, SVM", [svm[0]], 0.0), vector_check(f"{name}, SVM", [svm[1]], 1.0)]
    assert k06.small_fraction(checks).holds is holds


def test_a_missing_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["k06-table1", "--data", "absent", "--store", str(tmp_path), "--output", str(tmp_path)]
    assert _report.run(papers.main, options) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
