"""Functions compiled to machine code by Numba, which keeps them on disk for the next run where it can.

Numba is loaded with the first call and not before: it takes a third of a second, and more than a model to load.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Return the function compiled on its first call; kept on disk unless package and home are both read-only."""
    return cast(F, _CompiledOnCall(function))


class _CompiledOnCall:
    """A function that Numba gets to see when it is called, or when another that calls it is compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    @functools.cached_property
    def _dispatcher(self) -> Callable[..., Any]:
        """What Numba made of it; two threads at once may make one each, and either will do."""
        import numba

        try:
            return cast(Callable[..., Any], numba.njit(cache=True)(self.py_func))
        except RuntimeError:  # Numba found no folder that it may write to
            return cast(Callable[..., Any], numba.njit(self.py_func))

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks a global for that compiled code names: here, that of the function it can call."""
        return self._dispatcher._numba_type_  # type: ignore[attr-defined]
