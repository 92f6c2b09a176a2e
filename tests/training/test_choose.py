"""The search for gamma and C: bounded, reproducible, and only over what is "auto"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reference import Rows

from sparsegen import SLMC, SVM, progress
from sparsegen.errors import DataError, OptionError
from sparsegen.training import choose as search
from sparsegen.training.choose import C_VALUES, GAMMA_FACTORS, SearchResult


class Counter:
    """A reporter that remembers the tasks it was told of."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, int, list[str]]] = []

    def start(self, title: str, total: int) -> tuple[progress.Advance, Callable[[], None]]:
        remarks: list[str] = []
        self.tasks.append((title, total, remarks))
        return remarks.append, lambda: None


def slmc(**parameters: Any) -> SLMC:
    return SLMC(**{"n_vectors": 3, "max_iter": 2, "random_state": 0, **parameters})


@pytest.mark.parametrize(
    ("parameters", "searched", "tried"),
    [
        ({"gamma": "auto", "C": "auto"}, {"gamma", "C"}, 7),
        ({"gamma": "auto"}, {"gamma"}, 4),
        ({"C": "auto"}, {"C"}, 4),
        ({"C": "auto", "gamma": 0.5}, {"C"}, 4),
        ({"C": "auto", "gamma": "auto", "kernel": "linear"}, {"C"}, 4),
    ],
)
def test_only_what_is_auto_is_searched(two_classes: Rows, parameters, searched, tried) -> None:
    estimator = slmc(**parameters)
    counter = Counter()
    with progress.reporting(counter):
        found = search.search(estimator, *two_classes, seed=0)
    assert found is not None
    assert set(found.chosen) == searched
    assert len(found.candidates) == tried
    ((title, total, remarks),) = counter.tasks  # the fits themselves are steps of it, not bars of their own
    assert title == f"choosing {' and '.join(name for name in ('gamma', 'C') if name in searched)}"
    assert len(remarks) == total == 3 * tried
    assert all(getattr(estimator, name) == value for name, value in found.chosen.items())
    for name in {"gamma", "C"} - searched:
        assert getattr(estimator, name) == {"gamma": "scale", "C": 1.0, **parameters}[name] or name == "gamma"
    estimator.fit(*two_classes)


@pytest.mark.parametrize("parameters", [{}, {"gamma": 0.1, "C": 2.0}, {"gamma": "auto", "kernel": "linear"}])
def test_nothing_to_search(two_classes: Rows, parameters) -> None:
    estimator = slmc(**parameters)
    assert search.search(estimator, *two_classes, seed=0) is None
    estimator.fit(*two_classes)


def test_a_method_without_c_is_searched_for_gamma_alone(two_classes: Rows) -> None:
    class NoC(SVM):
        def __init__(self, *, kernel="rbf", gamma="scale", coef0=1.0, degree=3, tol=1e-3, random_state=None) -> None:
            super().__init__(kernel=kernel, gamma=gamma, coef0=coef0, degree=degree, tol=tol, random_state=random_state)
            del self.C

        def fit(self, X, y):
            return SVM.fit(self, X, y)

        def _train(self, X, Y, kernel, rng, weights):
            self.C = 1.0
            try:
                return super()._train(X, Y, kernel, rng, weights)
            finally:
                del self.C

    found = search.search(NoC(gamma="auto"), *two_classes, seed=0)
    assert found is not None
    assert set(found.chosen) == {"gamma"}


def test_the_same_seed_gives_the_same_result(four_classes: Rows) -> None:
    first, second = (search.search(slmc(gamma="auto"), *four_classes, seed=4) for _ in range(2))
    assert first == second


def test_gammas_lie_around_scale_and_print_as_they_are(two_classes: Rows) -> None:
    X, y = two_classes
    found = search.search(slmc(gamma="auto"), X, y, seed=0)
    assert found is not None
    scale = 1.0 / (X.shape[1] * X.var())
    gammas = [float(parameters["gamma"]) for parameters, _ in found.candidates]
    np.testing.assert_allclose(gammas, scale * np.array(GAMMA_FACTORS), rtol=1e-3)
    assert all(float(f"{gamma:g}") == gamma for gamma in gammas)


def test_the_best_wins_and_of_equals_the_smoothest(two_classes: Rows, monkeypatch) -> None:
    def predict(trial, X, y, train, test):
        return np.where(np.arange(len(test)) < (20 if trial.C < 10 else 36), y[test], 1 - y[test])

    monkeypatch.setattr(search, "_predict", predict)
    found = search.search(slmc(gamma="auto", C="auto"), *two_classes, seed=0)
    assert found is not None
    smallest = min(parameters["gamma"] for parameters, _ in found.candidates)
    assert found.chosen == {"gamma": smallest, "C": 10.0}


def test_the_scaling_is_tried_with_every_gamma(two_classes: Rows, monkeypatch) -> None:
    X, y = two_classes
    seen = []

    def predict(trial, X, y, train, test):
        seen.append((float(X.std()), trial.gamma, trial.C))
        return np.where(np.arange(len(test)) < (36 if X.std() > 10.0 else 20), y[test], 1 - y[test])

    monkeypatch.setattr(search, "_predict", predict)
    scalings: dict[str, search.Scaling] = {
        "narrow": np.asarray,
        "wide": lambda rows: 100.0 * rows,
        "wider": lambda rows: 200.0 * rows,
    }
    found = search.search(slmc(gamma="auto", C="auto"), X, y, seed=0, scalings=scalings)
    assert found is not None
    smallest = float(f"{GAMMA_FACTORS[0] * 1e-4 / (X.shape[1] * X.var()):.4g}")
    assert found.chosen == {"scale": "wide", "gamma": smallest, "C": 0.1}  # the first of equals, C among its own
    assert len(found.candidates) == len(seen) / 3 == 3 * 4 + 3
    assert [tried["scale"] for tried, _ in found.candidates] == 4 * ["narrow"] + 4 * ["wide"] + 4 * ["wider"] + 3 * [
        "wide"
    ]
    assert {round(deviation / X.std()) for deviation, _, C in seen if C != search.C_START} == {100}
    assert found.as_json()["chosen"]["scale"] == "wide"


def test_without_a_gamma_to_choose_the_first_scaling_is_taken(two_classes: Rows) -> None:
    scalings: dict[str, search.Scaling] = {"none": np.asarray, "half": lambda rows: rows / 2.0}
    found = search.search(slmc(C="auto", gamma=0.5), *two_classes, seed=0, scalings=scalings)
    assert found == search.search(slmc(C="auto", gamma=0.5), *two_classes, seed=0)
    one: dict[str, search.Scaling] = {"none": np.asarray}
    alone, plain = (search.search(slmc(gamma="auto"), *two_classes, seed=0, scalings=s) for s in (one, None))
    assert alone == plain


@pytest.mark.parametrize(("rows", "used", "folds"), [(4000, 2000, 3), (4500, 4500, 1), (6500, 6000, 1)])
def test_large_data_and_long_descents_are_cut(monkeypatch, rows: int, used: int, folds: int) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, 2)) + y[:, None]
    seen = []

    def note(trial, X, y, train, test):
        seen.append((len(X), trial.max_iter))
        assert trial.steps == search.MAX_STEPS
        assert trial.n_vectors == min(1900, len(train))
        assert used // 3 <= len(test) <= used // 3 + 1
        return y[test]

    monkeypatch.setattr(search, "_predict", note)
    found = search.search(slmc(C="auto", max_iter=1000, n_vectors=1900), X, y, seed=0)
    assert found is not None
    assert (found.rows, found.folds) == (used, folds)
    assert seen == [(used, search.MAX_ITER)] * folds * len(C_VALUES)


def test_as_many_vectors_as_rows_still_cross_validate(two_classes: Rows) -> None:
    assert search.search(slmc(C="auto", n_vectors=120), *two_classes, seed=0) is not None


def test_two_rows_of_a_class_make_two_folds(two_classes: Rows) -> None:
    X, y = two_classes
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:2]]
    found = search.search(slmc(C="auto"), X[rows], y[rows], seed=0)
    assert found is not None
    assert found.folds == 2


def test_a_class_with_one_row_is_refused(two_classes: Rows) -> None:
    X, y = two_classes
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:1]]
    with pytest.raises(DataError, match="two training rows of every class, but class 1 has one"):
        search.search(slmc(gamma="auto"), X[rows], y[rows], seed=0)


def test_as_json() -> None:
    result = SearchResult({"C": 1.0}, (({"C": 0.1}, 0.5), ({"C": 1.0}, 0.75)), rows=40, folds=3)
    assert result.as_json() == {
        "chosen": {"C": 1.0},
        "candidates": [{"C": 0.1, "accuracy": 0.5}, {"C": 1.0, "accuracy": 0.75}],
        "rows": 40,
        "folds": 3,
        "metric": "accuracy",
    }
    by_groups = replace(result, metric="f1", groups=7).as_json()
    assert (by_groups["candidates"][0], by_groups["metric"], by_groups["groups"]) == ({"C": 0.1, "f1": 0.5}, "f1", 7)


def test_groups_are_never_split(four_classes: Rows, monkeypatch) -> None:
    X, y = four_classes
    groups = np.arange(len(y)) // 8
    seen = []

    def note(trial, X, y, train, test):
        by_rows = {row.tobytes(): group for row, group in zip(four_classes[0], groups, strict=True)}
        sides = [{by_rows[X[i].tobytes()] for i in side} for side in (train, test)]
        assert not sides[0] & sides[1]
        seen.append(sides[1])
        return y[test]

    monkeypatch.setattr(search, "_predict", note)
    found = search.search(slmc(C="auto"), X, y, seed=0, groups=groups)
    assert found is not None and found.groups == 20
    assert set.union(*seen[: found.folds]) == set(groups.tolist())


def test_a_class_in_one_group_cannot_be_searched(two_classes: Rows) -> None:
    X, y = two_classes
    groups = np.where(y == 1, 0, np.arange(len(y)))
    with pytest.raises(DataError, match="needs two training groups of every class, but class 1 has one; add groups"):
        search.search(slmc(C="auto"), X, y, seed=0, groups=groups)


@pytest.mark.parametrize(("metric", "chosen"), [("accuracy", 0.1), ("balanced", 10.0), ("f1", 100.0)])
def test_each_metric_chooses_its_own(metric: str, chosen: float, monkeypatch) -> None:
    """Of 90 rows of one class and 10 of another: C 0.1 finds none of the rare, 10 all at a cost, 100 half of them."""
    y = np.repeat([0, 1], [90, 10])
    X = np.arange(100.0)[:, None]

    def predict(trial, X, y, train, test):
        rare, row = y[test] == 1, X[test, 0]
        if trial.C == 10.0:
            return (rare | (row < 21)).astype(np.int64)  # recalls 69 of 90 and 10 of 10
        if trial.C == 100.0:
            return ((rare & (row >= 95)) | (row < 6)).astype(np.int64)  # 84 of 90 and 5 of 10
        return np.zeros(len(test), dtype=np.int64)

    monkeypatch.setattr(search, "_predict", predict)
    found = search.search(slmc(C="auto"), X, y, seed=0, metric=metric)
    assert found is not None and found.chosen == {"C": chosen}
    with pytest.raises(OptionError, match="did you mean 'balanced'"):
        search.search(slmc(C="auto"), X, y, seed=0, metric="balancd")
