"""Trains in processes on this computer. One that is killed is replaced, and its task is run again.

Workers are started afresh, not forked, so that no thread of this process is copied half way; each gets the rows once.
A worker whose parent is gone ends by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from sparsegen.errors import ToolError
from sparsegen.search.engines import ENGINES, Engine
from sparsegen.search.evaluate import Outcome, Task, evaluate
from sparsegen.search.problem import Problem

MAX_TRIES = 3
"""How often a task is run that kills its worker, before that is taken for its fault."""
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_problem: Problem | None = None
"""Of this worker."""


@ENGINES.register("processes")
class Processes(Engine):
    """As many tasks at once as there are processes."""

    def __init__(self, problem: Problem, jobs: int, address: str = "") -> None:
        self._problem, self._jobs = problem, jobs
        self._lock = threading.Lock()
        self._closed = False
        self._pool = self._new_pool()

    @property
    def slots(self) -> int:
        """One for each process."""
        return self._jobs

    def submit(self, task: Task) -> Future[Outcome]:
        """Return the future of a task, which outlives the death of a worker."""
        wanted: Future[Outcome] = Future()
        self._try(task, wanted, 1)
        return wanted

    def close(self) -> None:
        """End the workers."""
        self._closed = True
        _end(self._pool)

    def _try(self, task: Task, wanted: Future[Outcome], tried: int) -> None:
        with self._lock:
            pool = self._pool
        try:
            attempt = pool.submit(_run, task)
        except RuntimeError:  # a BrokenProcessPool is one
            self._again(pool, task, wanted, tried)
            return
        attempt.add_done_callback(lambda done: self._settle(pool, task, wanted, tried, done))

    def _settle(
        self, pool: ProcessPoolExecutor, task: Task, wanted: Future[Outcome], tried: int, done: Future[Outcome]
    ) -> None:
        if done.cancelled():
            wanted.cancel()
            return
        error = done.exception()
        if isinstance(error, BrokenProcessPool):
            # In a thread of its own: this one may be the pool's, which tells of its death with the lock held that
            # ending the pool takes (as of Python 3.12).
            threading.Thread(target=self._again, args=(pool, task, wanted, tried), daemon=True).start()
        elif error is not None:
            wanted.set_exception(error)
        else:
            wanted.set_result(done.result())

    def _again(self, broken: ProcessPoolExecutor, task: Task, wanted: Future[Outcome], tried: int) -> None:
        """Run a task in fresh workers; one death takes all tasks of a pool along, so each has several tries."""
        if self._closed:
            wanted.cancel()
            return
        if tried == MAX_TRIES:
            wanted.set_exception(
                ToolError(
                    "a worker process died again and again; it may be short of memory, so use fewer jobs, and a script "
                    "that searches with several must do so below: if __name__ == '__main__'"
                )
            )
            return
        try:
            with self._lock:
                if self._pool is broken:
                    _end(broken)
                    self._pool = self._new_pool()
            self._try(task, wanted, tried + 1)
        except OSError as error:
            wanted.set_exception(ToolError(f"no worker process can be started ({error.strerror}); use fewer jobs"))

    def _new_pool(self) -> ProcessPoolExecutor:
        before = {name: os.environ.get(name) for name in THREAD_SETTINGS}
        os.environ.update(dict.fromkeys(THREAD_SETTINGS, "1"))  # workers read this as they load their libraries
        try:
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(self._jobs, context, initializer=_begin, initargs=(self._problem,))
            for _ in range(self._jobs):  # workers start as tasks come, and must see the settings
                pool.submit(os.getpid)
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        return pool


def _begin(problem: Problem) -> None:
    """Keep the rows in this worker, leave Ctrl-C to the parent, and end with it."""
    global _problem
    _problem = problem
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(task: Task) -> Outcome:
    if _problem is None:
        raise AssertionError("the worker was given no rows")
    return evaluate(_problem, task)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the workers of a pool at once."""
    workers = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        with suppress(OSError, ValueError):
            worker.kill()
