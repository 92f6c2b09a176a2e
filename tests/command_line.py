"""How a run of the ``sparsegen`` command ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Ended(NamedTuple):
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]
