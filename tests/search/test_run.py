"""The loop of a search, with an engine that trains nothing: what is started, stopped, kept, and when it ends."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import count

import numpy as np
import pytest
from made_up_costs import MadeUpCosts
from small_search import BUDGET, sets

from sparsegen.errors import FitError
from sparsegen.search.costs import Costs
from sparsegen.search.engines import Engine
from sparsegen.search.evaluate import Outcome
from sparsegen.search.problem import Problem
from sparsegen.search.record import FAILED, FINISHED, STOPPED
from sparsegen.search.run import Limits, Search
from sparsegen.search.space import Space
from sparsegen.search.study import open_study

ROWS = 100


class MadeUp(Engine):
    """Answers at once: the share right grows with the vectors, unless ``share`` says otherwise; a task takes 2 s."""

    slots = 1

    def __init__(self, share=None, failure=None):
        self.tasks, self.now = [], 0.0
        self._share, self._failure = share or (lambda task: 0.5 + task.candidate.n_vectors / 100), failure

    def clock(self):
        return self.now

    def submit(self, task):
        self.tasks.append(task)
        self.now += 2.0
        done: Future[Outcome] = Future()
        if self._failure is not None:
            done.set_result(Outcome(None, 2.0, self._failure))
            return done
        right = int(ROWS * self._share(task))
        tally = np.array([[ROWS, 0], [right, ROWS - right], [right, 0]], dtype=float)
        done.set_result(Outcome(tally, 2.0))
        return done

    def close(self):
        pass


@pytest.fixture(scope="module")
def problem():
    return Problem.of(sets()[0], "accuracy", 0)


def search(problem, engine, study=None, **limits):
    space = Space.of(problem, methods=["slmc"], kernels=["rbf"], dtypes=["q7"])
    costs = Costs(MadeUpCosts(), problem.X.shape[1], problem.n_outputs, BUDGET)
    kept = study or open_study(None, {}, problem.metric, problem.X.shape[1])
    return Search(problem, space, costs, kept, engine, Limits(**limits), engine.clock)


def test_every_candidate_gets_a_quick_look_and_then_every_fold(problem):
    engine = MadeUp()
    ended = search(problem, engine, trials=3).go()
    assert [record.state for record in ended.records] == [FINISHED] * 3
    folds = len(problem.folds)
    assert [(task.is_quick, task.fold) for task in engine.tasks[: folds + 1]] == [
        (True, 0),
        *((False, fold) for fold in range(folds)),
    ]
    assert ended.records[0].seconds == 2.0 * (folds + 1)
    assert ended.why == "all trials are done"


def test_what_others_clearly_beat_at_no_more_cost_is_stopped(problem):
    asked = count()
    records = search(problem, MadeUp(lambda task: 0.95 if next(asked) < 10 else 0.5), trials=8).go().records
    stopped = [record for record in records if record.state == STOPPED and record.candidate is not None]
    assert stopped
    for record in stopped:
        better = [one for one in records if one.flash <= record.flash and one.time <= record.time]
        assert sum((one.quick_score or 0) > 0.9 for one in better) >= 2
        assert record.score is None
        assert "clearly better in the first look" in str(record.reason)


def test_what_costs_less_is_never_stopped(problem):
    def share(task):  # the cheaper, the worse
        return 0.3 + task.candidate.n_vectors / 50

    records = search(problem, MadeUp(share), trials=12).go().records
    for record in records:
        if record.state == STOPPED and record.candidate is not None:
            assert any(one.flash <= record.flash and one.number < record.number for one in records)


def test_a_candidate_that_fails_is_told_and_the_next_one_is_tried(problem):
    records = search(problem, MadeUp(failure="it broke"), trials=3).go().records
    assert [record.state for record in records] == [FAILED] * 3
    assert records[0].reason == "it broke"


def test_no_candidate_is_started_that_would_not_finish_in_time(problem):
    engine = MadeUp()
    ended = search(problem, engine, seconds=40.0).go()
    usual = 2.0 * (1 + len(problem.folds))
    assert ended.why == "time is up"
    assert engine.now <= 40.0 - Limits(seconds=40.0).reserved
    assert len(ended.records) == int(30.0 // usual)


def test_time_counts_over_all_runs(problem):
    study = open_study(None, {}, problem.metric, problem.X.shape[1])
    first = search(problem, MadeUp(), study, seconds=40.0).go()
    again = search(problem, MadeUp(), study, seconds=40.0).go()
    assert len(again.records) == len(first.records)
    longer = search(problem, MadeUp(), study, seconds=80.0).go()
    assert len(longer.records) > len(first.records)


def test_ctrl_c_keeps_what_is_finished(problem):
    class Interrupted(MadeUp):
        def submit(self, task):
            if len(self.tasks) == 9:
                raise KeyboardInterrupt
            return super().submit(task)

    ended = search(problem, Interrupted(), trials=20).go()
    assert ended.why == "stopped by hand"
    assert [record.state for record in ended.records] == [FINISHED, FINISHED]


def test_a_run_that_is_joined_by_another_tries_other_things(problem):
    study = open_study(None, {}, problem.metric, problem.X.shape[1])

    class Joined(MadeUp):
        def submit(self, task):
            study.own("another run")
            return super().submit(task)

    alone = search(problem, MadeUp(), trials=3).go().records
    joined = search(problem, Joined(), study, trials=3).go().records
    assert alone[0].candidate == joined[0].candidate
    assert alone[1].candidate != joined[1].candidate


def test_a_candidate_is_trained_once_whatever_draws_it(problem):
    engine = MadeUp()
    records = search(problem, engine, trials=40).go().records
    trained = [task.candidate for task in engine.tasks if task.is_quick]
    assert len(trained) == len(set(trained))
    assert len(records) == 40


def test_a_budget_that_nothing_fits_is_told(problem):
    from sparsegen.budget.budget import Budget

    space = Space.of(problem, kernels=["rbf"], dtypes=["q7"])
    costs = Costs(MadeUpCosts(), problem.X.shape[1], 1, Budget(flash=64))
    study = open_study(None, {}, problem.metric, problem.X.shape[1])
    with pytest.raises(FitError, match="no model fits the budget; the smallest that was thought of needs 7"):
        Search(problem, space, costs, study, MadeUp(), Limits(trials=500)).go()
    with pytest.raises(FitError, match="no model fits the budget"):  # and again
        Search(problem, space, costs, study, MadeUp(), Limits(trials=500)).go()
