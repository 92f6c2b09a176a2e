"""CPU time of training, for ratios between machines that one process measures side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")

WARM_UP_ROWS = 20
"""Of each class, on which every machine is trained once before the clock starts: compilers run then."""


def few_rows(y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first rows of each class, enough to warm a machine up."""
    return np.concatenate([np.flatnonzero(y == label)[:WARM_UP_ROWS] for label in np.unique(y)])


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of ``work`` and the CPU seconds of this process that it took."""
    start = time.process_time()  # other processes may share the cores
    result = work()
    return result, time.process_time() - start


def interleaved(
    works: Mapping[str, Callable[[], object]], most_rounds: int, budget: float = float("inf")
) -> dict[str, list[float]]:
    """Return CPU seconds of each work, round by round: all of them once, then all again, so that drift hits all alike.

    There is one round at least, and no further one after ``budget`` seconds.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(most_rounds):
        for name, work in works.items():
            seconds[name].append(timed(work)[1])
        if sum(map(sum, seconds.values())) > budget:
            break
    return seconds
