"""What a page says of a model that gives values: errors rounded up, and rows where they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from golden_models import model, rbf, wave
from report.reports import Parsed

from sparsegen.data import from_arrays
from sparsegen.report import report, tested
from sparsegen.report.sections import values
from sparsegen.report.subject import Subject

TRUE = wave(50, step=0.3, size=2.0)


def rows_off_by(off: Any, y: Any = TRUE) -> tested.Tested:
    return tested.Tested(np.zeros((50, 2)), np.asarray(y), (TRUE + off)[:, None], is_held_out=True)


def test_errors_are_those_of_their_definitions() -> None:
    off = wave(50, step=0.9, size=0.5)
    found = tested.errors(rows_off_by(off))
    assert np.isclose(found.root_mean_square, np.sqrt(np.mean(off**2)))
    assert np.isclose(found.mean_absolute, np.mean(np.abs(off)))
    assert found.explained is not None
    assert np.isclose(found.explained, 1 - np.sum(off**2) / np.sum((TRUE - TRUE.mean()) ** 2))
    assert (
        tested.errors(tested.Tested(np.zeros((3, 1)), np.ones(3), np.ones((3, 1)), is_held_out=True)).explained is None
    )


def test_values_that_came_as_text_are_numbers() -> None:
    assert tested.errors(rows_off_by(0.0, [repr(float(value)) for value in TRUE])).root_mean_square == 0.0


def test_the_section_tells_them() -> None:
    rows = rows_off_by(0.123456)
    subject = SimpleNamespace(has_classes=False, tested=rows, errors=tested.errors(rows))
    made = values.section(cast(Subject, subject))
    assert made is not None
    assert "Of 50 held-out rows, values are off by 0.1235 (root mean square)" in made.html
    assert made.html.count("<circle") == 50
    assert values.section(cast(Subject, SimpleNamespace(has_classes=True))) is None


def test_nothing_is_said_of_classes_that_there_are_none_of() -> None:
    made = model([rbf()], 6, 4, (), task="regression", decision="value", card={"method": "by hand"})
    rows = from_arrays(wave(50, 4), TRUE)
    page = Parsed(report(made, rows, devices=(), baselines=False)).text
    assert "adds up what they say." in page
    assert "line the mean of the rows." in page
    assert "No leak was looked for: that is done for classes." in page
    assert "class that its" not in page
