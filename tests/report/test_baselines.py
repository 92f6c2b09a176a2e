"""Baselines fit the budget that they are given, are right as often as told, and never see the tested rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report.reports import Parsed, held_from, rows_of, small

from sparsegen.data import Dataset, from_arrays
from sparsegen.devices import DEVICES
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel
from sparsegen.report import report
from sparsegen.report.baselines import Contest, contest
from sparsegen.report.baselines.emlearn_code import has_emlearn
from sparsegen.report.baselines.forest import forest, spread
from sparsegen.report.baselines.network import _made, network
from sparsegen.report.baselines.svc import svc
from sparsegen.report.sections import baselines
from sparsegen.report.subject import Subject

DEVICE = "cortex-m4f"
needs_device = pytest.mark.skipif(DEVICES[DEVICE].missing() is not None, reason="zig and unicorn are not installed")
needs_emlearn = pytest.mark.skipif(not has_emlearn(), reason="emlearn is not installed")


@pytest.fixture(scope="module")
def subject() -> Subject:
    model = small(("a", "b"))
    rng = np.random.RandomState(0)
    X = rng.randn(160, 4)
    rows = from_arrays(X, np.where(X[:, 0] + 0.3 * rng.randn(160) > 0, "b", "a"), source="rows.csv")
    return Subject(held_from(model, rows, slice(0, 60)), rows, devices=(DEVICE,))


@pytest.fixture(scope="module")
def match(subject: Subject) -> Contest:
    found = contest(subject)
    assert found is not None
    return found


@needs_device
def test_they_are_trained_on_the_rows_that_were_not_held_out(subject: Subject, match: Contest) -> None:
    assert len(match.X) == 100
    assert np.array_equal(match.X, subject.rows.X[60:])
    assert np.array_equal(match.tests, subject.rows.X[:60])
    cost = subject.main_cost
    assert cost is not None
    assert match.flash == cost.measurement.flash
    given = from_arrays(subject.rows.X[:40] + 9.0, subject.rows.y[:40], source="train.csv")
    of = contest(replace(subject, train=given))
    assert of is not None
    assert np.array_equal(of.X, given.X)


@needs_device
@pytest.mark.parametrize("numbers", [FLOAT32, Format("q7")], ids=lambda numbers: numbers.dtype)
def test_the_svc_is_told_even_where_it_does_not_fit(match: Contest, numbers: Format) -> None:
    found = svc(match, numbers)
    assert found.accuracy is not None
    assert found.accuracy.share > 0.8
    assert found.cost is not None
    assert found.cost.dtype == numbers.dtype
    assert "support vectors" in found.setting


@needs_device
@needs_emlearn
@pytest.mark.parametrize(("peer", "unit"), [(forest, "nodes"), (network, "hidden units")])
def test_peers_fit_and_are_right_as_often_as_the_device_says(match: Contest, peer, unit: str) -> None:
    roomy = replace(match, flash=2600)
    found = peer(roomy)
    assert found.accuracy is not None, found.remark
    assert found.flash is not None
    assert found.flash <= 2600
    assert found.accuracy.rows == 60
    assert found.accuracy.share > 0.75
    assert unit in found.setting


@needs_device
@needs_emlearn
@pytest.mark.parametrize("peer", [forest, network])
def test_where_nothing_fits_a_sentence_says_so(match: Contest, peer) -> None:
    found = peer(replace(match, flash=100))
    assert found.accuracy is None
    assert "fits the flash" in found.remark


@needs_device
def test_the_networks_scaling_is_folded_into_its_first_layer(match: Contest) -> None:
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    X = match.X * [1.0, 100.0, 0.01, 1.0] + [0.0, 500.0, 0.0, 3.0]
    made = _made(replace(match, X=X), 4, iterations=3)
    scaler = StandardScaler().fit(X)
    with pytest.warns(match="Maximum iterations"):
        plain = MLPClassifier((4,), max_iter=3, random_state=0).fit(scaler.transform(X), match.y)
    assert np.allclose(made.predict_proba(X), plain.predict_proba(scaler.transform(X)))


def test_features_are_spread_over_the_integers() -> None:
    low, high = np.array([0.0, 5.0]), np.array([2.0, 5.0])
    found = spread(np.array([[0.0, 5.0], [2.0, 5.0], [1e9, -1e9]]), low, high)
    assert found.tolist() == [[0, 0], [30000, 0], [32767, -32768]]


@pytest.mark.parametrize("held", [slice(0, 0), slice(0, 60)])
def test_without_rows_to_train_on_or_to_test_on_there_is_no_contest(held: slice) -> None:
    model = small()
    rows = rows_of(model)
    subject = Subject(model if held.stop == 0 else held_from(model, rows, held), rows, devices=())
    assert contest(subject) is None
    assert baselines.section(subject) is None  # no device


@needs_device
@pytest.mark.parametrize(
    ("held", "why"), [(False, "no row here is known to be held out"), (True, "baselines need the rows that")]
)
def test_the_page_says_why_there_are_none(held: bool, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsegen.report.page.SECTIONS", (baselines.section,))
    model: SparseModel = small()
    rows: Dataset = rows_of(model)
    of = replace(model, card={**model.card, "held_out": _all_of(rows)}) if held else model
    assert why in Parsed(report(of, rows, devices=[DEVICE])).text


def _all_of(rows: Dataset) -> str | None:
    from sparsegen.model.held_out import remember

    return remember(rows.X, rows.X[:0])


@needs_device
@needs_emlearn
def test_numpy_complains_no_more_than_before(match: Contest) -> None:
    before = np.geterr()
    forest(replace(match, flash=2600))
    assert np.geterr() == before
