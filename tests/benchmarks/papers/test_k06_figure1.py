from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import _report
from benchmarks.papers import __main__ as papers
from benchmarks.papers import _k06_sets, k06_figure1
from benchmarks.papers._k06_sets import Pair
from benchmarks.papers._lab import Lab
from benchmarks.papers.k06_figure1 import Curve


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
    monkeypatch.setitem(_k06_sets.PAIRS, "M3VOthers", Pair("usps", (0,), (1, 2)))
    panels = ("M3VOthers", "german")
    small = {"LAMBDAS": (0.5,), "WIDTHS": (0.3, 1.0), "SELECTION_SIZE": 4, "MOST": 12, "SHOWN": (3, 12)}
    small |= {"PANELS": panels, "INITIAL": 3, "TRAINING_ROWS": 50}
    for name, value in small.items():
        monkeypatch.setattr(k06_figure1, name, value)
    return Lab(tmp_path, tmp_path / "cells", splits=2)


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


def test_height_is_the_mean_along_the_logarithmic_axis() -> None:
    """Of 1 to 100, half the axis lies below 10."""
    assert curve("a", "KMP-R", *[20.0] * 9, *[0.0] * 91).height(100) == pytest.approx(10.0, abs=0.5)


def curves(panel: str, **changed: tuple[float, ...]) -> dict[str, Curve]:
    errors = {"KMP_R": (6, 5, 4, 4), "KMP_NR": (6, 4, 4, 6), "SpSVM_R": (5, 4, 4, 4), "SpSVM_NR": (5, 4, 6, 6)}
    names = {name: name.replace("_", "-") for name in errors}
    return {names[key]: curve(panel, names[key], *values) for key, values in (errors | changed).items()}


@pytest.fixture
def as_the_paper_says(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Curve]]:
    monkeypatch.setattr(k06_figure1, "INITIAL", 2)
    panels = {name: curves(name) for name in ("Adult", "Shuttle", "M3VOthers", "letter")}
    return panels | {"M3V8": curves("M3V8", KMP_R=(4, 4, 4, 3), KMP_NR=(4, 4, 4, 6))}


def test_the_papers_claims_hold_where_the_curves_are_its_own(as_the_paper_says: dict[str, dict[str, Curve]]) -> None:
    assert all(claim.holds for claim in k06_figure1.claims(as_the_paper_says))


@pytest.mark.parametrize(
    ("panel", "changed", "broken"),
    [
        ("Shuttle", {"KMP_R": (4, 4, 4, 3), "KMP_NR": (4, 4, 4, 6)}, [0]),
        ("letter", {"KMP_R": (4, 4, 4, 3), "KMP_NR": (4, 4, 4, 6)}, []),  # the paper says nothing of it
        ("M3V8", {"KMP_R": (6, 5, 4, 4), "KMP_NR": (6, 4, 4, 6)}, [1]),
        ("Shuttle", {"SpSVM_NR": (9, 4, 6, 6)}, [2]),
        ("Adult", {"KMP_NR": (6, 4, 4, 4)}, [3]),
        ("Shuttle", {"KMP_NR": (6, 4, 4, 4)}, []),  # the paper names Adult
        ("letter", {"SpSVM_NR": (9, 4, 6, 6)}, []),
        ("Shuttle", {"SpSVM_NR": (5, 4, 4, 6), "KMP_NR": (6, 4, 6, 6)}, [4]),
        ("letter", {"SpSVM_NR": (5, 4, 4, 6), "KMP_NR": (6, 4, 6, 6)}, []),
        ("Shuttle", {"SpSVM_NR": (5, 4, 4, 6)}, []),  # both from the same size
    ],
)
def test_a_claim_fails_where_its_curves_say_otherwise(
    as_the_paper_says: dict[str, dict[str, Curve]], panel: str, changed: dict[str, tuple[float, ...]], broken: list[int]
) -> None:
    found = k06_figure1.claims(as_the_paper_says | {panel: curves(panel, **changed)})
    assert [k for k, claim in enumerate(found) if not claim.holds] == broken


def test_a_missing_folder_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["k06-figure1", "--data", "absent", "--store", str(tmp_path), "--output", str(tmp_path)]
    assert _report.run(papers.main, options) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
