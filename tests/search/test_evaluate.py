"""evaluate: the answers of a candidate are those of its own program, on rows that its fold did not train on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from narrowing import known
from small_search import sets

from sparsegen import data
from sparsegen.lowering import lower
from sparsegen.search.candidate import SEARCH, Candidate
from sparsegen.search.evaluate import Task, answers, evaluate, fit, ranking
from sparsegen.search.problem import Problem

CANDIDATE = Candidate("slmc", "rbf", "q7", "raw-int16", "standard", 6, 10.0, gamma=1.0)


@pytest.fixture(scope="module")
def problem():
    return Problem.of(sets()[0], "accuracy", 0)


@pytest.mark.parametrize("dtype", ["q7", "f32"])
@pytest.mark.parametrize("probability", [False, True])
def test_answers_are_those_of_the_program_that_an_export_holds(problem, dtype, probability):
    candidate = replace(CANDIDATE, dtype=dtype, reads="f32" if dtype == "f32" else "raw-int16", probability=probability)
    rows = data.from_arrays(problem.X, problem.y, problem.feature_names)
    model = fit(candidate, rows, SEARCH, 0)
    lowered = lower(model, candidate.format)
    given, probabilities = answers(model, candidate, problem.X)
    reference = lowered.reference(problem.X)
    assert np.array_equal(given, reference.labels)
    if probability:
        found: Any = lowered.probabilities
        assert np.array_equal(known(probabilities), found.of(reference.scores) / found.one)
    else:
        assert probabilities is None


def test_a_fold_is_the_same_every_time_and_sees_no_held_out_row(problem):
    task = Task(replace(CANDIDATE, n_features=2), 0, is_quick=False)
    held_out = problem.folds[0][1]
    spoilt = problem.X.copy()
    spoilt[held_out] = 7.0
    other = replace(problem, X=spoilt)
    assert np.array_equal(ranking(problem, 0), ranking(other, 0))
    assert np.array_equal(known(evaluate(problem, task).tally), known(evaluate(problem, task).tally))
    assert known(evaluate(problem, task).tally)[0].sum() == len(held_out)


def test_features_that_tell_most_come_first(problem):
    assert set(ranking(problem, None)[:2].tolist()) == {0, 1}


def test_what_breaks_down_is_told_in_a_sentence(problem):
    outcome = evaluate(problem, Task(replace(CANDIDATE, n_vectors=10**6), 0, is_quick=False))
    assert outcome.tally is None
    assert "vectors were asked for" in str(outcome.failure)
