"""Trains on an existing Dask cluster, such as ``dask://host:8786``: as many tasks at once as its workers have threads.

The rows go to every worker once, as the search begins. A worker that dies costs what it was running: Dask runs that
again elsewhere, and where the rows went down with it they are sent again. Workers may come and go while a search runs.

Note: Dask sends functions and data between the machines of a cluster as pickles, over connections that are not
encrypted unless the cluster says so: use machines that trust each other. Nothing of ours is stored that way.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from threading import Lock
from typing import Any

from sparsegen.errors import OptionError, SparsegenError, ToolError
from sparsegen.search.engines import ENGINES, Engine
from sparsegen.search.evaluate import Outcome, Task, evaluate
from sparsegen.search.problem import Problem
from sparsegen.version import __version__

CONNECT_SECONDS = 10
ADDRESS = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})", re.ASCII)
LARGEST_PORT = 65535
MAX_TRIES = 3
"""How often a task is handed to the cluster, where the rows that it needs were lost meanwhile."""


class DaskEngine(Engine):
    """A cluster's workers."""

    def __init__(self, problem: Problem, jobs: int, address: str) -> None:
        self._problem, self._address = problem, address
        self._client = _connected(address)
        self._lock = Lock()
        self._pending: set[Any] = set()
        self._closed = False
        try:
            _check_workers(self._client, address)
            self._rows = self._send()
        except BaseException:
            self._client.close()
            raise

    @property
    def slots(self) -> int:
        """Threads of the workers there are now; one at least, so that a search waits for them to come back."""
        with suppress(OSError):
            return max(1, int(sum(self._client.nthreads().values())))
        return 1

    def submit(self, task: Task) -> Future[Outcome]:
        """Return the future of a task, which outlives the death of a worker."""
        wanted: Future[Outcome] = Future()
        self._try(task, wanted, 1)
        return wanted

    def close(self) -> None:
        """Leave the cluster; it drops what is waiting, and nobody waits for what still runs."""
        with self._lock:
            self._closed = True
            pending, self._pending = self._pending, set()
        with suppress(Exception):  # a scheduler that is gone has nothing left to drop
            self._client.cancel(list(pending), force=True)
        with suppress(Exception):
            self._client.close(timeout=2)

    def _send(self) -> Any:
        return self._client.scatter(self._problem, broadcast=True, hash=False)

    def _try(self, task: Task, wanted: Future[Outcome], tried: int) -> None:
        with self._lock:
            if self._closed:
                wanted.cancel()
                return
            if self._rows.status in ("cancelled", "lost"):
                self._rows = self._send()
            rows = self._rows
        attempt = self._client.submit(evaluate, rows, task, pure=False)
        with self._lock:
            self._pending.add(attempt)
        attempt.add_done_callback(lambda done: self._settle(task, wanted, tried, done))

    def _settle(self, task: Task, wanted: Future[Outcome], tried: int, done: Any) -> None:
        with self._lock:
            self._pending.discard(done)
            if self._closed:
                wanted.cancel()
                return
        try:
            wanted.set_result(done.result())
        except CancelledError:  # the rows were lost, and with them every task that waited for them
            if tried == MAX_TRIES:
                wanted.set_exception(_lost(self._address))
            else:
                self._again(task, wanted, tried)
        except Exception as error:
            wanted.set_exception(_in_words(error, self._address))

    def _again(self, task: Task, wanted: Future[Outcome], tried: int) -> None:
        try:
            self._try(task, wanted, tried + 1)
        except Exception as error:
            wanted.set_exception(_in_words(error, self._address))


def _connected(address: str) -> Any:
    """Return a client of the scheduler at ``host:port``."""
    found = ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) <= LARGEST_PORT:
        # It is not repeated: who writes a name before the host writes a password.
        raise OptionError("the address of a Dask scheduler is its host and its port, such as dask://localhost:8786")
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise ToolError(
            "a search on a Dask cluster needs the package distributed; install: pip install 'sparsegen[cluster]'"
        ) from None
    try:
        return distributed.Client(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ToolError(
            f"there is no Dask scheduler at {address} ({type(error).__name__}); check the address, and that it runs"
        ) from None


def _check_workers(client: Any, address: str) -> None:
    """Raise an error unless every worker runs this version of sparsegen."""
    found = client.run(_probe(), on_error="return")
    if not found:
        raise ToolError(f"the Dask cluster at {address} has no workers; start one: dask worker tcp://{address}")
    for worker, version in found.items():
        if isinstance(version, ModuleNotFoundError):
            raise ToolError(f"worker {worker} has no {version.name}; install sparsegen {__version__} on every worker")
        if isinstance(version, BaseException):
            raise ToolError(f"worker {worker} cannot run sparsegen ({type(version).__name__}: {version})")
        if version != __version__:
            raise ToolError(
                f"worker {worker} has sparsegen {version}, this is {__version__}; install the same version everywhere"
            )


def _probe() -> Callable[[], str]:
    """Return a function that travels whole, since a worker may have no sparsegen to find it in."""

    def version() -> str:
        from sparsegen.search.evaluate import evaluate  # noqa: F401  # what tasks need
        from sparsegen.version import __version__ as found

        return found

    return version


def _in_words(error: BaseException, address: str) -> BaseException:
    """Return the error that a user sees."""
    name = type(error).__name__
    if isinstance(error, SparsegenError):
        return error
    if name == "KilledWorker":
        return ToolError(
            "one task killed worker after worker; they may be short of memory, so give them more or use fewer rows"
        )
    if isinstance(error, ModuleNotFoundError):
        return ToolError(f"a worker has no {error.name}; install sparsegen {__version__} on every worker")
    return _lost(address) if isinstance(error, OSError) or name in ("TimeoutError", "CommClosedError") else error


def _lost(address: str) -> ToolError:
    return ToolError(
        f"the Dask cluster at {address} was lost; once it runs again, the same command goes on with the same study"
    )


for _scheme in ("dask", "tcp"):
    ENGINES.register(_scheme)(DaskEngine)
