"""Training from data sets: the same bytes every time, a card that tells all, and sentences for what cannot be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsegen import data
from sparsegen.data import Dataset
from sparsegen.errors import DataError, OptionError
from sparsegen.methods.slmc import SLMC
from sparsegen.model import SparseModel
from sparsegen.model.card import known_accuracy
from sparsegen.model.confusion import Confusion
from sparsegen.model.held_out import held_out
from sparsegen.training import train as training
from sparsegen.training.report import class_warnings
from sparsegen.training.train import parameter_sentence
from sparsegen.version import __version__

SMALL = {"n_vectors": 5, "max_iter": 5}


@pytest.fixture
def sets(four_classes) -> tuple[Dataset, Dataset]:
    X, y = four_classes
    names = np.array(["north", "east", "south", "west"])[y]
    return data.split(data.from_arrays(X, names, ["a", "b", "c"], "winds.csv"), 0.25, seed=1)


@pytest.mark.parametrize("parameters", [SMALL, {**SMALL, "gamma": "auto"}, {**SMALL, "projection": 2}])
def test_same_data_and_seed_give_the_same_bytes(sets, parameters) -> None:
    first, second = (training.train(*sets, seed=3, parameters=dict(parameters)).model for _ in range(2))
    assert first.to_bytes() == second.to_bytes()
    other = training.train(*sets, seed=4, parameters=dict(parameters)).model
    assert other.to_bytes() != first.to_bytes()


def test_the_card_tells_how_the_model_came_about(sets) -> None:
    train_set, test_set = sets
    report = training.train(train_set, test_set, seed=2, scale="minmax", parameters={**SMALL, "C": "auto"})
    card = report.model.card
    assert card["method"] == "slmc"
    assert card["sparsegen"] == __version__
    assert card["scale"] == "minmax"
    assert card["feature_names"] == ["a", "b", "c"]
    assert card["data"] == {"source": "winds.csv", "sha256": train_set.sha256, "rows": 120}
    assert card["accuracy"] == report.accuracy == np.mean(report.model.predict(test_set.X) == test_set.y)
    assert card["test_rows"] == report.test_rows == 40
    assert card["parameters"]["random_state"] == 2
    assert card["parameters"]["C"] == card["search"]["chosen"]["C"]
    assert report.search is not None
    assert card["search"] == report.search.as_json()


@pytest.mark.parametrize("scale", training.SCALERS)
def test_the_model_takes_raw_features(sets, scale) -> None:
    train_set, test_set = sets
    report = training.train(train_set, test_set, scale=scale, parameters=dict(SMALL))
    assert report.accuracy > 0.4
    assert report.model.n_features == 3
    if scale == "none":
        np.testing.assert_array_equal(report.model.transform.scale, 1.0)


def test_every_method_trains_by_name(sets) -> None:
    from sparsegen.methods import classifiers

    for method in classifiers():
        assert training.train(*sets, method=method).model.card["method"] == method


def test_labels_may_be_integers(four_classes) -> None:
    X, y = four_classes
    whole = data.from_arrays(X, y + 7)
    assert training.train(whole, whole, parameters=dict(SMALL)).model.classes == (7, 8, 9, 10)


def test_constant_features_are_told(four_classes) -> None:
    X, y = four_classes
    whole = data.from_arrays(np.hstack([X, np.ones((len(X), 7))]), y)
    report = training.train(whole, whole, parameters=dict(SMALL))
    assert report.warnings == (
        "160 of 160 test rows (100.00 %) are exact copies of training rows, so the accuracy counts in part what was "
        "learned by heart; remove the copies, or give copies one group",
        "constant features carry no information: x3, x4, x5, x6, x7 and 2 more; drop them for a smaller model",
    )


def test_warnings_of_the_fit_are_reported_once_not_printed(sets, monkeypatch) -> None:
    fit = SLMC.fit

    def warn(self, X, y):
        for _ in range(2):
            warnings.warn("not quite there; lower C", ConvergenceWarning, stacklevel=1)
        warnings.warn("overflow encountered in power", RuntimeWarning, stacklevel=1)
        return fit(self, X, y)

    monkeypatch.setattr(SLMC, "fit", warn)
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("always")
        report = training.train(*sets, parameters=dict(SMALL))
    assert report.warnings == ("not quite there; lower C",)
    assert printed == []


@pytest.mark.parametrize(
    "error", [np.linalg.LinAlgError("singular."), FloatingPointError("overflow"), ValueError("NaNs")]
)
def test_a_numerical_breakdown_says_what_to_change(sets, monkeypatch, error) -> None:
    def break_down(self, X, y):
        raise error

    monkeypatch.setattr(SLMC, "fit", break_down)
    with pytest.raises(OptionError, match=r"training broke down \(\w+\); bring gamma and C closer to 1"):
        training.train(*sets)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"method": "slcm"}, "did you mean 'slmc'"),
        ({"scale": "minmaxx"}, "did you mean 'minmax'"),
        ({"seed": -1}, "the seed must lie between 0 and 4294967295"),
        ({"seed": 2**32}, "the seed must lie between"),
        ({"parameters": {"vectors": 3}}, "has no parameter 'vectors' \\(did you mean 'n_vectors'"),
        ({"parameters": {"n_vectors": "x"}}, "n_vectors is 'x', but must be a whole number >= 1"),
        ({"parameters": {"n_vectors": 5, "ratio": 0.5}}, "exclude each other"),
        ({"parameters": {"gamma": "wide"}}, "gamma is 'wide', but must be 'scale' or a finite number > 0"),
        ({"parameters": {"C": "scale"}}, "C is 'scale', but must be a finite number > 0"),
        ({"parameters": {"kernel": "rbff"}}, "did you mean 'rbf'"),
    ],
)
def test_bad_options(sets, options, reason) -> None:
    with pytest.raises(OptionError, match=reason):
        training.train(*sets, **options)


def test_sets_that_do_not_fit_together(sets) -> None:
    train_set, test_set = sets
    narrow = data.from_arrays(test_set.X[:, :2], test_set.y, source="narrow.csv")
    with pytest.raises(DataError, match=r"narrow.csv has 2 features, winds.csv has 3"):
        training.train(train_set, narrow)
    strange = data.from_arrays(test_set.X, np.where(test_set.y == "east", "up", test_set.y), source="test.csv")
    with pytest.raises(DataError, match=r"rows of test.csv have labels that no training row has: 'up'; add"):
        training.train(train_set, strange)
    labels = np.array(["east", "west"] * 74 + [f"place {k}" for k in range(12)])
    once = data.from_arrays(np.random.default_rng(0).normal(size=(160, 2)), labels)
    with pytest.raises(
        DataError, match=r"no training row has: 'place \d.*; a class needs rows for both, so bring more"
    ):
        training.train(*data.split(once, 0.25, seed=1))
    measured = data.from_arrays(once.X, np.round(once.X.sum(axis=1), 4).astype(str), source="heat.csv")
    with pytest.raises(DataError, match=r"every row of heat.csv has a label of its own; choose a label column"):
        training.train(*data.split(measured, 0.25, seed=0))
    with pytest.raises(DataError, match="fewer than the 121 vectors"):
        training.train(train_set, test_set, parameters={"n_vectors": 121})


def test_one_class_cannot_be_trained(sets) -> None:
    train_set, _ = sets
    alike = data.from_arrays(train_set.X, ["same"] * len(train_set.X))
    with pytest.raises(DataError, match="one class only"):
        training.train(alike, alike)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "The 'ratio' parameter of SLMC must be a float in the range (0.0, 1.0] or None. Got 2.0 instead.",
            "ratio is 2.0, but must be a finite number > 0 and <= 1",
        ),
        (
            "The 'loss' parameter of SLMC must be a str among {'squared_hinge', 'hinge'}. Got 'x' instead.",
            "loss is 'x', but must be 'hinge' or 'squared_hinge'",
        ),
        (
            "The 'kernel' parameter of SVM must be an instance of 'str'. Got 3 instead.",
            "kernel is 3, but must be a name",
        ),
        ("something else\nentirely", "something else entirely"),
    ],
)
def test_scikit_learns_complaints_become_sentences(text, sentence) -> None:
    assert parameter_sentence(text) == sentence


def test_what_nobody_gives_is_chosen_by_cross_validation(sets) -> None:
    def searched(**parameters) -> set[str]:
        found = training.train(*sets, parameters={**SMALL, **parameters}).search
        return set() if found is None else set(found.chosen)

    assert searched() == {"scale", "gamma", "C"}
    assert searched(C=2.0) == {"scale", "gamma"}
    assert searched(gamma="scale") == {"C"}
    assert searched(gamma=0.5, C=2.0) == set()
    assert searched(kernel="linear", C=2.0) == set()
    assert training.train(*sets, method="rsvm", parameters={"n_vectors": 5}).search is None


@pytest.mark.parametrize("outlier", [False, True])
def test_the_scale_is_chosen_with_gamma(outlier: bool) -> None:
    rng = np.random.default_rng(0)
    if outlier:
        X = rng.uniform(size=(160, 4))
        y = (np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) < 0.35).astype(int)
        X[0, :2] = 40.0  # all other rows lie in a fortieth of the range
    else:
        X = rng.normal(size=(160, 8))
        X[:, :2] = rng.integers(2, size=(160, 2))
        y = X[:, 0].astype(int) ^ X[:, 1].astype(int)  # bits spread wide within their range
    train_set, test_set = (data.from_arrays(X[part], y[part]) for part in (slice(120), slice(120, None)))
    report = training.train(
        train_set, test_set, parameters={"n_vectors": 8, "C": 100.0 if outlier else 1.0}, final=True
    )
    wanted = "standard" if outlier else "minmax"
    assert report.search is not None
    assert report.search.chosen["scale"] == report.tested.card["scale"] == report.model.card["scale"] == wanted
    assert {tried["scale"] for tried, _ in report.search.candidates} == {"standard", "minmax"}
    tested, final = (model.transform.scale for model in (report.tested, report.model))
    spread = train_set.X.std(axis=0) if outlier else np.ptp(train_set.X, axis=0)
    np.testing.assert_allclose(tested, 1.0 / spread)
    both = np.concatenate([train_set.X, test_set.X])
    np.testing.assert_allclose(final, 1.0 / (both.std(axis=0) if outlier else np.ptp(both, axis=0)))


def test_a_gamma_that_is_given_is_for_standard_features(sets) -> None:
    report = training.train(*sets, parameters={**SMALL, "gamma": 0.5})
    assert report.model.card["scale"] == "standard"
    np.testing.assert_allclose(report.model.transform.scale, 1.0 / sets[0].X.std(axis=0))


def test_a_class_with_one_row_is_trained_without_a_search(two_classes) -> None:
    X, y = two_classes
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:1]]
    lonely = data.from_arrays(X[rows], y[rows], source="lonely")
    assert training.train(lonely, lonely, parameters=dict(SMALL)).search is None


# ---- The test --------------------------------------------------------------------------------------------------------


def test_the_card_keeps_the_test_by_class_and_which_rows_it_was(sets) -> None:
    train_set, test_set = sets
    report = training.train(train_set, test_set, parameters=dict(SMALL))
    card, given = report.model.card, report.model.predict(test_set.X)
    for i, true in enumerate(report.model.classes):
        row = [np.count_nonzero((test_set.y == true) & (given == label)) for label in report.model.classes]
        assert card["confusion"][i] == row
    assert report.tested is report.model and not report.is_final
    tested, trained = (held_out(card, rows.X) for rows in (test_set, train_set))
    assert tested is not None and tested.all() and trained is not None and not trained.any()
    assert "test_groups" not in card and known_accuracy(card) == report.result
    assert SparseModel.from_bytes(report.model.to_bytes()).card == card


def test_with_groups_the_search_and_the_interval_know_them(four_classes) -> None:
    X, y = four_classes
    groups = np.arange(len(y)) // 8
    grouped = data.split(data.from_arrays(X, y, groups=groups), 0.25, seed=1)
    report = training.train(*grouped, parameters=dict(SMALL))
    assert grouped[1].groups is not None
    n_groups = len(np.unique(grouped[1].groups))
    assert (report.result.groups, report.result.independent) == (n_groups, n_groups)
    assert report.search is not None and report.search.groups == 20 - n_groups
    assert known_accuracy(report.model.card) == report.result


def test_groups_too_few_for_a_search_are_told(two_classes) -> None:
    X, y = two_classes
    whole = data.from_arrays(X, y, groups=np.where(y == 1, 0, 1 + np.arange(len(y)) % 9))
    report = training.train(whole, whole, parameters=dict(SMALL))
    assert report.search is None
    assert any("gamma and C kept the default: cross-validation needs two training groups" in w for w in report.warnings)


def test_final_trains_on_all_rows_and_keeps_the_accuracy_of_before(sets) -> None:
    train_set, test_set = sets
    parameters = {**SMALL, "C": "auto", "gamma": 0.5}
    plain, final = (training.train(*sets, parameters=dict(parameters), final=f) for f in (False, True))
    assert final.result == plain.result and final.confusion == plain.confusion and final.search == plain.search
    assert final.tested == plain.model and final.model != plain.model and final.is_final
    card = final.model.card
    assert card["final_rows"] == card["data"]["rows"] == 160 and "held_out" not in card
    assert plain.search is not None
    assert card["parameters"]["C"] == plain.model.card["parameters"]["C"] == plain.search.chosen["C"]
    assert card["ranges"]["low"] == np.vstack([train_set.X, test_set.X]).min(axis=0).tolist()
    assert (card["accuracy"], card["test_rows"], card["confusion"]) == tuple(
        plain.model.card[name] for name in ("accuracy", "test_rows", "confusion")
    )


def test_a_class_that_is_missed_is_told() -> None:
    """896 rows against 6 of another class, 5 of them missed: 99.33 % right, and nothing that is worth having."""
    told = class_warnings(("fault", "ok"), Confusion.of_matrix([[1, 5], [1, 895]]))
    assert told == [
        "the accuracy hides how often some classes are missed: 'fault' (5 of its 6 test rows); bring more rows of "
        "them, weigh the classes, or choose gamma and C for balanced accuracy"
    ]
    ends = {
        (False, False): "of them, weigh the classes, or choose gamma and C for balanced accuracy",
        (True, False): "of them, or weigh the classes",
        (True, True): "bring more rows of them",
    }
    for done, end in ends.items():
        (sentence,) = class_warnings(("fault", "ok"), Confusion.of_matrix([[1, 5], [1, 895]]), *done)
        assert sentence.endswith(end)
    assert class_warnings(("a", "b"), Confusion.of_matrix([[5, 1], [10, 890]])) == [], "one of 6 rows may be chance"
    assert (
        "no test row has the class 'c'"
        in class_warnings(("a", "b", "c"), Confusion.of_matrix([[9, 0, 0], [0, 9, 0], [0, 0, 0]]))[0]
    )


def test_metrics_are_checked_and_said_to_be_useless_where_nothing_is_chosen(sets) -> None:
    with pytest.raises(OptionError, match="did you mean 'balanced'"):
        training.train(*sets, metric="balance")
    report = training.train(*sets, parameters={**SMALL, "gamma": 0.5, "C": 2.0}, metric="f1")
    assert any("the metric f1 chose nothing" in warning for warning in report.warnings)
    assert training.train(*sets, parameters=dict(SMALL), metric="f1").model.card["search"]["metric"] == "f1"
