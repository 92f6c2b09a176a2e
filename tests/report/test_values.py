"""What a page says of a model that gives values: errors rounded up, and rows where they are."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from golden_models import SMALL, model, rbf, wave
from report.reports import Parsed, held_from, rows_of

from sparsegen.data import from_arrays
from sparsegen.errors import ToolError
from sparsegen.model import SparseModel
from sparsegen.report import report, tested
from sparsegen.report.sections import values
from sparsegen.report.subject import Subject

TRUE = wave(50, step=0.3, size=2.0)


@pytest.fixture(autouse=True)
def playground_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the playground out, which takes a compilation."""
    monkeypatch.setattr("sparsegen.report.sections.playground.playground", no_compiler)


def no_compiler(*_: Any, **__: Any) -> None:
    raise ToolError("there is no compiler")


def rows_off_by(off: Any, y: Any = TRUE) -> tested.Tested:
    return tested.Tested(np.zeros((50, 2)), np.asarray(y), (TRUE + off)[:, None], is_held_out=True)


def test_errors_are_those_of_their_definitions() -> None:
    off = wave(50, step=0.9, size=0.5)
    found = tested.errors(rows_off_by(off), float(TRUE.mean()))
    assert np.isclose(found.rmse, np.sqrt(np.mean(off**2)))
    assert np.isclose(found.mae, np.mean(np.abs(off)))
    assert found.r2 is not None and np.isclose(found.r2, 1 - np.sum(off**2) / np.sum((TRUE - TRUE.mean()) ** 2))
    assert found.mean_mae is not None and np.isclose(found.mean_mae, np.mean(np.abs(TRUE - TRUE.mean())))
    alike = tested.Tested(np.zeros((3, 1)), np.ones(3), np.ones((3, 1)), is_held_out=True)
    assert tested.errors(alike).r2 is None


def test_values_that_came_as_text_are_numbers() -> None:
    assert tested.errors(rows_off_by(0.0, [repr(float(value)) for value in TRUE])).rmse == 0.0


def test_the_section_tells_them() -> None:
    rows = rows_off_by(0.123456)
    subject = SimpleNamespace(has_classes=False, tested=rows, errors=tested.errors(rows))
    made = values.section(cast(Subject, subject))
    assert made is not None
    assert "Of 50 held-out rows, values are off by 0.1235 on average (estimated 95 % interval" in made.html
    assert "if rows are independent); the root mean square is 0.1235" in made.html
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


def page_text(of: SparseModel, **options: Any) -> str:
    return Parsed(report(of, rows_of(of), devices=(), **options)).text


def test_the_page_of_a_regression_says_what_is_true_of_values() -> None:
    of = SMALL["value"]
    text = page_text(held_from(of, rows_of(of), slice(0, 40)))
    assert "by hand regression model" in text
    assert "through a Gaussian kernel give one value." in text
    assert re.search(r"of 40 held-out rows; estimated 95 % interval \S+ to \S+ if rows are independent; the mean", text)
    assert "the mean of the rows" in text and "adds up what they say." in text
    assert "Nothing in these rows looks like a leak" in text or "What may flatter the test" in text
    assert "class that its" not in text and "labelled correctly" not in text


def test_the_head_of_a_regression_counts_no_row_that_may_be_known() -> None:
    of = SMALL["value"]
    text = page_text(of)
    assert f"of {of.card['values']['rows']} test rows, as the model's card says; estimated 95 % interval" in text
    unknown = replace(of, card={"method": "by hand"})
    assert "not known: no row here is known to be held out in training" in page_text(unknown)
