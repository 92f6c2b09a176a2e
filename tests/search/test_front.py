"""Point and Front: what is beaten by none, and JSON that may be anybody's."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsegen.budget.budget import Budget
from sparsegen.errors import DataError, OptionError
from sparsegen.search.front import Front, Point, pareto


def point(number: int, score: float, flash: int, ms: float | None) -> Point:
    return Point(number, {"method": "slmc"}, "q7", "f32", 3, score, "accuracy", flash, 100, 1000.0, ms)


def front(*points: Point) -> Front:
    return Front.of(points, 0, device="cortex-m3", part="STM32F103C8", budget=Budget(flash=4096), metric="accuracy")


A, B, C = point(0, 0.9, 1000, 1.0), point(1, 0.8, 900, 2.0), point(2, 0.8, 1000, 1.0)


def test_a_point_that_another_beats_or_equals_is_not_on_the_front():
    assert front(A, B, C).points == (B, A)


few = st.integers(0, 4)


@given(st.lists(st.tuples(few, few, few), min_size=1, max_size=12), st.booleans())
def test_the_front_is_what_its_slow_twin_says(drawn, larger):
    points = [point(i, float(score), flash, float(ms)) for i, (score, flash, ms) in enumerate(drawn)]
    sign = 1 if larger else -1

    def worth(p):
        return np.array([sign * p.score, -p.flash, -p.time])

    def beats(p, q):
        same = (worth(p) == worth(q)).all()
        return (worth(p) >= worth(q)).all() and (not same or p.number < q.number)

    expected = {p.number for p in points if not any(beats(q, p) for q in points if q is not p)}
    assert {p.number for p in pareto(points, larger_is_better=larger)} == expected


def test_a_front_comes_back_from_json():
    made = front(A, B, C)
    assert Front.from_json(json.loads(json.dumps(made.as_json()))) == made
    assert made.pick == A


def test_time_is_instructions_where_the_clock_is_not_known():
    assert point(0, 1.0, 1, None).time == 1000.0
    assert replace(point(0, 1.0, 1, None), instructions=None).time == 0.0


def test_an_unknown_candidate_is_told_in_a_sentence():
    with pytest.raises(OptionError, match="no finished candidate 7; those of its front are: 1, 0"):
        front(A, B).point(7)


def spoilt(change):
    document = json.loads(json.dumps(front(A, B).as_json()))
    change(document)
    return document


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("metric"),
        lambda d: d.update(extra=1),
        lambda d: d.update(points=[0]),
        lambda d: d.update(picked=9),
        lambda d: d.update(picked=True),
        lambda d: d.update(candidates=[]),
        lambda d: d.update(device=3),
        lambda d: d.update(budget={"flash": "4K", "ram": None, "milliseconds": None}),
        lambda d: d.update(budget={"flash": -1, "ram": None, "milliseconds": None}),
        lambda d: d["candidates"][0].update(score=float("nan")),
        lambda d: d["candidates"][0].update(score=10**400),
        lambda d: d["candidates"][0].update(flash=1.5),
        lambda d: d["candidates"][0].update(parameters=[]),
        lambda d: d["candidates"][0].update(dtype=7),
        lambda d: d["candidates"][0].pop("ram"),
    ],
)
def test_json_of_another_form_is_refused(change):
    with pytest.raises((DataError, OptionError)):
        Front.from_json(spoilt(change))


@pytest.mark.parametrize("document", [None, [], "front", {}])
def test_what_is_no_front_is_refused(document):
    with pytest.raises(DataError, match="must have the fields"):
        Front.from_json(document)
