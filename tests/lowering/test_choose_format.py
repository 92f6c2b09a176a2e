"""Number formats by name, and the smallest that a model can do with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rbf
from integer_models import SIXTEEN, make_integer_case

from sparsegen.errors import OptionError
from sparsegen.lowering.choose_format import choose_dtype, make_formats
from sparsegen.lowering.formats import Format

CASE = make_integer_case(4, d=4, m=8, n_classes=3)
INPUTS = "f32, raw-int16, raw-uint8, grid"
LABELS = CASE.model.predict(CASE.rows)
NUMBERS = Format("q7", "f32", rows=CASE.rows, labels=LABELS)


@pytest.mark.parametrize(
    ("text", "names"), [("f32", ["f32"]), ("q7,q15", ["q7", "q15"]), (" q15 , q7,q15,", ["q15", "q7"])]
)
def test_formats_by_name(text, names):
    assert make_formats(text, "f32") == [Format(name, "f32") for name in names]


def test_inputs_and_early_exit_are_carried():
    assert make_formats("q7", "raw-uint8", early_exit=True) == [Format("q7", "raw-uint8", early_exit=True)]


@pytest.mark.parametrize(
    ("text", "reads", "early_exit", "sentence"),
    [
        (",", "f32", False, "--dtype names no number format; choose from: f32, q15, q7"),
        ("q8", "f32", False, "--dtype 'q8' is unknown (did you mean 'q7'?); choose from: f32, q15, q7"),
        ("q7,auto", "f32", False, "--dtype 'auto' is unknown; choose from: f32, q15, q7"),
        ("q7", "raw-int8", False, "--input 'raw-int8' is unknown (did you mean 'raw-uint8'?); choose from: " + INPUTS),
        ("q7,f32", "grid", False, "float32 exports read f32 and never stop early; choose --dtype q15 or q7 for that"),
        ("f32", "f32", True, "float32 exports read f32 and never stop early; choose --dtype q15 or q7 for that"),
    ],
)  # fmt: skip
def test_bad_requests_are_one_sentence(text, reads, early_exit, sentence):
    with pytest.raises(OptionError) as refused:
        make_formats(text, reads, early_exit=early_exit)
    assert str(refused.value) == sentence


def near_ties(gap):
    """Return a model and rows that a score of half ``gap`` separates: only finer formats can."""
    of = replace(SIXTEEN, card={})
    rows = of.vectors[:1] + np.linspace(-0.4, 0.4, 200)[:, None] * np.eye(1, 16, 3)
    scores = of.scores(rows)[:, 0]
    middle = np.median(scores)
    keep = np.abs(scores - middle) < gap
    return replace(of, intercept=of.intercept - middle), rows[keep]


def test_the_smallest_format_that_loses_little_enough_is_taken():
    dtype, tried = choose_dtype(CASE.model, NUMBERS, 5.0)
    assert dtype == "q7"
    assert [found.dtype for found in tried] == ["q7"]
    assert tried[0].loss <= 5.0


def test_a_finer_format_is_taken_where_8_bits_lose_too_much():
    of, rows = near_ties(2e-3)
    numbers = Format("q7", "f32", rows=rows, labels=of.predict(rows))
    dtype, tried = choose_dtype(of, numbers, 1.0)
    assert dtype == "q15"
    assert [found.dtype for found in tried] == ["q7", "q15"]
    assert tried[0].loss > 1.0 >= tried[1].loss


def test_float32_is_taken_where_no_integers_will_do():
    of, rows = near_ties(1e-5)
    rows = np.vstack([rows, of.vectors])
    numbers = Format("q7", "f32", rows=rows, labels=of.predict(rows))
    losses = [found.loss for found in choose_dtype(of, numbers, -100.1)[1]]
    assert len(losses) == 2
    assert choose_dtype(of, numbers, min(losses) - 0.01)[0] == "f32"


def test_where_float32_cannot_read_the_input_that_is_one_sentence():
    with pytest.raises(
        OptionError, match=r"no integer format loses at most -101 points \(q15: .*\); allow more with --max-l"
    ):
        choose_dtype(CASE.model, replace(NUMBERS, input="grid"), -101.0)


def test_a_kernel_without_integers_is_exported_in_float32():
    assert choose_dtype(SMALL["poly"], Format("q7", "f32"), 0.5) == ("f32", [])
    with pytest.raises(OptionError, match="the kernel poly has no integer form"):
        choose_dtype(SMALL["poly"], Format("q7", "grid"), 0.5)


def test_without_labels_and_rows_changed_labels_near_the_vectors_count():
    dtype, tried = choose_dtype(model([rbf()], 4, 3, (0, 1)), Format("q7", "f32"), 100.0)
    assert dtype == "q7"
    assert not tried[0].calibrated
    assert tried[0].loss == pytest.approx(100.0 * (1.0 - tried[0].same_labels))
