"""What a page says of a detector: false alarms and detections instead of accuracy, scores, and a ROC curve."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from golden_models import SMALL, wave
from report.reports import Parsed, held_from

from sparsegen.data import Dataset, from_arrays
from sparsegen.errors import ToolError
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import SparseModel
from sparsegen.report import report
from sparsegen.report.roc import roc
from sparsegen.report.sections import baselines
from sparsegen.report.subject import Subject
from sparsegen.report.tested import given_classes

DETECTOR = SMALL["detector"]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def playground_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the playground out, which takes a compilation."""

    def no_compiler(*_: Any, **__: Any) -> None:
        raise ToolError("there is no compiler")

    monkeypatch.setattr("sparsegen.report.sections.playground.playground", no_compiler)


def rows(n: int = 60) -> Dataset:
    """Return rows of which the model is wrong on every tenth; a third score above the threshold that is set here."""
    X = wave(n, 3, step=0.37, size=2.0)
    y = np.array(DETECTOR.classes)[model_of(X).predict_index(X) ^ (np.arange(n) % 10 == 7)]
    return from_arrays(X, y, source="rows.csv")


def model_of(X: np.ndarray) -> SparseModel:
    """Return the detector whose threshold two thirds of the rows are above."""
    cut = float(np.quantile(DETECTOR.scores(X)[:, 0], 1 / 3))
    return replace(DETECTOR, intercept=DETECTOR.intercept - cut)


def seen(of: SparseModel, data: Dataset, **options: Any) -> Parsed:
    return Parsed(report(of, data, devices=(), **options))


def test_false_alarms_and_detections_stand_where_accuracy_would() -> None:
    data = rows()
    of = model_of(data.X)
    held = held_from(of, data, slice(0, 40))
    page = seen(held, data)
    y, given = data.y[:40], held.predict_index(data.X[:40])
    n_normal, n_anomalies = int((y == "normal").sum()), int((y == "anomaly").sum())
    alarms = int((given[y == "normal"] == 0).sum())
    assert alarms and n_anomalies
    assert f"of {n_normal} normal held-out rows; 95 % interval" in page.text
    assert "if groups of rows are independent" in page.text  # as the card says of its own test
    assert f"of {n_anomalies} known anomalies; 95 % interval" in page.text
    assert "; others may look different" in page.text
    assert "tell whether a row is normal or an anomaly." in page.text
    assert "rows labelled */ ok" in page.text
    for word in ("Accuracy", "labelled correctly", "one of 2", "onfus", "Reliability", "Recall"):
        assert word not in page.text, word


def test_scores_and_curve_are_drawn() -> None:
    data = rows()
    page = seen(held_from(model_of(data.X), data, slice(0, 40)), data)
    labels = [a.get("aria-label") or "" for tag, a in page.elements if tag == "svg"]
    assert any(label.startswith("Histogram of the score of 40 rows: anomaly,") for label in labels)
    assert any(label.startswith("ROC curve: detections against false alarms at every threshold") for label in labels)
    assert any(tag == "polyline" and a.get("class") == "roc" for tag, a in page.elements)
    normal = from_arrays(data.X[data.y == "normal"], data.y[data.y == "normal"], source="normal.csv")
    text = seen(held_from(DETECTOR, normal, slice(0, 20)), normal).text
    assert "No ROC curve: that takes normal rows and known anomalies" in text
    assert "not known: no anomaly is among the held-out rows" in text


def test_rows_that_may_be_known_are_no_test() -> None:
    data = rows()
    of = model_of(data.X)
    text = seen(of, data).text
    assert "of 80 normal test rows in 20 groups, as the model's card says; 95 % interval" in text
    assert "rows are independent and were never trained on" in text
    text = seen(replace(of, card={"method": "by hand"}), data).text
    assert text.count("not known: no row here is known to be held out in training") == 2


def test_the_label_of_normal_rows_is_hostile_until_escaped() -> None:
    data = rows()
    of = model_of(data.X)
    told = {**of.card["anomalies"], "normal": HOSTILE}
    page = seen(replace(of, card={**of.card, "anomalies": told}), data)
    assert f"rows labelled {HOSTILE}" in page.text
    assert not any("alert(1)" in script for script in page.scripts)


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_is_what_every_threshold_gives_by_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, is_normal = np.round(rng.normal(size=70), 1), rng.random(70) < 0.6
    scores += np.where(is_normal, 0.5, 0.0)
    found = roc(scores, is_normal)
    assert found is not None
    for threshold in (*found.thresholds, 0.0, -9.0, 9.0):
        called = scores <= threshold
        assert found.at(threshold) == (called[is_normal].mean(), called[~is_normal].mean())
    above = np.sign(scores[is_normal][:, None] - scores[~is_normal])
    assert np.isclose(found.area, np.mean((above + 1) / 2))
    assert roc(scores, np.ones(70, dtype=bool)) is None


@pytest.mark.parametrize("reads", ["f32", "grid", "raw-int16"])
def test_out_of_range_is_an_anomaly_in_integers(reads: str) -> None:
    lowered = lower(DETECTOR, Format("q7", reads))
    assert isinstance(lowered.program, IntegerProgram)
    X = np.vstack([wave(40, 3, step=0.37) * [1.5, 0.8, 0.0] + [0.0, 0.0, 5.0], np.full((2, 3), 30.0)])
    given, within = given_classes(lowered, X), lowered.program.covers(X)
    assert not within[-1] and within.any()
    assert (given[~within] == 0).all()
    assert np.array_equal(given[within], lowered.reference(X).labels[within])
    real = lower(DETECTOR)
    assert np.array_equal(given_classes(real, X), real.reference(X).labels)


def test_baselines_are_left_out_with_a_sentence() -> None:
    given = {"with_baselines": True, "main_cost": object(), "is_detector": True, "has_classes": True, "model": DETECTOR}
    made = baselines.section(cast(Subject, SimpleNamespace(**given)))
    assert made is not None
    assert "No baselines: an SVC, a forest and a network learn from examples of anomalies" in made.html
