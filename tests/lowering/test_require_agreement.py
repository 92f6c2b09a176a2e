"""An integer program that does not stand for its model is refused, with what to do instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import model, rbf
from narrowing import a

from sparsegen.errors import OptionError
from sparsegen.lowering import lower
from sparsegen.lowering.agreement import Agreement
from sparsegen.lowering.formats import Format
from sparsegen.lowering.require_agreement import require_agreement

IN_G = model([rbf(4.0)], 8, 3, (0, 1))
"""Features within -1 and 1: whole numbers cannot tell them apart."""
X = np.sin(np.arange(1, 1201) ** 1.5).reshape(400, 3)


def refused(format, **changed):
    lowered = lower(IN_G, format)
    with pytest.raises(OptionError) as error:
        require_agreement(replace(lowered, agreement=replace(a(Agreement, lowered.agreement), **changed)))
    return error.value


@pytest.mark.parametrize("labels", [None, IN_G.predict(X)], ids=["rows", "labelled rows"])
def test_whole_numbers_that_lose_everything_are_refused(labels):
    error = refused(Format("q7", "raw-int16", rows=X, labels=labels))
    assert error.change == {"input": "f32", "dtype": "q15", "force": ""}
    assert "would be lost in q7: " in str(error)
    assert str(error).endswith(
        "read float32, rescale the features so that whole numbers tell them apart, compute in q15, or force it"
    )


def test_points_near_the_vectors_stand_in_for_rows():
    error = refused(Format("q7", "raw-int16"))
    assert "% of the labels would be lost in q7: " in str(error)
    assert "points near the vectors keep their label" in str(error)
    assert error.change == {"input": "f32", "dtype": "q15", "rows": "", "force": ""}


@pytest.mark.parametrize(
    ("format", "change"),
    [
        (Format("q7", "f32", rows=X), {"dtype": "q15"}),
        (Format("q15", "f32", rows=X), {"dtype": "f32"}),
        (Format("q7", "grid", rows=X), {"input": "f32", "dtype": "q15"}),
        (Format("q15", "grid", rows=X), {"input": "f32"}),
    ],
)
def test_the_advice_is_what_can_help(format, change):
    assert refused(format, same=0).change == {**change, "force": ""}


def test_what_agrees_is_passed_on():
    for format in (Format(), Format("q7", rows=X), Format("q15", rows=X, labels=IN_G.predict(X))):
        lowered = lower(IN_G, format)
        assert require_agreement(lowered) is lowered


def test_one_answer_to_everything_is_refused_however_rare_the_other_class_is():
    lowered = lower(IN_G, Format("q7", rows=X))
    constant = Agreement("q7", 1000, True, 998, lost_class="1")
    with pytest.raises(OptionError, match=r"the class '1' would be lost in q7: 99\.80 % of 1000 calibration rows"):
        require_agreement(replace(lowered, agreement=constant))
