"""Point and Front: the candidates of a search, and those of them that no other beats in score, flash and time at once.

Both come back from JSON, which may be anybody's: whatever has another form is refused with one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from sparsegen.budget.budget import Budget
from sparsegen.errors import DataError, OptionError


@dataclass(frozen=True)
class Point:
    """One candidate: how it is trained and exported, how good it is, and what it costs."""

    number: int
    """Its number in the study."""
    parameters: Mapping[str, Any]
    """What it is trained with: the method, its parameters, scaling, features."""
    dtype: str
    reads: str
    """Name of an input kind."""
    n_vectors: int
    score: float
    """On rows that the candidate was not trained on, in its own number format."""
    metric: str
    flash: int
    ram: int
    """The input row included."""
    instructions: float | None
    milliseconds: float | None
    is_measured: bool = False
    """Whether the costs were measured on the finished model; otherwise they are the cost model's estimates."""

    @property
    def time(self) -> float:
        """What its time is compared by: milliseconds, or instructions where the clock is not known, or 0."""
        known = (value for value in (self.milliseconds, self.instructions) if value is not None)
        return next(known, 0.0)

    @classmethod
    def from_json(cls, document: object) -> Point:
        """Return the point of :meth:`as_json`, or raise a DataError."""
        known = _fields(document, cls, "a point")
        checks: dict[str, Callable[[object], bool]] = {
            "number": _is_count,
            "parameters": lambda value: isinstance(value, dict),
            "n_vectors": _is_count,
            "score": _is_number,
            "flash": _is_count,
            "ram": _is_count,
            "instructions": _is_number_or_none,
            "milliseconds": _is_number_or_none,
            "is_measured": lambda value: isinstance(value, bool),
        }
        for name, value in known.items():
            if not checks.get(name, _is_text)(value):
                raise DataError(f"the {name.replace('_', ' ')} of a point of the front has the wrong form")
        return cls(**known)

    def as_json(self) -> dict[str, Any]:
        """Return the point as plain values."""
        return {**asdict(self), "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class Front:
    """What a search found."""

    points: tuple[Point, ...]
    """Those that no other candidate beats in score, flash and time at once; the cheapest first."""
    candidates: tuple[Point, ...]
    """All that were finished, by number."""
    picked: int
    """The number of the point whose model was written."""
    device: str
    part: str | None
    """The microcontroller, where one was named or the device stands for one."""
    budget: Budget
    metric: str
    larger_is_better: bool = True

    @classmethod
    def of(
        cls,
        candidates: Iterable[Point],
        picked: int,
        *,
        device: str,
        part: str | None,
        budget: Budget,
        metric: str,
        larger_is_better: bool = True,
    ) -> Front:
        """Return the front of all finished candidates."""
        listed = tuple(sorted(candidates, key=lambda point: point.number))
        points = pareto(listed, larger_is_better=larger_is_better)
        return cls(points, listed, picked, device, part, budget, metric, larger_is_better)

    @property
    def pick(self) -> Point:
        """The picked point."""
        return self.point(self.picked)

    def point(self, number: int) -> Point:
        """Return a candidate by its number."""
        found = next((point for point in self.candidates if point.number == number), None)
        if found is None:
            known = ", ".join(str(point.number) for point in self.points)
            raise OptionError(f"the search has no finished candidate {number}; those of its front are: {known}")
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the front as plain values; :meth:`from_json` gives it back."""
        return {
            "points": [point.number for point in self.points],
            "candidates": [point.as_json() for point in self.candidates],
            "picked": self.picked,
            "device": self.device,
            "part": self.part,
            "budget": asdict(self.budget),
            "metric": self.metric,
            "larger_is_better": self.larger_is_better,
        }

    @classmethod
    def from_json(cls, document: object) -> Front:
        """Return the front of :meth:`as_json`, or raise a DataError."""
        known = _fields(document, cls, "a front")
        texts = all(isinstance(known[name], str) for name in ("device", "metric"))
        if not texts or not isinstance(known["part"], str | None) or not isinstance(known["larger_is_better"], bool):
            raise DataError("the front's device, part, metric or direction has the wrong form")
        if not isinstance(known["candidates"], list) or not known["candidates"] or not _is_count(known["picked"]):
            raise DataError("the front has no list of candidates, or no pick among them")
        candidates = [Point.from_json(point) for point in known["candidates"]]
        limits = _fields(known["budget"], Budget, "a budget")
        if not all(map(_is_number_or_none, limits.values())):
            raise DataError("the front's budget has the wrong form")
        front = cls.of(
            candidates,
            known["picked"],
            device=known["device"],
            part=known["part"],
            budget=Budget(**limits),
            metric=known["metric"],
            larger_is_better=known["larger_is_better"],
        )
        if known["points"] != [point.number for point in front.points]:
            raise DataError("the front's points are not those that no other candidate beats")
        front.point(front.picked)
        return front


def pareto(points: Iterable[Point], *, larger_is_better: bool = True) -> tuple[Point, ...]:
    """Return the points that no other is at least as good as in score, flash and time; of equal ones the first.

    They come by flash, then by time.
    """
    sign = 1.0 if larger_is_better else -1.0
    cheapest_first = sorted(points, key=lambda p: (p.flash, p.time, -sign * p.score, p.number))
    kept: list[Point] = []
    for point in cheapest_first:  # what comes later takes as much flash or more, so it beats nothing that is kept
        if not any(one.time <= point.time and sign * one.score >= sign * point.score for one in kept):
            kept.append(point)
    return tuple(kept)


def with_point(front: Front, point: Point) -> Front:
    """Return the front with what is known better of one candidate, such as its measured costs."""
    others = (one for one in front.candidates if one.number != point.number)
    fresh = Front.of(
        (*others, point),
        front.picked,
        device=front.device,
        part=front.part,
        budget=front.budget,
        metric=front.metric,
        larger_is_better=front.larger_is_better,
    )
    return replace(fresh, picked=point.number)


def _fields(document: object, kind: type, what: str) -> dict[str, Any]:
    wanted = {one.name for one in fields(kind)}
    if not isinstance(document, dict) or set(document) != wanted:
        raise DataError(f"{what} must have the fields {', '.join(sorted(wanted))} and no others")
    return dict(document)


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest double
        return False


def _is_number_or_none(value: object) -> bool:
    return value is None or _is_number(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
