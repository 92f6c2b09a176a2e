"""Number formats are objects; what does not go together is refused."""

from __future__ import annotations

import numpy as np
import pytest

from sparsegen.errors import OptionError
from sparsegen.lowering.formats import FLOAT32, FORMATS, INPUT_KINDS, Format, IntegerFormat


def test_every_format_and_input_is_found_by_its_name():
    for name, numbers in FORMATS.items():
        assert Format(name).numbers is numbers
        assert numbers.is_exact == isinstance(numbers, IntegerFormat)
    for name, kind in INPUT_KINDS.items():
        assert Format("q7", name).reads is kind
        assert [kind.is_float, kind.is_raw_integer, kind.is_grid].count(True) == 1
    assert not FLOAT32.numbers.is_exact


@pytest.mark.parametrize("numbers", [n for n in FORMATS.values() if isinstance(n, IntegerFormat)])
def test_indices_and_weights_fit_their_types(numbers):
    assert max(numbers.levels, numbers.projected_levels) <= np.iinfo(numbers.index_dtype).max
    assert numbers.largest_weight == np.iinfo(numbers.weight_dtype).max
    assert numbers.largest_coef == np.iinfo(numbers.coef_dtype).max
    assert f"{8 * numbers.index_dtype.itemsize}-bit vectors" in numbers.description
    assert f"{8 * numbers.coef_dtype.itemsize}-bit coefficients" in numbers.description
    assert not numbers.shifts_vectors(1)  # a shift and one coefficient are as long as a coefficient of 16 bits
    assert INPUT_KINDS["grid"].dtype_in(numbers) == numbers.index_dtype
    assert INPUT_KINDS["raw-int16"].dtype_in(numbers) == np.int16


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("q8",),
            r"there is no number format 'q8' \(did you mean 'q7c8'\?\); choose one of: f32, q15, q7, q15c8, q7c8",
        ),
        (("q7", "raw"), "there is no input kind 'raw' .* choose one of: f32, raw-int16, raw-uint8, grid"),
        (("f32", "grid"), "float32 programs read float32 and never stop early; integers do both"),
        (("f32", "f32", True), "float32 programs read float32 and never stop early; integers do both"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(arguments, sentence):
    with pytest.raises(OptionError, match=sentence):
        Format(*arguments)
