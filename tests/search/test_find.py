"""find_best: the best model within a budget, chosen on rows that the test never sees; the same study every time."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_costs import MadeUpCosts
from narrowing import known
from small_search import BUDGET, found, sets

from sparsegen import data
from sparsegen.bench import bench
from sparsegen.budget.budget import Budget
from sparsegen.devices import DEVICES
from sparsegen.errors import DataError, FitError, OptionError
from sparsegen.lowering.formats import Format
from sparsegen.model.held_out import held_out
from sparsegen.search.evaluate import Outcome, Task
from sparsegen.search.find import Found
from sparsegen.search.problem import Problem

if DEVICES["cortex-m0plus"].missing() is not None:
    pytest.skip(str(DEVICES["cortex-m0plus"].missing()), allow_module_level=True)


def candidates(result: Found) -> list[tuple[Any, ...]]:
    """Return what was tried and how good it was."""
    return [(point.number, point.parameters, point.n_vectors, point.score) for point in result.front.candidates]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Found]:
    place = tmp_path_factory.mktemp("study") / "ring.db"
    return place, found(place, trials=4)


def test_the_model_fits_the_budget_when_it_is_measured(kept):
    _, result = kept
    _, test_set = sets()
    pick = result.pick
    (cost,) = bench(result.winner.model, test_set.X, devices=["cortex-m0plus"], numbers=Format(pick.dtype, pick.reads))
    assert pick.is_measured
    assert BUDGET.shortage(cost.measurement.flash, cost.ram_with_input, cost.worst_milliseconds) is None
    assert (pick.flash, pick.ram) == (cost.measurement.flash, cost.ram_with_input)
    assert result.winner.model.n_vectors == pick.n_vectors


def test_the_accuracy_told_is_on_rows_that_the_search_never_saw(kept):
    _, result = kept
    train_set, test_set = sets()
    card = result.winner.model.card
    assert np.all(held_out(card, test_set.X))
    assert not np.any(held_out(card, train_set.X))
    judged = result.winner.judged
    assert judged.held_out is not None
    assert judged.held_out.rows == len(test_set.X)
    assert judged.held_out.share == result.winner.test_score


def test_test_rows_choose_nothing():
    train_set, test_set = sets()
    other = data.from_arrays(np.round(5 * test_set.X), test_set.y[::-1], test_set.feature_names)
    one, two = (found(trials=2, sets=(train_set, tests)) for tests in (test_set, other))
    assert candidates(one) == candidates(two)
    assert one.front.picked == two.front.picked
    assert np.array_equal(one.winner.model.vectors, two.winner.model.vectors)
    assert one.pick == two.pick  # nor do they decide what is measured to fit


def test_candidates_whose_tests_were_seen_are_counted(kept):
    place, whole = kept
    assert whole.tested == 1
    other = next(point.number for point in whole.front.candidates if point.number != whole.front.picked)
    assert [found(place, trials=4, pick=pick).tested for pick in (other, other, whole.front.picked)] == [2, 2, 2]


def test_the_same_command_goes_on_and_ends_where_one_run_does(kept, tmp_path):
    _, whole = kept
    place = tmp_path / "again.db"
    for trials in (2, 4):
        last = found(place, trials=trials)
        assert len(last.front.candidates) <= trials
    assert candidates(last) == candidates(whole)
    assert last.winner.model == whole.winner.model


class FirstCome(MadeUpCosts):
    """Derives every cost of a structure from what it is asked first, as a real cost model does."""

    def predict(self, plan):
        first = vars(self).setdefault("firsts", {}).setdefault(replace(plan, n_vectors=1, gamma=None, C=1.0), plan)
        cost = super().predict(plan)
        return replace(cost, flash=cost.flash + round(10 * known(first.gamma)))


@pytest.fixture
def guessed(monkeypatch):
    """Make folds of candidates take no time: their scores are made up of what is tried."""

    def guess(problem: Problem, task: Task) -> Outcome:
        right = zlib.crc32(repr((task.candidate, task.fold)).encode()) % 20
        return Outcome(np.array([[20.0, 20.0], [20.0, 20.0], [20.0, right]]), 0.01)

    monkeypatch.setattr("sparsegen.search.engines.here.evaluate", guess)


@pytest.mark.usefixtures("guessed")
def test_costs_are_those_of_a_search_that_never_stopped(tmp_path):
    starts: dict[str, Any] = {"kernels": ["rbf"], "dtypes": ["q7"], "cost_model": lambda *given: FirstCome()}
    whole = found(trials=4, **starts)
    for trials in (2, 4):
        last = found(tmp_path / "s.db", trials=trials, **starts)
    costs = [[point.flash for point in one.front.candidates] for one in (whole, last)]
    assert costs[0] == costs[1]
    assert candidates(last) == candidates(whole)


def test_a_finished_study_is_not_searched_further(kept):
    place, whole = kept
    before = place.read_bytes()
    again = found(place, trials=4)
    assert candidates(again) == candidates(whole)
    assert len(place.read_bytes()) == len(before)


def test_pick_makes_another_candidate_and_searches_no_further(kept):
    place, whole = kept
    smallest = whole.front.points[0]
    picked = found(place, trials=40, pick=smallest.number)
    assert picked.front.picked == smallest.number
    assert picked.winner.candidate.n_vectors <= smallest.n_vectors
    assert len(picked.front.candidates) == len(whole.front.candidates)
    with pytest.raises(OptionError, match="no finished candidate 99; those of its front are"):
        found(place, pick=99)
    with pytest.raises(OptionError, match="there is no study"):
        found(place.with_name("other.db"), pick=0)
    with pytest.raises(OptionError, match="pick with the options that were searched with"):
        found(pick=0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sets": sets(150)}, "holds a search of other rows"),
        ({"budget": Budget(flash=1300, ram=256, milliseconds=1.0)}, "with flash 1200, not 1300"),
        ({"seed": 1}, "with seed 0, not 1"),
        ({"dtypes": ["q7", "q15"]}, "number formats"),
        ({"metric": "f1"}, "with metric"),
    ],
)
def test_a_study_of_something_else_is_refused(kept, change, told):
    place, _ = kept
    before = place.read_bytes()
    with pytest.raises(DataError, match=told):
        found(place, **change)
    assert place.read_bytes() == before


@pytest.mark.usefixtures("guessed")
def test_a_place_may_hold_several_searches_where_they_are_found_by_what_they_are_about(tmp_path):
    place = tmp_path / "all.db"
    for seed in (0, 1):
        assert len(found(place, trials=1, study_by_content=True, seed=seed).front.candidates) == 1


class Optimist(MadeUpCosts):
    """Promises a fifth of the flash that is needed."""

    def predict(self, plan):
        cost = super().predict(plan)
        return replace(cost, flash=cost.flash // 5)


def test_what_is_measured_to_be_too_large_is_made_smaller():
    result = found(trials=1, cost_model=Optimist, budget=Budget(flash=580))
    assert result.pick.flash <= 580
    assert result.winner.candidate.n_vectors < known(result.winner.record.candidate).n_vectors
    assert "so it was made smaller" in result.winner.notes[0]


def test_nothing_fits():
    with pytest.raises(FitError, match="no model fits the budget; the smallest that was thought of needs"):
        found(trials=100, budget=Budget(flash=100))


def test_groups_stay_together():
    result = found(trials=1, sets=sets(groups=True))
    assert result.winner.model.card["test_groups"] > 1


def test_probabilities_are_judged_by_their_loss():
    result = found(trials=1, metric="logloss", sets=sets(80))
    assert not result.front.larger_is_better
    assert result.winner.model.calibration is not None
    assert 0 < result.winner.test_score < 2


def test_final_trains_on_all_rows_after_the_test():
    result = found(trials=1, final=True)
    assert result.winner.model.card["final_rows"] == 160
    assert result.winner.judged.held_out is not None


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"trials": 0}, "needs a trial at least"),
        ({"seconds": -1.0}, "finds nothing"),
        ({"metric": "acuracy"}, "did you mean 'accuracy'"),
        ({"methods": ["rvm"]}, "known only after training"),
        ({"methods": ["smlc"]}, "did you mean 'slmc'"),
        ({"kernels": ["rbff"]}, "unknown"),
        ({"dtypes": ["q8"]}, "unknown"),
        ({"inputs": ["raw-uint8"]}, "not every value of the rows"),
        ({"jobs": 0}, "at least 1"),
        ({"engine": "dusk://x"}, "is no engine"),
        ({"engine": "here://x"}, "is no engine"),
        ({"device": "cortex-m9"}, "there is no device"),
        ({"device": "onnx-reference"}, "runs no C"),
        ({"device": "host"}, "no limit on them can be kept"),
        ({"engine": "dask://[x"}, "its host and its port"),
    ],
)
def test_wrong_options_are_told_in_a_sentence(wrong, told):
    with pytest.raises(OptionError, match=told):
        found(**wrong)
