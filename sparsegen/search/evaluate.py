"""One fold of one candidate: train on some rows, lower to the candidate's number format, judge on the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparsegen.arrays import Array
from sparsegen.search.problem import Problem


@dataclass(frozen=True)
class Task:
    """One fold of one candidate."""

    parameters: Mapping[str, Any]
    """The candidate's."""
    n_vectors: int
    fold: int
    is_quick: bool
    """Whether few rows and a short descent are enough, to see whether the candidate is worth more."""


@dataclass(frozen=True)
class Outcome:
    """How a candidate did on one fold."""

    tally: Array
    """Counts that add up over folds, and of which the metric makes a score."""
    seconds: float
    """What it took on the worker."""
    failure: str | None = None
    """Why there is no tally, in a sentence, where training or lowering broke down."""


def evaluate(problem: Problem, task: Task) -> Outcome:
    """Return how a candidate does on one fold: a pure function, so that any worker may run it, or run it again."""
    raise NotImplementedError
