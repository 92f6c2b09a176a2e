"""What --dtype, --input and --early-exit mean."""

from __future__ import annotations

import pytest

from sparsegen.cli.formats import parse_formats, run_each
from sparsegen.errors import OptionError, ToolError
from sparsegen.lowering.formats import Format

INPUTS = "f32, raw-int16, raw-uint8, grid"


@pytest.mark.parametrize(
    ("text", "names"), [("f32", ["f32"]), ("q7,q15", ["q7", "q15"]), (" q15 , q7,q15,", ["q15", "q7"])]
)
def test_formats_by_name(text, names):
    assert parse_formats(text, "f32") == [Format(name, "f32") for name in names]


def test_inputs_and_early_exit_are_carried():
    assert parse_formats("q7", "raw-uint8", early_exit=True) == [Format("q7", "raw-uint8", early_exit=True)]


@pytest.mark.parametrize(
    ("text", "reads", "early_exit", "sentence"),
    [
        (",", "f32", False, "--dtype names no number format; choose from: f32, q15, q7, q15c8, q7c8"),
        ("q8", "f32", False, "--dtype 'q8' is unknown (did you mean 'q7c8'?); choose from: f32, q15, q7, q15c8, q7c8"),
        ("q7,auto", "f32", False, "--dtype 'auto' is unknown; choose from: f32, q15, q7, q15c8, q7c8"),
        ("q7", "raw-int8", False, "--input 'raw-int8' is unknown (did you mean 'raw-uint8'?); choose from: " + INPUTS),
        ("q7,f32", "grid", False, "float32 exports read f32 and never stop early; choose --dtype q15 or q7 for that"),
        ("f32", "f32", True, "float32 exports read f32 and never stop early; choose --dtype q15 or q7 for that"),
    ],
)  # fmt: skip
def test_bad_requests_are_one_sentence(text, reads, early_exit, sentence):
    with pytest.raises(OptionError) as refused:
        parse_formats(text, reads, early_exit=early_exit)
    assert str(refused.value) == sentence


def test_the_results_of_every_format_are_one_list():
    formats = parse_formats("q7,q15", "f32")
    assert run_each(formats, "c", lambda numbers: [numbers.dtype, 1]) == ["q7", 1, "q15", 1]
    with pytest.raises(ToolError, match="no device can run onnx exports here; what each needs: sparsegen list devices"):
        run_each(formats, "onnx", lambda numbers: [])
