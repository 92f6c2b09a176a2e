"""What --dtype, --input and --early-exit mean."""

from __future__ import annotations

import pytest
from golden_models import SMALL

from sparsegen.cli.formats import Wanted, parse_formats, resolved, run_each
from sparsegen.errors import OptionError, ToolError
from sparsegen.lowering.choose_format import DEFAULT_MAX_LOSS
from sparsegen.lowering.formats import Format
from sparsegen.targets import TARGETS

DTYPES = "f32, q15, q7, q15c8, q7c8, auto"
INPUTS = "f32, raw-int16, raw-uint8, grid"


@pytest.mark.parametrize(
    ("text", "names"), [("f32", ["f32"]), ("q7,q15", ["q7", "q15"]), (" q15 , q7,q15,", ["q15", "q7"])]
)
def test_formats_by_name(text, names):
    assert parse_formats(text, "f32") == [Wanted(Format(name, "f32")) for name in names]


def test_auto_stands_beside_names():
    named, chosen = parse_formats("q7,auto", "f32", max_loss=0.2)
    assert named == Wanted(Format("q7")) and chosen.max_loss == 0.2
    assert parse_formats("auto", "grid", early_exit=True)[0].max_loss == DEFAULT_MAX_LOSS


def test_auto_that_finds_a_named_format_is_that_format():
    model, target = SMALL["binary_rbf"], TARGETS["c"]
    found = resolved(parse_formats("auto", "f32", max_loss=100), model, target)
    assert [numbers.dtype for numbers in found] == ["q7c8"]
    assert found == resolved(parse_formats("q7c8,auto", "f32", max_loss=100), model, target)
    assert [n.dtype for n in resolved(parse_formats("q7,auto", "f32", max_loss=-101), model, target)] == ["q7", "f32"]


def test_inputs_and_early_exit_are_carried():
    assert parse_formats("q7", "raw-uint8", early_exit=True) == [Wanted(Format("q7", "raw-uint8", early_exit=True))]


@pytest.mark.parametrize(
    ("text", "reads", "early_exit", "sentence"),
    [
        (",", "f32", False, "--dtype names no number format; choose from: " + DTYPES),
        ("q8", "f32", False, "--dtype 'q8' is unknown (did you mean 'q7c8'?); choose from: " + DTYPES),
        ("autos", "f32", False, "--dtype 'autos' is unknown (did you mean 'auto'?); choose from: " + DTYPES),
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
    formats = [Format("q7"), Format("q15")]
    assert run_each(formats, "c", lambda numbers: [numbers.dtype, 1]) == ["q7", 1, "q15", 1]
    with pytest.raises(ToolError, match="no device can run onnx exports here; what each needs: sparsegen list devices"):
        run_each(formats, "onnx", lambda numbers: [])
