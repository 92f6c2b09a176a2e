"""Workers in processes: they give what this process gives, and one that is killed is no news."""

from __future__ import annotations

import os
import signal
from concurrent.futures import wait

import numpy as np
import pytest
from narrowing import known
from small_search import sets

from sparsegen.search import engines
from sparsegen.search.candidate import Candidate
from sparsegen.search.evaluate import Task, evaluate
from sparsegen.search.problem import Problem

CANDIDATE = Candidate("slmc", "rbf", "q7", "raw-int16", "standard", 6, 10.0, gamma=1.0, n_features=3)


@pytest.mark.skipif(os.name != "posix", reason="kills by signal")
def test_workers_give_what_this_process_gives_even_if_they_are_killed():
    problem = Problem.of(sets()[0], "accuracy", 0)
    tasks = [Task(CANDIDATE, fold, is_quick=False) for fold in range(len(problem.folds))]
    workers = engines.ENGINES["processes"](problem, 1, "")
    try:
        assert workers.slots == 1
        futures = [workers.submit(task) for task in tasks]
        for process in list(workers._pool._processes.values()):  # type: ignore[attr-defined]
            os.kill(process.pid, signal.SIGKILL)
        wait(futures)
        for task, future in zip(tasks, futures, strict=True):
            assert np.array_equal(known(future.result().tally), known(evaluate(problem, task).tally))
    finally:
        workers.close()
    assert workers.submit(tasks[0]).cancelled()
