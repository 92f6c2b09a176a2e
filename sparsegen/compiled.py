"""Functions compiled to machine code by Numba, which keeps them on disk for the next run where it can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Return the function compiled on its first call; kept on disk unless package and home are both read-only."""
    try:
        return cast(F, numba.njit(cache=True)(function))
    except RuntimeError:  # Numba found no folder that it may write to
        return cast(F, numba.njit(function))
