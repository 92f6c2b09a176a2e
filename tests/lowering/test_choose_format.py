"""The smallest number format that keeps a model accurate enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_models import SMALL, model, rbf
from integer_models import SIXTEEN
from narrowing import a

from benchmarks.trust._together import make_integer_case
from sparsegen.errors import OptionError
from sparsegen.lowering.agreement import Agreement
from sparsegen.lowering.choose_format import choose_format, smallest_first
from sparsegen.lowering.formats import Format

CASE = make_integer_case(4, d=4, m=8, n_classes=3)
LABELS = CASE.model.predict(CASE.rows)
NUMBERS = Format("q7", "f32", rows=CASE.rows, labels=LABELS)


def near_ties(gap):
    """Return a model and rows that a score of half ``gap`` separates: only finer formats can."""
    of = replace(SIXTEEN, card={})
    rows = of.vectors[:1] + np.linspace(-0.4, 0.4, 200)[:, None] * np.eye(1, 16, 3)
    scores = of.scores(rows)[:, 0]
    middle = np.median(scores)
    keep = np.abs(scores - middle) < gap
    return replace(of, intercept=of.intercept - middle), rows[keep]


def test_the_smallest_format_that_loses_little_enough_is_taken():
    choice = choose_format(CASE.model, NUMBERS, 5.0)
    assert choice.lowered.format.dtype == "q7c8"
    assert [found.dtype for found in choice.tried] == ["q7c8"]
    assert choice.tried[0].loss <= 5.0


def tried_for(d, n_outputs, *kernels):
    of = model(list(kernels) or [rbf()], 4, d, tuple(range(max(2, n_outputs))))
    return [numbers.name for numbers in smallest_first(of)]


def test_formats_are_tried_by_the_bytes_of_a_vector():
    assert tried_for(64, 10) == ["q7c8", "q7", "q15c8", "q15"]
    assert tried_for(4, 26) == ["q7c8", "q15c8", "q7", "q15"]  # coefficients are most of it
    assert tried_for(16, 26, rbf(), rbf(0.25)) == ["q7c8", "q15c8", "q7", "q15"]
    assert tried_for(9, 5, ("linear", {})) == ["q7c8", "q15c8", "q7", "q15"]


def test_8_bits_are_not_tried_where_they_save_no_word():
    """A binary program has one coefficient per vector: after it, 8 bits only leave a larger gap."""
    assert tried_for(16, 1) == ["q7", "q15"]
    assert tried_for(15, 1) == ["q7c8", "q7", "q15"]  # but one byte then fills the last word
    assert tried_for(16, 3) == ["q7c8", "q7", "q15c8", "q15"]


def test_a_finer_format_is_taken_where_8_bits_lose_too_much():
    of, rows = near_ties(2e-3)
    numbers = Format("q7", "f32", rows=rows, labels=of.predict(rows))
    choice = choose_format(of, numbers, 1.0)
    assert choice.lowered.format.dtype == "q15"
    assert [found.dtype for found in choice.tried] == ["q7", "q15"]
    assert choice.tried[0].loss > 1.0 >= choice.tried[1].loss


def test_float32_is_taken_where_no_integers_will_do():
    of, rows = near_ties(1e-5)
    rows = np.vstack([rows, of.vectors])
    numbers = Format("q7", "f32", rows=rows, labels=of.predict(rows))
    losses = [found.loss for found in choose_format(of, numbers, -100.1).tried]
    assert len(losses) == 2
    assert choose_format(of, numbers, min(losses) - 0.01).lowered.format.dtype == "f32"


def test_where_float32_cannot_read_the_input_that_is_one_sentence():
    with pytest.raises(
        OptionError, match=r"no integer format loses at most -101 points and no class \(q15: .*\); allow a larger loss"
    ):
        choose_format(CASE.model, replace(NUMBERS, input="grid"), -101.0)


def test_a_kernel_without_integers_is_exported_in_float32():
    choice = choose_format(SMALL["poly"], Format("q7", "f32"), 0.5)
    assert (choice.lowered.format.dtype, choice.tried) == ("f32", ())
    with pytest.raises(OptionError, match="the kernel poly has no integer form"):
        choose_format(SMALL["poly"], Format("q7", "grid"), 0.5)


def test_without_labels_and_rows_changed_labels_near_the_vectors_count():
    choice = choose_format(model([rbf()], 4, 3, (0, 1)), Format("q7", "f32"), 100.0)
    assert choice.lowered.format.dtype == "q7c8"
    assert not choice.tried[0].calibrated
    assert choice.tried[0].loss == pytest.approx(100.0 * (1.0 - a(Agreement, choice.tried[0]).same_labels))
