"""Record: what a study keeps of one candidate. Studies may be anybody's, so whatever is read from one is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparsegen.errors import DataError
from sparsegen.model.card import is_finite_number
from sparsegen.search.candidate import Candidate, parameters_of
from sparsegen.search.front import Point

LARGEST = 1e15
"""No score, cost or time of a search is beyond this."""
FINISHED, STOPPED, FAILED = "finished", "stopped", "failed"
"""All folds done; stopped after the first look, or too large to train; broke down."""


@dataclass(frozen=True)
class Record:
    """One candidate and what became of it."""

    draws: Mapping[str, Any]
    """What Optuna drew."""
    distributions: Mapping[str, Any]
    candidate: Candidate | None
    """``None`` where nothing that was drawn fits the budget."""
    state: str
    flash: int = 0
    ram: int = 0
    instructions: float | None = None
    milliseconds: float | None = None
    """Estimates, as all costs here."""
    score: float | None = None
    quick_score: float | None = None
    """Of the first look."""
    reason: str | None = None
    """Why it is not finished, in a sentence."""
    seconds: float = 0.0
    """What training took on the workers."""
    run: str = ""
    """Which run of the command did this."""
    elapsed: float = 0.0
    """Seconds since that run began."""
    number: int = -1
    """In the study."""

    @property
    def time(self) -> float:
        """Milliseconds, or instructions where the clock is not known."""
        known = (value for value in (self.milliseconds, self.instructions) if value is not None)
        return next(known, 0.0)

    def point(self, metric: str) -> Point:
        """Return a finished candidate as a point of the front."""
        if self.candidate is None or self.score is None:
            raise AssertionError(f"candidate {self.number} is not finished")
        return Point(
            number=self.number,
            parameters=parameters_of(self.candidate),
            dtype=self.candidate.dtype,
            reads=self.candidate.reads,
            n_vectors=self.candidate.n_vectors,
            score=self.score,
            metric=metric,
            flash=self.flash,
            ram=self.ram,
            instructions=self.instructions,
            milliseconds=self.milliseconds,
        )

    def attributes(self) -> dict[str, Any]:
        """Return what a trial keeps as user attributes."""
        return {
            "candidate": None if self.candidate is None else self.candidate.as_json(),
            "state": self.state,
            **{name: getattr(self, name) for name in (*COUNTS, *NUMBERS)},
            **{name: getattr(self, name) for name in TEXTS},
        }

    @classmethod
    def of_trial(
        cls,
        number: int,
        draws: Mapping[str, Any],
        distributions: Mapping[str, Any],
        attributes: Mapping[str, Any],
        n_features: int,
    ) -> Record:
        """Return the record that a trial of a study keeps, or raise a DataError."""
        try:
            document = attributes["candidate"]
            candidate = None if document is None else Candidate.from_json(document)
            known = {name: attributes[name] for name in ("state", *COUNTS, *NUMBERS, *TEXTS)}
        except KeyError as error:
            raise DataError(f"trial {number} of the study lacks {str(error)[:40]}") from None
        right = (
            known["state"] in (FINISHED, STOPPED, FAILED)
            and all(type(known[name]) is int and 0 <= known[name] <= LARGEST for name in COUNTS)
            and all(known[name] is None or _is_number(known[name]) for name in NUMBERS)
            and all(known[name] is not None and known[name] >= 0 for name in DURATIONS)
            and all(isinstance(known[name], str | None) for name in TEXTS)
        )
        finished = known["state"] == FINISHED
        if not right or (finished and (candidate is None or known["score"] is None)):
            raise DataError(f"trial {number} of the study is damaged")
        asked = (candidate.n_features or 0, candidate.n_projected or 0) if candidate is not None else ()
        if any(count > n_features for count in asked):
            raise DataError(f"trial {number} of the study uses more features than there are")
        return cls(draws, distributions, candidate, number=number, **known)


def _is_number(value: object) -> bool:
    return is_finite_number(value) and abs(float(value)) <= LARGEST  # type: ignore[arg-type]


COUNTS = ("flash", "ram")
DURATIONS = ("seconds", "elapsed")
NUMBERS = ("instructions", "milliseconds", "score", "quick_score", *DURATIONS)
TEXTS = ("reason", "run")
