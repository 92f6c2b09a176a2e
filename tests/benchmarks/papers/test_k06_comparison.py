from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.papers import _k06_selection, _k06_sets, k06, k06_comparison
from benchmarks.papers._greedy_path import grow
from benchmarks.papers._k06_selection import SIZES, Comparison, Curve
from benchmarks.papers._k06_sets import Pair
from benchmarks.papers._lab import Lab
from benchmarks.papers.k06 import Choice
from sparsegen.methods.spsvm import SpSVM


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    rng = np.random.default_rng(0)
    y = (np.arange(150) % 3).astype(np.uint8)
    X = rng.normal(size=(150, 3)) + 2.0 * np.eye(3)[y]
    np.savez(tmp_path / "usps.npz", X_train=X[:90], y_train=y[:90], X_test=X[90:], y_test=y[90:])
    signs = np.where(y == 0, 1, -1).astype(np.int8)
    splits = np.array([rng.permutation(150) for _ in range(2)]).astype(np.uint16)
    (tmp_path / "ida").mkdir()
    np.savez(tmp_path / "ida" / "german.npz", X=X, y=signs, train=splits[:, :70], test=splits[:, 70:], origin=[1, 0])
    monkeypatch.setitem(_k06_sets.PAIRS, "two digits", Pair("usps", (0,), (2,)))
    monkeypatch.setattr(k06, "LAMBDAS", {"SVM": (0.5,)})
    monkeypatch.setattr(k06, "WIDTHS", (1.0,))
    monkeypatch.setattr(k06_comparison, "SETS", ("german", "two digits"))
    for module in (_k06_selection, k06_comparison):
        monkeypatch.setattr(module, "SIZES", (2, 4, 8))
        monkeypatch.setattr(module, "MORE_SIZES", (2, 4, 8, 100))  # more than there are rows
        monkeypatch.setattr(module, "SHOWN", (4, 8))
    monkeypatch.setattr(_k06_selection, "RSVM_LAMBDAS", (0.5, 50.0))
    monkeypatch.setattr(_k06_selection, "RSVM_SELECTION_SIZE", 8)
    return Lab(tmp_path, tmp_path / "cells", splits=1)


def test_every_machine_is_measured_at_every_size_and_once(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = k06_comparison.comparison(lab, tmp_path)
    rows = [line.split(" | ") for line in section.body.split("\n\n")[1].splitlines()[2:]]
    assert [row[1] for row in rows] == list(_k06_selection.MACHINES) * 2
    assert all(0.0 <= float(error) < 50.0 for row in rows for error in row[2:4])
    for row in rows:
        assert (row[4] == "-") == (row[1] not in _k06_selection.SAME_OBJECTIVE)
        assert row[4] == "-" or float(row[4]) > -0.1  # no machine is below the optimum over all rows
        assert (row[5] == "- |") == (row[1] == "RSVM")
    assert next(row[5] for row in rows if row[1] == "SpSVM-2") == "1.00 |"
    assert section.plots[0].read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(Lab, "_compute", lambda *arguments: pytest.fail("a finished cell was computed again"))
    assert k06_comparison.comparison(lab, tmp_path) == section


def test_a_cell_is_what_the_fitted_machine_has(lab: Lab) -> None:
    cell = _k06_selection.follow(lab.data, "two digits", "SpSVM-1", position=1, lam=0.5, width=1.0)
    split = _k06_sets.rows_of(lab.data, "two digits", 1)
    fitted = SpSVM(8, C=1.0, selection=1, random_state=1).fit(split.X, split.y)
    assert cell["errors"][-1] == pytest.approx(split.error(fitted), abs=1e-3)
    assert cell["objectives"][-1] == pytest.approx(fitted.model_.card["fit"]["objective"], rel=1e-8)
    assert cell["objectives"] == sorted(cell["objectives"], reverse=True)


def test_a_machine_grows_on_a_few_rows_before_it_is_timed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []

    def watched(machine: Any, X: Any, *arguments: Any) -> Any:
        rows.append(len(X))
        return grow(machine, X, *arguments)

    monkeypatch.setattr(_k06_selection, "grow", watched)
    _k06_selection.follow(lab.data, "two digits", "KMP", position=0, lam=0.5, width=1.0)
    assert rows == [40, 60]


FALLING = np.linspace(20.0, 10.0, len(SIZES))


def compared(**changed: Curve) -> Comparison:
    curves = {
        "SpSVM-1": Curve(FALLING, 1.0, 4.0, cost=20.0),
        "SpSVM-2": Curve(FALLING, 2.0, 5.0, cost=1.0, few_steps=0.9),
        "MARK": Curve(FALLING + 0.5, 2.5, 5.5, cost=0.8),
        "Smola": Curve(FALLING, 3.0, 6.0, cost=0.9),
        "GSVC": Curve(FALLING, 4.0, 7.0, cost=0.9),
        "random": Curve(FALLING, 5.0, 8.0, cost=0.5),
        "RSVM": Curve(FALLING + 4.0),
        "KMP": Curve(FALLING, cost=1.0),
        "MARK-LS": Curve(FALLING, cost=1.0),
    }
    return Comparison(Choice(0.5, 1.0, 1), svm=14.5, n_support=200, curves=curves | changed)


def test_needs_is_the_first_size_close_to_the_svm() -> None:
    found = compared()
    assert found.needs("SpSVM-2") == SIZES[int(np.flatnonzero(FALLING <= 15.5)[0])]
    assert found.needs_text("RSVM") == f"{SIZES[int(np.flatnonzero(FALLING <= 11.5)[0])]}"
    never = compared(MARK=Curve(FALLING + 20.0), RSVM=Curve(np.append(FALLING, [10.0, 10.0]) + 20.0))
    assert never.needs("MARK") == never.needs("RSVM") == np.inf
    assert (never.needs_text("MARK"), never.needs_text("RSVM")) == ("over 100", "over 200")
    assert compared(RSVM=Curve(np.append(FALLING + 9.0, [15.4, 11.0]))).needs("RSVM") == 140


def test_the_papers_claims_hold_where_the_curves_are_its_own() -> None:
    claims = k06_comparison.claims({"a": compared(), "b": compared()})
    assert [claim.holds for claim in claims] == [True] * len(claims)


@pytest.mark.parametrize(
    ("machine", "curve", "broken"),
    [
        ("RSVM", Curve(FALLING + 0.5), [0]),
        ("MARK", Curve(FALLING + 1.2, 2.5, 5.5, cost=0.8), [1]),
        ("MARK", Curve(FALLING, 2.5, 5.5, cost=0.4), [1]),
        ("MARK-LS", Curve(FALLING, cost=2.1), [2]),
        ("Smola", Curve(FALLING, 3.0, 3.9, cost=0.9), [3]),
        ("SpSVM-1", Curve(FALLING, 1.0, 4.0, cost=0.9), [4]),
        ("SpSVM-2", Curve(FALLING, 10.1, 5.0, cost=1.0, few_steps=0.9), [5]),
        ("SpSVM-2", Curve(FALLING, 2.0, 5.0, cost=1.0, few_steps=0.0), [6]),
    ],
)
def test_a_claim_fails_where_a_set_says_otherwise(machine: str, curve: Curve, broken: list[int]) -> None:
    """The first wants most sets, the last the mean over them, the others every set."""
    claims = k06_comparison.claims({"a": compared(), "b": compared(**{machine: curve})})
    assert [k for k, claim in enumerate(claims) if not claim.holds] == broken
