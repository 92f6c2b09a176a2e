"""A lowered model: what a device must compute, what is promised, and what numbers cannot be lowered."""

from __future__ import annotations

import numpy as np
import pytest
from golden_models import SMALL, model, rbf, wave

from sparsegen.errors import DataError, ModelError
from sparsegen.lowering import float_road, integer_road, lower
from sparsegen.lowering.calibrate import calibrate
from sparsegen.lowering.formats import FORMATS, Format, IntegerFormat
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.program import Program

OF = SMALL["laplacian_text"]
ROWS = wave(12, 4)


def test_a_device_must_compute_the_models_scores_in_float32():
    lowered = lower(OF)
    assert isinstance(lowered.program, Program)
    found = lowered.reference(ROWS)
    assert np.array_equal(found.scores, OF.scores(ROWS))
    assert np.array_equal(found.labels, OF.predict_index(ROWS))
    assert (found.unit, found.is_exact) == (1.0, False)
    assert (lowered.n_features, lowered.n_outputs) == (4, 3)
    assert lowered.input_dtype == lowered.score_dtype == np.float32
    assert np.array_equal(lowered.inputs(ROWS), ROWS.astype(np.float32))
    assert lowered.promises == ()


@pytest.mark.parametrize("reads", ["f32", "grid"])
def test_a_device_must_compute_the_simulated_scores_in_integers(reads):
    lowered = lower(OF, Format("q7", reads, rows=ROWS))
    program = lowered.program
    assert isinstance(program, IntegerProgram)
    found = lowered.reference(ROWS)
    assert np.array_equal(found.scores, program.scores(program.inputs(ROWS)))
    assert np.array_equal(found.labels, program.predict_index(program.inputs(ROWS)))
    assert (found.unit, found.is_exact) == (program.unit, True)
    assert lowered.score_dtype == np.int32
    assert lowered.input_dtype == (np.float32 if reads == "f32" else np.uint8)
    subjects = ["range", "score error", "label", "overflow", "agreement", "lead", "proved"]
    assert [subject for subject, _ in lowered.promises] == subjects
    said = dict(lowered.promises)
    assert said["range"] == str(lowered.coverage)
    assert said["agreement"] == str(lowered.agreement)
    assert lowered.leads is not None and lowered.promises[-2:] == lowered.leads.sentences()


@pytest.mark.parametrize("dtype", ["f32", "q7"])
def test_a_row_that_no_device_can_read_is_an_error(dtype):
    with pytest.raises(DataError, match="row 1, feature 2 is not a finite number"):
        lower(OF, Format(dtype)).inputs(np.array([[0.0, np.nan, 0.0, 0.0]]))


def test_early_exit_sorts_the_vectors_and_nothing_else():
    data = calibrate(OF, ROWS)
    plain, early = (integer_road(OF, Format("q7", early_exit=early), data) for early in (False, True))
    weights = [np.abs(program.coef).sum(axis=1).max(axis=0) for program in (plain, early)]
    assert np.any(np.diff(weights[0]) > 0)
    assert np.all(np.diff(weights[1]) <= 0)
    assert sorted(weights[0].tolist()) == sorted(weights[1].tolist())
    with pytest.raises(TypeError, match="f32 is not an integer format"):
        integer_road(OF, Format("f32"), data)


def test_numbers_that_grow_out_of_range_are_one_sentence(monkeypatch):
    def overflow(*_, **__):
        raise FloatingPointError("overflow encountered in multiply.")

    monkeypatch.setattr("sparsegen.lowering.float_road", overflow)
    with pytest.raises(ModelError) as caught:
        lower(OF)
    assert str(caught.value) == (
        "the model's numbers are too large or too small for f32 (overflow encountered in multiply); scale the features "
        "and train again"
    )


def test_exponentials_become_powers_of_two_only_where_asked_for():
    of = model([rbf(), rbf(0.5)], 3, 3, (0, 1))
    plain, in_base_two = (float_road(of, base_two=base_two).parts[0].outers for base_two in (False, True))
    assert all("Exp(" in repr(outer) for outer in plain)
    assert all("Exp2(" in repr(outer) for outer in in_base_two)


@pytest.mark.parametrize(
    ("dtype", "levels", "projected", "weight"), [("q7", 255, 255, 127), ("q15", 32767, 4095, 32767)]
)
def test_indices_use_the_bits_there_are(dtype, levels, projected, weight):
    """A byte; 15 bits, so that differences have a sign; before a projection 12, as sums of products have 31."""
    numbers = FORMATS[dtype]
    assert isinstance(numbers, IntegerFormat)
    assert (numbers.levels, numbers.projected_levels, numbers.largest_weight) == (levels, projected, weight)
