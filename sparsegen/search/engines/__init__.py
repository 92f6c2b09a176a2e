"""Engines, one file each: where the folds of candidates are trained: in this process, in others, on a Dask cluster.

What an engine runs is a pure function of the problem and a task, both plain data: any process may run it, and again if
the first was lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future

from sparsegen.errors import OptionError, nearest
from sparsegen.registry import Registry
from sparsegen.search.evaluate import Outcome, Task
from sparsegen.search.problem import Problem


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
    def close(self) -> None:
        """Let the workers go, whatever they are doing."""


EngineMaker = Callable[[Problem, int, str], Engine]
"""Makes an engine for a problem, a number of jobs, and the address behind the scheme of its URL."""
ENGINES: Registry[EngineMaker] = Registry("engine", __name__)
HERE, PROCESSES = "here", "processes"


def start(problem: Problem, jobs: int, url: str | None) -> Engine:
    """Return the engine of a URL such as ``dask://host:8786``, or one on this computer where there is none."""
    if jobs < 1:
        raise OptionError(f"the number of jobs must be at least 1, but it is {jobs}")
    if url is None:
        return ENGINES[HERE if jobs == 1 else PROCESSES](problem, jobs, "")
    scheme = url.partition("://")[0].lower()
    if "://" not in url or scheme not in ENGINES or scheme in (HERE, PROCESSES):
        known = [name for name in ENGINES if name not in (HERE, PROCESSES)]
        kind = f"{scheme!r} is no engine{nearest(scheme, known)}" if "://" in url else "an engine is a URL"
        raise OptionError(f"{kind}; give the address of one, such as dask://localhost:8786")
    return ENGINES[scheme](problem, jobs, url.partition("://")[2])
