"""One thread for numerical libraries, so that sums have one order and the same input gives the same bytes anywhere.

How many threads BLAS uses is a setting of the whole process. If every fit set and restored it by itself, the first of
two fits that run at once in two Python threads would restore it while the other still computes. So fits are counted:
the first sets the limit and the last restores it. OpenMP has a setting for each thread, so each thread sets its own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


class _Libraries:
    """The numerical libraries of this process; looking for them takes longer than many a small fit."""

    def __init__(self) -> None:
        self._found: tuple[int, ThreadpoolController] | None = None

    def __call__(self) -> ThreadpoolController:
        """Return what is loaded: a library comes with a Python module, so without a new one there is nothing new."""
        n_modules = len(sys.modules)
        if self._found is None or self._found[0] != n_modules:
            self._found = (n_modules, ThreadpoolController())
        return self._found[1]


class _SharedLimit:
    """The limit on BLAS, held as long as anyone needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._before: list[tuple[Any, int]] = []

    def hold(self) -> None:
        """Set the limit if nobody holds it yet."""
        with self._lock:
            if self._holders == 0:
                libraries = _libraries().select(user_api="blas").lib_controllers
                self._before = [(library, library.num_threads) for library in libraries]
                for library in libraries:
                    _set_threads(library, 1)
            self._holders += 1

    def release(self) -> None:
        """Restore what was before if nobody else holds the limit."""
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                for library, n_threads in self._before:
                    _set_threads(library, n_threads)


def _set_threads(library: Any, n_threads: int) -> None:
    # From 3.8 on threadpoolctl lets one Python thread control OpenBLAS and silently ignores the others.
    give_up_control = getattr(library, "clear_controlling_thread", lambda force: None)
    give_up_control(force=True)
    library.set_num_threads(n_threads)
    give_up_control(force=True)


_libraries = _Libraries()
_BLAS = _SharedLimit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute everything inside the block with one thread; blocks may be nested and may run at once."""
    _BLAS.hold()
    try:
        with _libraries().limit(limits=1, user_api="openmp"):
            yield
    finally:
        _BLAS.release()
