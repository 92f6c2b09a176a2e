from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _report
from benchmarks.papers import __main__ as papers
from benchmarks.papers import k06_figure1
from benchmarks.papers._lab import Lab
from benchmarks.papers.k06_figure1 import Curve, Panel


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    rng = np.random.default_rng(0)
    y = (np.arange(120) % 3).astype(np.uint8)
    X = rng.normal(size=(120, 3)) + 2.0 * np.eye(3)[y]
    np.savez(tmp_path / "usps.npz", X_train=X[:90], y_train=y[:90], X_test=X[90:], y_test=y[90:])
    signs = np.where(y == 0, 1, -1).astype(np.int8)
    splits = np.array([rng.permutation(120) for _ in range(2)]).astype(np.uint16)
    (tmp_path / "ida").mkdir()
    path = tmp_path / "ida" / "german.npz"
    np.savez(path, X=X, y=signs, train=splits[:, :70], test=splits[:, 70:], origin=np.array([1, 0]))
    panels = {"two digits": Panel("usps", (0,), (0, 2)), "german": Panel("german")}
    monkeypatch.setattr(k06_figure1, "PANELS", panels)
    small = {"LAMBDAS": (0.5,), "WIDTHS": (0.3, 1.0), "SELECTION_SIZE": 4, "MOST": 12, "SHOWN": (3, 12)}
    for name, value in small.items():
        monkeypatch.setattr(k06_figure1, name, value)
    return Lab(tmp_path, tmp_path / "cells", splits=2)


def test_rows_are_those_of_the_two_classes(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    split = k06_figure1.rows_of(lab.data, "two digits", 0)
    assert (len(split.y), len(split.y_test)) == (60, 20)
    assert sorted(set(split.y.tolist())) == [-1, 1]
    np.testing.assert_array_equal(split.X[split.y == 1].mean(axis=0).argmax(), 0)
    monkeypatch.setattr(k06_figure1, "TRAINING_ROWS", 25)
    np.testing.assert_array_equal(k06_figure1.rows_of(lab.data, "two digits", 0).X, split.X[:25])


def test_the_figure_has_every_curve_and_computes_each_once(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = k06_figure1.figure1(lab, tmp_path)
    rows = [line.split(" | ") for line in section.body.splitlines()[2:]]
    assert [row[1] for row in rows] == ["KMP-R", "KMP-NR", "SpSVM-R", "SpSVM-NR"] * 2
    assert [row[2].partition(",")[0] for row in rows[:2]] == ["0.5", "1e-05"]
    assert all(0.0 <= float(error) < 40.0 for row in rows for error in row[3:5])
    assert section.plots[0].read_bytes().startswith(b"\x89PNG")
    before = section.plots[0].read_bytes()
    monkeypatch.setattr(Lab, "_compute", lambda *arguments: pytest.fail("a finished curve was computed again"))
    assert k06_figure1.figure1(lab, tmp_path) == section
    assert section.plots[0].read_bytes() == before


def test_a_machine_that_cannot_grow_stays_as_it_is(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    case: dict[str, Any] = {"panel": "german", "curve": "SpSVM-R", "position": 0, "lam": 0.5, "width": 1.0}
    shorter = k06_figure1.follow(lab.data, **case)["errors"]
    monkeypatch.setattr(k06_figure1, "MOST", 100)
    errors = k06_figure1.follow(lab.data, **case)["errors"]
    assert errors[:12] == shorter
    assert len(errors) == 100
    assert len(set(errors[70:])) == 1


def test_the_methods_share_gamma_and_have_their_own_lam(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {
        ("kmp", 0.5, 0.3): 5.0,  # the lowest of kmp, where spsvm is bad
        ("spsvm", 0.5, 0.3): 20.0,
        ("spsvm", 5.0, 0.3): 20.0,
        ("kmp", 5.0, 1.0): 6.0,
        ("spsvm", 0.5, 1.0): 7.0,
    }
    monkeypatch.setattr(k06_figure1, "LAMBDAS", (5.0, 0.5))
    monkeypatch.setattr(
        Lab,
        "map",
        lambda self, work, cases, title: [
            {"error": errors.get((case["method"], case["lam"], case["width"]), 9.0)} for case in cases
        ],
    )
    assert k06_figure1.choose(lab, "german") == (1.0, {"kmp": 5.0, "spsvm": 0.5})


def curve(panel: str, name: str, *errors: float) -> Curve:
    return Curve(panel, name, 0.5, 1.0, np.array(errors))


def test_overfitting_starts_where_the_error_leaves_its_lowest_for_good() -> None:
    assert curve("a", "KMP-NR", 9, 5, 4, 4.8, 4.2, 4.6, 5).overfits_from == 6
    assert curve("a", "KMP-NR", 9, 5, 4, 4.8, 4.4).overfits_from == np.inf
    assert curve("a", "KMP-NR", 9, 5, 4, 4.8, 4.4).lowest == 3


@pytest.mark.parametrize(
    ("spsvm_nr", "kmp_nr", "holds"), [((5, 4, 6, 6), (5, 4, 4, 6), True), ((5, 4, 4, 6), (5, 4, 6, 6), False)]
)
def test_claims(spsvm_nr: tuple[float, ...], kmp_nr: tuple[float, ...], holds: bool) -> None:
    curves = {
        "KMP-R": curve("a", "KMP-R", 6, 5, 4, 4),
        "KMP-NR": curve("a", "KMP-NR", *kmp_nr),
        "SpSVM-R": curve("a", "SpSVM-R", 5, 4, 4, 4),
        "SpSVM-NR": curve("a", "SpSVM-NR", *spsvm_nr),
    }
    better, overfits, sooner = k06_figure1.claims({"a": curves})
    assert better.holds
    assert overfits.holds
    assert sooner.holds is holds
    assert not k06_figure1.claims({"M3V8": curves})[0].holds


def test_a_missing_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["k06-figure1", "--data", "absent", "--store", str(tmp_path), "--output", str(tmp_path)]
    assert _report.run(papers.main, options) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
