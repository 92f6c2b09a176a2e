"""Training regressions: by cross-validation, tested with an interval, told in the card, refused with a sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from narrowing import known
from sklearn.datasets import make_friedman1

from sparsegen import data
from sparsegen.data import Dataset
from sparsegen.errors import DataError, OptionError
from sparsegen.methods import methods_for
from sparsegen.model import SparseModel
from sparsegen.model.value_quality import ValueQuality, known_values, measure_values
from sparsegen.training.choose_values import search_values
from sparsegen.training.tasks import train_for
from sparsegen.training.values import train_values

QUICK = {"n_vectors": 6, "gamma": 0.05, "C": 10.0, "max_iter": 15}
Sets = tuple[Dataset, Dataset]


@pytest.fixture(scope="module")
def whole() -> Dataset:
    X, y = make_friedman1(240, n_features=6, noise=0.5, random_state=0)
    return data.from_arrays(X, y, source="friedman.csv")


@pytest.fixture(scope="module")
def sets(whole: Dataset) -> Sets:
    return data.split(whole, 0.25, seed=0, has_classes=False)


def test_a_regression_is_trained_tested_and_told(sets: Sets) -> None:
    report = train_values(*sets, parameters=dict(QUICK))
    model, found = report.model, report.result
    predicted, truth = model.predict(sets[1].X), data.targets(sets[1])
    assert (model.task, report.test_rows, report.train_rows) == ("regression", 60, 180)
    assert found.mae == pytest.approx(np.abs(predicted - truth).mean())
    assert found.rmse == pytest.approx(np.sqrt(((predicted - truth) ** 2).mean()))
    assert found.r2 == pytest.approx(1 - ((predicted - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    assert found.mean_mae == pytest.approx(np.abs(truth - data.targets(sets[0]).mean()).mean())
    assert found.mae_low < found.mae < found.mae_high < known(found.mean_mae)
    assert known_values(SparseModel.from_bytes(model.to_bytes()).card) == found
    assert model.card["data"]["rows"] == 180
    assert model.card["ranges"] is not None
    assert report.warnings == ()
    assert train_values(*sets, parameters=dict(QUICK)).model == model


def test_gamma_and_c_are_chosen_where_they_are_not_given(sets: Sets) -> None:
    report = train_values(*sets, parameters={"n_vectors": 4, "max_iter": 5})
    assert report.search is not None
    assert set(report.search.chosen) == {"gamma", "C"}
    best = max(score for _, score in report.search.candidates)
    assert dict(report.search.candidates[[score for _, score in report.search.candidates].index(best)][0]) == (
        report.search.chosen
    )
    assert report.model.card["search"]["metric"] == "r2"
    assert report.model.card["parameters"]["gamma"] == report.search.chosen["gamma"]


@pytest.mark.parametrize("metric", ["r2", "mae"])
def test_the_width_of_the_tube_is_chosen_too_where_it_is_auto(sets: Sets, metric: str) -> None:
    parameters = {**QUICK, "epsilon": "auto", "max_iter": 5}
    report = train_values(*sets, parameters=parameters, metric=metric)
    assert report.search is not None
    assert [tried["epsilon"] for tried, _ in report.search.candidates] == [0.0, 0.1, 0.3]
    assert report.search.metric == metric
    assert all((score < 0) == (metric == "mae") for _, score in report.search.candidates)


def test_groups_stay_together_in_split_search_and_interval(whole: Dataset) -> None:
    grouped = data.from_arrays(whole.X, data.targets(whole), groups=np.arange(240) // 12)
    train_set, test_set = data.split(grouped, 0.25, seed=0, has_classes=False)
    report = train_values(train_set, test_set, parameters={"n_vectors": 4, "max_iter": 3, "C": 10.0})
    assert report.search is not None
    assert (report.result.groups, report.search.groups) == (5, 15)
    assert "if groups of rows are independent" in str(report.result)
    few = replace(train_set, groups=np.zeros(len(train_set.y), dtype=np.int64))
    assert "gamma and C kept the default: cross-validation needs 2 groups of training rows" in (
        train_values(few, test_set, parameters={"n_vectors": 4, "max_iter": 3}).warnings
    )


def test_the_last_training_takes_all_rows(sets: Sets) -> None:
    report = train_values(*sets, parameters=dict(QUICK), final=True)
    assert report.is_final
    assert report.model.card["final_rows"] == 240
    assert known_values(report.model.card) == report.result


def test_features_that_say_nothing_are_told() -> None:
    rng = np.random.default_rng(0)
    noise = data.from_arrays(np.hstack([rng.normal(size=(120, 3)), np.ones((120, 1))]), rng.normal(size=120))
    report = train_values(*data.split(noise, 0.25, seed=0, has_classes=False), parameters={**QUICK, "C": 100.0})
    assert any("no better than the mean of the training rows" in warning for warning in report.warnings)
    assert any("constant features carry no information: x3" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"parameters": {"class_weight": "balanced"}}, "weights of classes mean nothing to a regression"),
        ({"parameters": {"probability": True}}, "no classes and so no probabilities"),
        ({"parameters": {"ratio": 0.1}}, "knows no share of support vectors"),
        ({"parameters": {"loss": "hinge"}}, "has a loss of its own"),
        ({"metric": "accuracy"}, "metric 'accuracy' is not one of a regression; choose one of: r2, mae"),
        ({"method": "slmc"}, "method 'slmc' is for classification, not for regression; choose one of: slmr"),
        ({"seed": -1}, "the seed must lie"),
        ({"parameters": {"n_vectors": 500}}, "fewer than the 500 vectors"),
        ({"parameters": {"epsilon": -1.0}}, "epsilon is -1.0, but must be a finite number >= 0"),
        ({"parameters": {"gama": 1.0}}, "has no parameter 'gama' .did you mean 'gamma'"),
        ({"parameters": {"gamma": 1e300, "kernel": "poly"}}, "training broke down"),
    ],
)
def test_a_mistake_is_a_sentence(sets: Sets, options: dict[str, Any], reason: str) -> None:
    with pytest.raises((OptionError, DataError), match=reason):
        train_values(*sets, **options)


def test_labels_that_are_no_values_are_refused(sets: Sets) -> None:
    words = data.from_arrays(sets[0].X, ["tap"] * 180, source="w.csv")
    for pair in ((words, sets[1]), (sets[0], data.from_arrays(sets[1].X, ["tap"] * 60, source="w.csv"))):
        with pytest.raises(DataError, match=r"label 1 of w.csv is 'tap', which is no number"):
            train_values(*pair, parameters=dict(QUICK))
    with pytest.raises(DataError, match=r"has 5 features, friedman.csv has 6"):
        train_values(sets[0], data.from_arrays(sets[1].X[:, :5], sets[1].y, source="n.csv"))
    with pytest.raises(DataError, match="has the value 3"):
        train_values(data.from_arrays(sets[0].X, np.full(180, 3)), sets[1])


def test_columns_that_tell_the_value_are_named() -> None:
    rng = np.random.default_rng(0)
    y, X = rng.normal(size=80), rng.normal(size=(80, 2))
    leaking = data.from_arrays(np.column_stack([X, 32 + 1.8 * y, np.arange(80)]), y, ["a", "b", "fahrenheit", "n"])
    train_set, test_set = data.split(leaking, 0.25, seed=0, has_classes=False)
    told = data.leaks(train_set, test_set, has_classes=False)
    assert [sentence.split(" ")[1] for sentence in told] == ["'fahrenheit'", "'n'"]
    honest = data.from_arrays(np.column_stack([X, y + 0.01 * X[:, 0]]), y)
    assert data.leaks(*data.split(honest, 0.25, seed=0, has_classes=False), has_classes=False) == ()


def test_two_rows_are_too_few_to_choose_by() -> None:
    method: Any = methods_for("regression")["slmr"]
    with pytest.raises(DataError, match="choosing gamma by cross-validation needs 4 training rows"):
        search_values(method(gamma="auto"), np.eye(3), np.arange(3.0), 0)


def test_the_task_chooses_the_trainer(sets: Sets) -> None:
    assert train_for("regression", *sets, parameters=dict(QUICK)).model.card["method"] == "slmr"
    with pytest.raises(OptionError, match="method 'slmr' is for regression, not for classification"):
        train_for("classification", *sets, method="slmr")


# ---- The interval ----------------------------------------------------------------------------------------------------


def test_the_interval_holds_the_true_mean_error_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    held = 0
    for trial in range(200):
        found = measure_values(rng.exponential(1.0, 80), np.zeros(80), seed=trial)
        held += found.mae_low <= 1.0 <= found.mae_high
    assert 0.88 <= held / 200 <= 1.0


def test_rows_of_one_group_are_drawn_together() -> None:
    """Ten groups of fifty equal errors tell as much as ten rows."""
    errors = np.repeat(np.random.default_rng(0).exponential(1.0, 10), 50)
    alone, together = (measure_values(errors, np.zeros(500), groups=g) for g in (None, np.arange(500) // 50))
    ten = measure_values(errors[::50], np.zeros(10))
    assert together.mae_low == pytest.approx(ten.mae_low)
    assert together.mae_high == pytest.approx(ten.mae_high)
    assert together.mae_high - together.mae_low > 4 * (alone.mae_high - alone.mae_low)


def test_of_very_many_rows_sums_are_drawn() -> None:
    errors = np.random.default_rng(0).exponential(1.0, 50_000)
    found = measure_values(errors, np.zeros(50_000))
    reach = 1.96 * errors.std() / np.sqrt(50_000)
    assert found.mae_high - found.mae_low == pytest.approx(2 * reach, rel=0.1)


def test_the_interval_does_not_depend_on_the_order_of_the_rows() -> None:
    """``train`` sees the test rows in another order than ``predict``, which reads the whole file."""
    rng = np.random.default_rng(0)
    errors, groups = rng.exponential(1.0, 300), rng.integers(0, 40, 300)
    order = rng.permutation(300)
    for known_groups, others in ((None, None), (groups, 39 - groups[order])):
        one = measure_values(errors, np.zeros(300), groups=known_groups)
        other = measure_values(errors[order], np.zeros(300), groups=others)
        assert (other.mae_low, other.mae_high) == pytest.approx((one.mae_low, one.mae_high))


def test_what_is_printed_is_rounded_to_the_side_of_the_larger_error() -> None:
    found = ValueQuality(9, 0.123449, 0.99991, 0.98769, 0.11119, 0.13331, None, None, 2)
    assert found.figures == "R2 0.9876, mean error 0.1235, RMSE 1"
    assert found.in_words() == (
        "mean error: estimated 95 % interval 0.1111 to 0.1334 if rows are independent, "
        "but 2 are copies of training rows"
    )
    assert measure_values(np.ones(3), np.ones(3)).figures == "mean error 0, RMSE 0"
