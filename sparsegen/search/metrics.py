"""What a candidate can be good at. Answers on held-out rows become counts that add up over folds, and those a score."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import OptionError, nearest
from sparsegen.model.confusion import METRICS as OF_CONFUSION
from sparsegen.model.confusion import Confusion
from sparsegen.model.probability_quality import SMALLEST

LOG_LOSS = "logloss"
CERTAIN = 2.0
"""Standard errors by which a score must be worse before that is taken for a difference."""
MAX_LOSS_RATIO = 1.1
"""By how much a loss, which has no simple standard error, must be larger."""


@dataclass(frozen=True)
class Answers:
    """What a program answers for rows whose classes are known, all as indices into the problem's classes."""

    truth: NDArray[np.intp]
    given: NDArray[np.intp]
    probabilities: Array | None
    """(n, n_classes)"""
    n_classes: int


@dataclass(frozen=True)
class Metric:
    """A measure of how good answers are."""

    name: str
    tally: Callable[[Answers], Array]
    """Counts that add up over folds."""
    score: Callable[[Array], float]
    rows: Callable[[Array], float]
    """How many rows were counted."""
    larger_is_better: bool = True
    needs_probabilities: bool = False
    minds_classes: bool = False
    """Whether every class counts alike, so that weighing rows by class may help."""

    def better(self, one: float, other: float) -> bool:
        """Return whether one score is better than another."""
        return one > other if self.larger_is_better else one < other

    def surely_better(self, one: float, other: float, rows: float) -> bool:
        """Return whether one score is better than another by more than chance may explain on so many rows."""
        if not self.larger_is_better:
            return one * MAX_LOSS_RATIO < other
        spread = math.sqrt(max(other * (1.0 - other), 1.0 / rows) / rows)
        return one - other > CERTAIN * spread


def _count_classes(answers: Answers) -> Array:
    """Return rows, given labels and right ones by class: all that the measures of labels ask for."""
    counted = (answers.truth, answers.given, answers.truth[answers.truth == answers.given])
    return np.array([np.bincount(index, minlength=answers.n_classes) for index in counted], dtype=np.float64)


def _of_classes(measure: Callable[[Confusion], float]) -> Callable[[Array], float]:
    def score(tally: Array) -> float:
        rows, given, correct = (tuple(map(int, counts)) for counts in tally)
        return measure(Confusion(rows, given, correct))

    return score


def _count_losses(answers: Answers) -> Array:
    if answers.probabilities is None:
        raise AssertionError("a metric of probabilities was given none")
    own = answers.probabilities[np.arange(len(answers.truth)), answers.truth]
    return np.array([-np.log(np.maximum(own, SMALLEST)).sum(), len(own)])


METRICS: Mapping[str, Metric] = {
    **{
        name: Metric(
            name,
            _count_classes,
            _of_classes(measure),
            lambda tally: float(tally[0].sum()),
            minds_classes=name != "accuracy",
        )
        for name, measure in OF_CONFUSION.items()
    },
    LOG_LOSS: Metric(
        LOG_LOSS,
        _count_losses,
        lambda tally: float(tally[0] / tally[1]),
        lambda tally: float(tally[1]),
        larger_is_better=False,
        needs_probabilities=True,
    ),
}


def metric_named(name: str) -> Metric:
    """Return a metric, or raise an OptionError."""
    if name not in METRICS:
        raise OptionError(f"metric {name!r} is unknown{nearest(name, METRICS)}; choose one of: {', '.join(METRICS)}")
    return METRICS[name]


def plain(tally: Array) -> list[Any]:
    """Return counts as JSON holds them."""
    listed: list[Any] = tally.tolist()
    return listed
