from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import _report
from benchmarks.papers import __main__ as program
from benchmarks.papers import z18
from benchmarks.papers._lab import Lab
from benchmarks.papers._z18_machines import MACHINES, Line, has_slack, on_or_inside, rows_of
from sparsegen.methods.minimal import MinimalSVM
from sparsegen.methods.svm import SVM


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    rng = np.random.default_rng(0)
    digits = np.repeat([3, 8], 40).astype(np.uint8)
    X = (np.where(digits == 3, 1.0, -1.0)[:, None] + 1.5 * rng.normal(size=(80, 4))).astype(np.float32)
    np.savez(tmp_path / "usps.npz", X_train=X, y_train=digits, X_test=X[:2], y_test=digits[:2])
    groups = {
        "few": z18.Group("usps", ((3, 8),), 10, {"svm": (0.85, 11.0), "minimal": (0.9, 2.0)}),
        "toy": z18.Group("toy", ((0, 1),)),
    }
    monkeypatch.setattr(z18, "GROUPS", groups)
    monkeypatch.setattr(z18, "C_GRID", (0.1, 1.0))
    monkeypatch.setattr(z18, "FOLDS", 2)
    return Lab(tmp_path, tmp_path / "store")


def test_table_has_both_machines_and_a_second_run_computes_nothing(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = z18.table2(lab, tmp_path)
    rows = [line.strip("| ").split(" | ") for line in section.body.splitlines() if line.startswith("| ")][2:]
    assert [row[0] for row in rows] == ["few", "the paper's", "toy"]
    for row in (rows[0], rows[2]):
        as_paper, slack, alpha = ([float(count) for count in cell.split(" / ")] for cell in row[5:8])
        assert as_paper == [alpha[0], slack[1]]
        assert slack[0] <= alpha[0]
        assert slack[1] <= alpha[1]
    assert [(check.kind, check.paper) for check in section.checks] == [
        ("error", pytest.approx(15.0)),
        ("vectors", 11.0),
        ("error", pytest.approx(10.0)),
        ("vectors", 2.0),
    ]
    monkeypatch.setattr(z18, "rows_of", lambda *_: pytest.fail("computed again"))
    assert z18.table2(lab, tmp_path).body == section.body


def test_groups_name_classes_that_the_papers_sets_have() -> None:
    assert z18.neighbours(11, 36) == tuple((c, c + 1) for c in range(11, 36, 2))
    assert [label for pair in z18.GROUPS["BinAlpha"].pairs for label in pair] == list(range(11, 37)), "26 letters"


def test_images_are_flattened_and_faces_scaled(tmp_path: Path) -> None:
    X, y = np.full((4, 2, 3), 51, np.uint8), np.array([1, 2, 3, 2], np.uint8)
    for name in ("att_faces", "binalpha"):
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    faces, labels = rows_of(tmp_path, "att_faces", (2, 3), 1)
    assert labels.tolist() == [2, 3]
    assert np.allclose(faces, np.full((2, 6), 0.2))
    assert rows_of(tmp_path, "binalpha", (2, 3), None)[0].tolist() == [[51.0] * 6] * 3


def test_support_vectors_are_counted_in_two_ways() -> None:
    margins = np.array([-1.0, 0.9, 1.0, 1.0005, 1.1])
    assert has_slack(margins).tolist() == [True, True, False, False, False]
    assert on_or_inside(margins).tolist() == [True, True, True, True, False]


def test_angle_and_distance_are_those_between_the_weight_vectors(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {("svm", 1.0): Line(np.array([2.0, 0.0]), 0.0), ("minimal", 10.0): Line(np.array([0.0, 1.0]), 0.0)}
    monkeypatch.setattr(z18, "fit", lambda machine, X, y, C: lines[machine, C])
    outcome = z18.compare(lab.data, "toy", (0, 1), None, 0, [1.0, 10.0])
    assert outcome["angle"] == pytest.approx(90.0)
    assert outcome["distance"] == pytest.approx(np.sqrt(5.0) / 2.0)
    assert outcome["svm paper"] == outcome["svm alpha"]
    assert outcome["minimal paper"] == outcome["minimal slack"]


@pytest.mark.parametrize(
    ("accuracies", "holds"),
    [
        ([(0.9, 0.95), (0.9, 0.9), (1.0, 1.0)], True),
        ([(0.9, 0.9), (1.0, 1.0)], False),
        ([(0.9, 0.91), (0.9, 0.91), (0.9, 0.8)], False),  # more tasks gain, but the mean falls
        ([(0.9, 0.89), (0.9, 0.89), (0.5, 0.9)], False),  # the mean rises, but more tasks lose
    ],
)
def test_accuracy_must_rise_on_the_mean_and_in_more_tasks_than_it_falls(
    accuracies: list[tuple[float, float]], holds: bool
) -> None:
    counts = {f"{machine} {figure}": 5.0 for machine in MACHINES for figure in ("paper", "slack", "alpha")}
    apart = {"angle": 2.0, "distance": 0.1}
    tasks = [{"svm test": one, "minimal test": half, **counts, **apart} for one, half in accuracies]
    fewer, accuracy, near = z18._claims({"ATT": tasks})
    assert (fewer.holds, accuracy.holds, near.holds) == (False, holds, True)


def task(slack: float = 5.0, alpha: float = 5.0, angle: float = 2.0, distance: float = 0.1) -> z18.Means:
    """Return a task where the SVM has 5 support vectors by xi > 0 and by alpha > 0."""
    svm = {"svm test": 0.9, "svm slack": 5.0, "svm alpha": 5.0, "svm paper": 5.0}
    minimal = {"minimal test": 0.9, "minimal slack": slack, "minimal alpha": alpha, "minimal paper": slack}
    return {**svm, **minimal, "angle": angle, "distance": distance}


@pytest.mark.parametrize(("slack", "alpha", "holds"), [(4.0, 4.0, True), (4.0, 5.0, False), (5.0, 4.0, False)])
def test_support_vectors_must_be_fewer_by_both_rules(slack: float, alpha: float, holds: bool) -> None:
    assert z18._claims({"ATT": [task(slack, alpha)]})[0].holds == holds


@pytest.mark.parametrize(
    ("angles", "distance", "holds"),
    [((0.0, 13.4), 0.1, True), ((0.0, 13.6), 0.1, False), ((2.0, 2.0), 0.15, False)],
)
def test_the_papers_own_sets_must_be_as_near_as_it_says(
    angles: tuple[float, float], distance: float, holds: bool
) -> None:
    found = {"ATT": [task(angle=angle, distance=distance) for angle in angles], "toy": [task(angle=80.0)]}
    assert z18._claims(found)[-1].holds == holds


def test_each_machine_has_its_own_c_from_the_training_part_of_the_fold(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def error(machine: SVM | MinimalSVM, X: np.ndarray, y: np.ndarray, n_folds: int) -> float:
        seen.append(len(X))
        return float((machine.C < 1.0) == isinstance(machine, SVM))

    monkeypatch.setattr(z18, "cross_validated_error", error)
    assert z18.select(lab.data, "usps", (3, 8), 10, 0, "svm") == {"C": 1.0}
    assert z18.select(lab.data, "usps", (3, 8), 10, 0, "minimal") == {"C": 0.1}
    assert seen == [10] * 4


def test_a_missing_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["z18-table2", "--data", str(tmp_path / "none"), "--store", str(tmp_path)]
    assert _report.run(program.main, arguments) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: there is no data set")
    assert message.count("\n") == 1
