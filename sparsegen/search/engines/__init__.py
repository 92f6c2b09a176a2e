"""Engines, one file each: where the folds of candidates are trained: in this process, in others, on a Dask cluster.

What an engine runs is a pure function of the problem and a task, both plain data: any process may run it, and again if
the first was lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsegen.search.evaluate import Outcome, Task


class Engine(ABC):
    """Trains folds of candidates; made with the problem, so that each worker gets its rows once."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many tasks run at once; it may change as workers come and go."""

    @abstractmethod
    def submit(self, task: Task) -> Future[Outcome]:
        """Return the future of ``evaluate(problem, task)``; a worker that dies is no news, its task is run again."""

    @abstractmethod
    def close(self, *, kill: bool = False) -> None:
        """Let the workers go; ``kill`` ends what they are doing."""
