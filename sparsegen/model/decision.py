"""How scores decide for a class, in Python, C and ONNX alike, or that they are themselves what is asked for.

``largest``: one score for two classes, and the second class where it is positive; otherwise one per class, and the
largest wins. ``votes``: one score per pair of classes, (0, 1), (0, 2), ..., (1, 2), ..., as LIBSVM has them; where it
is positive it is a vote for the first of the two, otherwise for the second, and the most votes win. The first class
wins on ties.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import ModelError

LARGEST, VOTES, VALUE = "largest", "votes", "value"
MAX_VOTING_CLASSES = 256
"""With more, the number of a pair would not fit in an ``int`` of 16 bits."""


class Decision(ABC):
    """One way from scores to a class."""

    may_stop_early: bool
    """Whether the bounds of an early exit are about this way."""
    gives_classes: bool = True
    """Whether scores decide for a class; otherwise they are what is asked for."""

    @abstractmethod
    def n_outputs(self, n_classes: int) -> int:
        """Return how many scores a model of so many classes has; raise a ModelError where it cannot decide."""

    @abstractmethod
    def indices(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class indices that (n, n_outputs) scores decide for."""

    @abstractmethod
    def leads(self, scores: Array) -> Array:
        """Return for every row how clear its class is, in the sense of ``margin``."""

    @abstractmethod
    def leads_over(
        self, scores: Array, own: NDArray[np.int64], others: NDArray[Any], theirs: NDArray[np.integer[Any]]
    ) -> Array:
        """Return by how much scores prefer their ``own`` classes to those of other scores, ``theirs``."""

    @abstractmethod
    def margin(self, errors: Array) -> float:
        """Return the lead beyond which scores with at most these errors decide for the same class."""

    @abstractmethod
    def clear_by(self, margin: str, n_outputs: int) -> str:
        """Return in words that the lead is larger than a margin."""

    @abstractmethod
    def lead_words(self, n_outputs: int) -> tuple[str, str]:
        """Return how to say that a lead is at least a number, and that those of rows are more than one."""

    @abstractmethod
    def score_names(self, classes: Sequence[int | str]) -> tuple[str, ...]:
        """Return what each score speaks for."""


class Largest(Decision):
    """The sign of one score, or the largest of several."""

    may_stop_early = True

    def n_outputs(self, n_classes: int) -> int:
        """Return 1 for two classes, otherwise one per class."""
        return 1 if n_classes == 2 else n_classes

    def indices(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class with the largest score; one score decides by its sign, and 0 is class 0."""
        if scores.shape[1] == 1:
            return np.asarray(scores[:, 0] > 0, dtype=np.int64)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)

    def leads(self, scores: Array) -> Array:
        """Return how far one score is from 0, or the largest ahead of the next."""
        if scores.shape[1] == 1:
            return np.abs(scores[:, 0])
        return np.asarray(np.diff(np.sort(scores, axis=1)[:, -2:]).ravel())

    def leads_over(
        self, scores: Array, own: NDArray[np.int64], others: NDArray[Any], theirs: NDArray[np.integer[Any]]
    ) -> Array:
        """Return how far one score is from 0, or that of the own class ahead of the other class's."""
        if scores.shape[1] == 1:
            return np.abs(scores[:, 0])
        rows = np.arange(len(scores))
        return np.asarray(scores[rows, own] - scores[rows, theirs])

    def margin(self, errors: Array) -> float:
        """Return the error of one score, or the sum of the two largest."""
        return float(np.sort(errors)[-2:].sum())

    def clear_by(self, margin: str, n_outputs: int) -> str:
        """Return in words that the score is clear of 0, or the lead is larger."""
        return f"score is further than {margin} from 0" if n_outputs == 1 else f"lead is more than {margin}"

    def lead_words(self, n_outputs: int) -> tuple[str, str]:
        """Return how to speak of a score's distance from 0, or of a lead."""
        if n_outputs == 1:
            return "score is at least {} from 0", "their score is further than {} from 0"
        return "lead is at least {}", "their lead is more than {}"

    def score_names(self, classes: Sequence[int | str]) -> tuple[str, ...]:
        """Return the classes; of two, the second."""
        return tuple(str(label) for label in (classes if len(classes) > 2 else classes[1:]))


class Votes(Decision):
    """One-vs-one: every pair of classes votes."""

    may_stop_early = False

    def n_outputs(self, n_classes: int) -> int:
        """Return the number of pairs."""
        if not 3 <= n_classes <= MAX_VOTING_CLASSES:
            raise ModelError(f"votes need 3 to {MAX_VOTING_CLASSES} classes, but the model has {n_classes}")
        return n_classes * (n_classes - 1) // 2

    def indices(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class with the most votes."""
        return np.asarray(np.argmax(self.votes(scores), axis=1), dtype=np.int64)

    def votes(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return the (n, n_classes) votes."""
        first, second = pairs(scores.shape[1])
        votes = np.zeros((len(scores), int(second.max()) + 1), dtype=np.int64)
        for pair, (i, j) in enumerate(zip(first, second, strict=True)):
            for_first = scores[:, pair] > 0
            votes[:, i] += for_first
            votes[:, j] += ~for_first
        return votes

    def leads(self, scores: Array) -> Array:
        """Return how far the score that is nearest to 0 is from it: beyond that no vote changes."""
        return np.asarray(np.abs(scores).min(axis=1))

    def leads_over(
        self, scores: Array, own: NDArray[np.int64], others: NDArray[Any], theirs: NDArray[np.integer[Any]]
    ) -> Array:
        """Return how far the clearest vote that differs is from 0."""
        return np.asarray(np.max(np.abs(scores) * ((scores > 0) != (others > 0)), axis=1))

    def margin(self, errors: Array) -> float:
        """Return the largest error."""
        return float(errors.max())

    def clear_by(self, margin: str, n_outputs: int) -> str:
        """Return in words that no vote can change."""
        return f"scores are all further than {margin} from 0"

    def lead_words(self, n_outputs: int) -> tuple[str, str]:
        """Return how to speak of the score that is nearest to 0."""
        return "scores are all at least {} from 0", "their scores are all further than {} from 0"

    def score_names(self, classes: Sequence[int | str]) -> tuple[str, ...]:
        """Return the pairs; a positive score is for the first of the two."""
        first, second = pairs(self.n_outputs(len(classes)))
        return tuple(f"{classes[i]}_over_{classes[j]}" for i, j in zip(first, second, strict=True))


class Value(Decision):
    """The score itself: there is nothing to decide, and so nothing that an error could change but the value."""

    may_stop_early = False
    gives_classes = False

    def n_outputs(self, n_classes: int) -> int:
        """Return 1: one value."""
        return 1

    def indices(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return 0 for every row, which stands for no class, in Python and on devices alike."""
        return np.zeros(len(scores), dtype=np.int64)

    def leads(self, scores: Array) -> Array:
        """Return infinity: no error of a score changes a class."""
        return np.full(len(scores), np.inf)

    def leads_over(
        self, scores: Array, own: NDArray[np.int64], others: NDArray[Any], theirs: NDArray[np.integer[Any]]
    ) -> Array:
        """Return 0: no score prefers one class to another."""
        return np.zeros(len(scores))

    def margin(self, errors: Array) -> float:
        """Return 0: whatever the errors, no class changes."""
        return 0.0

    def clear_by(self, margin: str, n_outputs: int) -> str:
        """Return in words that there is no class."""
        return "value is asked for, and no class"

    def lead_words(self, n_outputs: int) -> tuple[str, str]:
        """Return the same words whatever the numbers: there is no class to be ahead."""
        return "values have no classes", "values have no classes"

    def score_names(self, classes: Sequence[int | str]) -> tuple[str, ...]:
        """Return that the score is the value."""
        return ("value",)


DECISIONS: Mapping[str, Decision] = {LARGEST: Largest(), VOTES: Votes(), VALUE: Value()}


def pairs(n_outputs: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second class of every pair, in the order of the scores."""
    n_classes = round((1 + np.sqrt(1 + 8 * n_outputs)) / 2)
    return np.triu_indices(n_classes, k=1)


def class_indices(scores: NDArray[Any], decision: str = LARGEST) -> NDArray[np.int64]:
    """Return the classes that (n, n_outputs) scores decide for; see the module for the two ways."""
    return DECISIONS[decision].indices(scores)
