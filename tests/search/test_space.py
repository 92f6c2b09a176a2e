"""The space: whatever is drawn fits the budget, and can be trained."""

from __future__ import annotations

from dataclasses import replace

import optuna
import pytest
from made_up_costs import MadeUpCosts
from narrowing import known
from small_search import sets

from sparsegen.budget.budget import Budget
from sparsegen.search.candidate import FULL, QUICK, SEARCH, Candidate
from sparsegen.search.costs import Costs
from sparsegen.search.problem import Problem
from sparsegen.search.space import Space

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(scope="module")
def problem():
    return Problem.of(sets()[0], "balanced", 0)


@pytest.mark.parametrize("flash", [900, 1500, 100_000])
def test_whatever_is_drawn_fits_and_can_be_made(problem, flash):
    space, budget = Space.of(problem), Budget(flash=flash, milliseconds=1.0)
    costs = Costs(MadeUpCosts(), problem.X.shape[1], problem.n_outputs, budget)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
    drawn = [space.draw(study.ask(), costs) for _ in range(150)]
    fitting = [candidate for candidate in drawn if candidate is not None]
    assert len(fitting) > 50
    for candidate in fitting:
        assert costs.shortage(costs.of(candidate)) is None
        assert candidate.n_vectors <= problem.fewest_rows
        candidate.estimator(problem.X, SEARCH, 0)
    assert {candidate.method for candidate in fitting} == {"slmc", "spsvm"}
    assert any(candidate.n_projected for candidate in fitting)
    assert any(candidate.feature_scales for candidate in fitting)
    assert any(candidate.class_weight for candidate in fitting)


def test_starts_are_drawn_as_they_are_stated(problem):
    space = Space.of(problem)
    costs = Costs(MadeUpCosts(), problem.X.shape[1], problem.n_outputs, Budget(flash=4000))
    study = optuna.create_study()
    drawn = []
    for start in space.starts():
        study.enqueue_trial(dict(start))
        drawn.append(known(space.draw(study.ask(), costs)))
    first = drawn[0]
    assert (first.method, first.kernel, first.dtype, first.C, first.gamma) == ("slmc", "rbf", "q7", 10.0, 1.0)
    assert first.n_vectors == min(space.most_vectors, MadeUpCosts().most_vectors(first.plan(5, 1), costs.budget))
    assert {candidate.dtype for candidate in drawn} == {"f32", "q7", "q15", "q7c8", "q15c8"}
    assert {candidate.kernel for candidate in drawn} == {"rbf", "laplacian", "linear"}


def test_raw_integers_are_read_where_all_values_are_such(problem):
    assert problem.inputs == ("raw-int16", "f32")
    tenths = replace(problem, X=problem.X / 10)
    assert tenths.inputs == ("f32",)
    assert replace(problem, X=abs(problem.X)).inputs == ("raw-uint8", "f32")


def test_efforts_shorten_training_and_nothing_else(problem):
    candidate = Candidate("slmc", "rbf", "q7", "f32", "standard", 5, 10.0, gamma=2.0, n_projected=2, penalty=0.5)
    whole, quick = candidate.settings(problem.X, FULL), candidate.settings(problem.X, QUICK)
    assert whole == {name: value for name, value in quick.items() if name not in ("max_iter", "steps")}
    assert candidate.settings(problem.X, FULL)["projection"] == 2


def test_a_candidate_comes_back_from_json():
    candidate = Candidate("slmc", "rbf", "q7", "f32", "standard", 5, 10.0, gamma=2.0, class_weight="balanced")
    assert Candidate.from_json(candidate.as_json()) == candidate
