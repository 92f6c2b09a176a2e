"""Training of detectors: only normal rows teach, known anomalies test, and what is told of both is true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from sparsegen import data
from sparsegen.data import Dataset
from sparsegen.errors import DataError, OptionError
from sparsegen.model.detector_quality import DetectorQuality, known_detection
from sparsegen.model.held_out import held_out
from sparsegen.model.judged import Judged
from sparsegen.promised import Accuracy
from sparsegen.training.anomalies import AnomalyReport, measure, train_anomalies
from sparsegen.training.tasks import train_for

SMALL: dict[str, Any] = {"gamma": 0.3, "n_vectors": 4, "max_iter": 10}


def pump(rng: np.random.Generator, n: int, kind: str = "ok") -> NDArray[np.float64]:
    """Return rows of a pump: speed, vibration that grows with it, and temperature."""
    speed = rng.uniform(0.5, 1.0, n)
    vibration = speed * (2.5 if kind == "leak" else 1.0) * rng.normal(1.0, 0.05, n)
    return np.column_stack([speed, vibration, 40.0 + 20.0 * speed + rng.normal(0.0, 1.0, n)])


def rows(seed: int, n_normal: int, n_leaks: int, groups: NDArray[np.int64] | None = None) -> Dataset:
    rng = np.random.default_rng(seed)
    X = np.vstack([pump(rng, n_normal), pump(rng, n_leaks, "leak")])
    return data.from_arrays(X, ["ok"] * n_normal + ["leak"] * n_leaks, ("speed", "rms", "heat"), groups=groups)


def trained(train_set: Dataset, test_set: Dataset, **options: Any) -> AnomalyReport:
    return train_anomalies(train_set, test_set, **{"parameters": dict(SMALL), "normal": "ok", **options})


def test_report_and_card() -> None:
    report = trained(rows(1, 80, 6), rows(2, 40, 5))
    alarms, detections = report.result.alarms, report.result.detections
    assert alarms is not None
    assert detections is not None
    # the anomalies among the training rows test as well, for they chose nothing
    assert (report.train_rows, alarms.rows, detections.rows, report.test_rows) == (80, 40, 11, 51)
    assert (report.search, report.is_final, report.model.classes) == (None, False, ("anomaly", "normal"))
    called = report.model.predict(report.test_set.X)
    assert alarms.correct == np.count_nonzero((called == "anomaly") & (report.test_set.y == "normal"))
    assert detections.correct == np.count_nonzero((called == "anomaly") & (report.test_set.y == "anomaly"))
    card = report.model.card
    assert known_detection(card) == report.result
    assert (card["anomalies"]["normal"], card["anomalies"]["nu"], card["data"]["rows"]) == ("ok", 0.05, 80)
    assert card["confusion"] == [[detections.correct, 11 - detections.correct], [alarms.correct, 40 - alarms.correct]]
    remembered = held_out(card, report.test_set.X)
    assert remembered is not None
    assert remembered.all()


def test_anomalies_that_choose_nothing_leave_no_trace_in_training() -> None:
    """The adversary: anomalies of any kind, or none, give the same machine, bit for bit, and the same card of it."""
    test_set, without = rows(2, 40, 5), trained(rows(1, 80, 0), rows(2, 40, 5))
    original = rows(1, 80, 9)
    scrambled = original.X.copy()
    scrambled[80:] = 1e6 * np.random.default_rng(0).normal(size=(9, 3))
    others = [original, data.from_arrays(scrambled, original.y, original.feature_names)]
    for train_set in others:
        model = trained(train_set, test_set).model
        for name in ("vectors", "coef", "intercept"):
            assert_array_equal(getattr(model, name), getattr(without.model, name))
        assert model.transform.offset.tolist() == without.model.transform.offset.tolist()
        for name in ("ranges", "data", "fit", "parameters"):
            assert model.card[name] == without.model.card[name]


def test_anomalies_choose_gamma_and_are_then_not_tested_on() -> None:
    parameters = {"n_vectors": 3, "max_iter": 5}
    report = trained(rows(1, 60, 12), rows(2, 40, 11), parameters=parameters)
    assert report.search is not None
    assert (report.search.metric, report.search.rows, report.search.folds) == ("auc", 72, 3)
    assert max(score for _, score in report.search.candidates) <= 1.0
    assert report.result.detections is not None
    assert report.result.detections.rows == 11
    few = trained(rows(1, 60, 12), rows(2, 40, 9), parameters=parameters)  # too few to test on: all of them test
    assert few.search is None
    assert few.result.detections is not None
    assert few.result.detections.rows == 21


def test_recordings_that_were_trained_on_are_not_tested() -> None:
    groups = np.repeat(np.arange(8), 10)
    train_set = rows(1, 60, 20, groups)  # of recordings 6 and 7 every row is an anomaly
    y = train_set.y.copy()
    y[[3, 13]] = "leak"  # and of two others one row
    train_set = replace(train_set, y=y)
    test_set = rows(2, 30, 0, np.repeat(np.arange(20, 23), 10))
    found = trained(train_set, test_set).result
    assert found.detections is not None
    assert (found.detections.rows, found.detections.groups, found.detections.independent) == (20, 2, 2.0)
    assert found.alarms is not None
    assert (found.alarms.rows, found.alarms.groups, found.alarms.independent) == (30, 3, 3.0)


def test_final_training_takes_all_normal_rows_and_no_other() -> None:
    report = trained(rows(1, 80, 0), rows(2, 40, 5), final=True)
    assert report.is_final
    assert (report.model.card["final_rows"], report.model.card["data"]["rows"]) == (120, 120)
    assert known_detection(report.model.card) == report.result
    assert "held_out" not in report.model.card
    test_set = rows(2, 40, 5)
    X = test_set.X.copy()
    X[40:] *= 100
    again = trained(rows(1, 80, 0), data.from_arrays(X, test_set.y, test_set.feature_names), final=True)
    assert_array_equal(again.model.vectors, report.model.vectors)


def test_interval_of_false_alarms_holds_on_new_rows() -> None:
    """Of 300 tests of one detector about 95 % must name an interval that holds its rate, which 40,000 rows tell."""
    report = trained(rows(1, 150, 0), rows(2, 40, 0))
    rng = np.random.default_rng(7)

    def alarms(n: int) -> tuple[float, tuple[float, float]]:
        X = pump(rng, n)
        found = measure(report.model, report.test_set, data.from_arrays(X, ["normal"] * n))[0].alarms
        assert found is not None
        return found.share, found.interval

    rate, _ = alarms(40_000)
    holds = [low <= rate <= high for _, (low, high) in (alarms(60) for _ in range(300))]
    assert np.mean(holds) >= 0.92  # 95 % but for three standard deviations of 300 draws


def test_warnings() -> None:
    constant = rows(1, 40, 0)
    X = constant.X.copy()
    X[:, 2] = 3.0
    report = trained(data.from_arrays(X, constant.y, constant.feature_names), rows(2, 40, 0))
    told = " ".join(report.warnings)
    assert "features that never change in normal rows: heat" in told
    assert "no anomaly is known, so how many are detected was not tested" in told
    assert "false alarms on new normal rows are surely more" in told
    reversed_set = rows(2, 40, 0)
    alike = np.vstack([reversed_set.X, np.repeat(constant.X.mean(axis=0, keepdims=True), 6, axis=0)])
    hidden = data.from_arrays(alike, ["ok"] * 40 + ["leak"] * 6, constant.feature_names)
    assert "known anomalies score no lower than normal rows do" in " ".join(trained(constant, hidden).warnings)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"parameters": {"C": 1.0}}, "a detector is told by nu how many rows may lie outside, and has no C"),
        ({"parameters": {"class_weight": "balanced"}}, "a detector learns from normal rows only"),
        ({"parameters": {"probability": True}}, "a detector has a score and no probabilities"),
        ({"parameters": {"projection": 2}}, "a detector learns no projection"),
        ({"parameters": {"nu": 1.5}}, "nu is 1.5, but must be"),
        ({"metric": "accuracy"}, "a detector of anomalies is chosen for auc"),
        ({"method": "slmc"}, "method 'slmc' is for classification, not for anomaly"),
        ({"seed": -1}, "the seed must lie between"),
        ({"parameters": {"kernel": "linear"}}, "does not give 1 for a row and itself"),
    ],
)
def test_options_that_mean_nothing_to_a_detector(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        trained(rows(1, 20, 2), rows(2, 10, 2), **options)


def test_rows_that_cannot_be_tested() -> None:
    with pytest.raises(DataError, match=r"no test row of arrays has the label 'ok' of normal rows.*are 'leak'"):
        trained(rows(1, 20, 2), rows(2, 0, 3))
    with pytest.raises(DataError, match="2 normal rows of arrays are there to train on, but 4 are needed"):
        trained(rows(1, 2, 2), rows(2, 10, 2))
    with pytest.raises(DataError, match="choosing gamma by cross-validation needs anomalies among them"):
        trained(rows(1, 20, 0), rows(2, 10, 2), parameters={**SMALL, "gamma": "auto"})


def test_only_a_detector_is_told_which_rows_are_normal() -> None:
    both = (rows(1, 20, 20), rows(2, 10, 10))
    report = train_for("anomaly", *both, normal="ok", parameters=dict(SMALL))
    assert report.model.task == "anomaly"
    with pytest.raises(OptionError, match="a label of normal rows means nothing to a classifier") as caught:
        train_for("classification", *both, normal="ok")
    assert caught.value.change == {"normal": "", "task": "anomaly"}


def test_judged_by_both_kinds() -> None:
    report = trained(rows(1, 80, 0), rows(2, 40, 5))
    model, test_set = report.model, report.test_set
    from sparsegen.lowering import lower
    from sparsegen.lowering.formats import Format

    judged = lower(model, Format("f32")).test(test_set.X, test_set.y)
    assert isinstance(judged, Judged)
    assert judged.detection == DetectorQuality(report.result.alarms, report.result.detections)
    told = str(judged)
    assert "all 45 rows were held out in training; of those: false alarms" in told
    assert "others may look different" in told
    calibrated = lower(model, Format("q7", rows=test_set.X, labels=test_set.y))
    assert isinstance(calibrated.judged, Judged)
    assert calibrated.judged.detection is not None
    assert calibrated.agreement is not None


def test_a_format_that_loses_the_few_anomalies_is_told() -> None:
    from sparsegen.lowering.agreement import compare_labels

    model = trained(rows(1, 80, 0), rows(2, 40, 5)).model
    labels = np.array(["normal"] * 1000 + ["anomaly"] * 20)
    real = (labels == "normal").astype(np.int64)
    ours = real.copy()
    ours[-4:] = 1  # 4 of 20 detections, which are 0.4 % of all rows
    found = compare_labels(model, real, ours, labels, "q7")
    assert (found.worst_kind, found.loss, found.lost) == ((4, 20), 20.0, "20.00 points")
    assert compare_labels(model, real, real, labels, "q7").loss == 0.0


def test_words_are_rounded_to_the_worse_side() -> None:
    found = DetectorQuality(Accuracy(1, 3, 1.0, 1), Accuracy(2, 3), 0.99996)
    (alarms, detected) = found.lines("rows held out")
    assert alarms[1].startswith("33.34 % of 3 normal rows held out in 1 group (95 % interval ")
    assert "if groups of rows are independent" in alarms[1]
    assert detected[1].startswith("66.66 % of 3 known anomalies (95 % interval ")
    assert detected[1].endswith("if rows are independent); others may look different")
    assert str(found.area_in_words).startswith("0.9999:")
