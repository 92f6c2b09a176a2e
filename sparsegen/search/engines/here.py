"""Trains in this process, one task after the other."""

from __future__ import annotations

from concurrent.futures import Future

from sparsegen.search.engines import ENGINES, Engine
from sparsegen.search.evaluate import Outcome, Task, evaluate
from sparsegen.search.problem import Problem


@ENGINES.register("here")
class Here(Engine):
    """One task at a time."""

    slots = 1

    def __init__(self, problem: Problem, jobs: int = 1, address: str = "") -> None:
        self._problem = problem

    def submit(self, task: Task) -> Future[Outcome]:
        """Return a future that is done."""
        done: Future[Outcome] = Future()
        done.set_result(evaluate(self._problem, task))
        return done

    def close(self) -> None:
        """Do nothing."""
