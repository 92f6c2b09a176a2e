"""What the playground gives to a page: deterministic, safe text, controls and examples that fit the rows."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from golden_models import EVERY, INTEGER, SMALL, model, rbf, rows, wave

from sparsegen.devices import _wasm
from sparsegen.errors import OptionError, ToolError
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel
from sparsegen.report.html import json_block
from sparsegen.report.playground import Playground, playground
from sparsegen.report.playground.controls import controls
from sparsegen.report.playground.drawing import drawing
from sparsegen.report.playground.examples import MOST_NUMBERS, choose_examples
from sparsegen.targets import TARGETS

needs_zig = pytest.mark.skipif(_wasm.missing() is not None, reason="zig is not installed")
HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>&amp;\"'`${7}"


def made(of: SparseModel, numbers: Format | None = None, **options) -> Playground:
    return playground(lower(of, numbers or Format()), rows(of), **options)


@needs_zig
def test_the_same_model_gives_the_same_bytes():
    first, second = (made(SMALL["poly"]) for _ in range(2))
    assert first == second
    assert first.wasm.startswith(b"\0asm")


@needs_zig
def test_nothing_particular_to_a_model_stands_outside_its_data():
    plain, hostile = (
        made(SMALL["laplacian_text"]),
        made(
            replace(SMALL["laplacian_text"], classes=("a", HOSTILE, "c")),
            feature_names=(f"{HOSTILE}\u2028", "b", "c", "d"),
        ),
    )
    assert plain.script == hostile.script
    assert plain.style == hostile.style
    assert plain.html == hostile.html
    block = str(json_block(hostile.data))
    assert not set(block) & set("<>&\u2028")
    assert json.loads(block)["classes"][1] == HOSTILE


@needs_zig
def test_every_rule_of_the_style_is_about_the_playground():
    style = made(SMALL["poly"]).style
    selectors = [line.split("{")[0] for line in style.splitlines() if "{" in line and not line.startswith("@media")]
    named = [part.strip() for selector in selectors for part in selector.split(",") if "(" not in part]
    assert named
    assert all(part.startswith("#playground") for part in named)


@needs_zig
def test_a_picture_has_as_many_pixels_as_the_model_has_features():
    with pytest.raises(OptionError, match="an image of 3x2 has 6 pixels, but the model has 5 features"):
        made(SMALL["poly"], image_shape=(3, 2))


def test_without_a_compiler_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(_wasm, "installed", lambda name: False)
    with pytest.raises(ToolError, match="WebAssembly cannot be built here: ziglang not found; install it with"):
        made(SMALL["poly"])


@needs_zig
@pytest.mark.parametrize("name", ["binary_rbf", "integer_platt"])
def test_the_module_asks_for_nothing_and_gives_the_functions_of_the_header(name, node):
    golden = INTEGER.get(name)
    export = golden.export("m") if golden else TARGETS["c"].export(SMALL[name], "m")
    told = node(
        "const m = new WebAssembly.Module(require('fs').readFileSync(0));"
        "console.log(JSON.stringify([WebAssembly.Module.imports(m), WebAssembly.Module.exports(m).map(e => e.name)]))",
        _wasm.build_module(export),
    )
    imports, exports = json.loads(told)
    assert imports == []
    functions = {"m_scores", "m_predict", "m_label", "m_selftest"}
    functions |= {"m_in_range", "m_probabilities"} if golden else set()
    assert set(exports) == functions | {"memory", "__heap_base"}


@needs_zig
def test_a_very_wide_row_fits_into_the_stack(node):
    """The self-test holds a row, and scaling another: with a small stack they would trap, not damage tables."""
    wide = model([rbf(1e-5)], 2, 17_000, (0, 1), offset=wave(17_000), scale=1.0 + wave(17_000) ** 2)
    script = (
        "const m = new WebAssembly.Instance(new WebAssembly.Module(require('fs').readFileSync(0)));"
        "console.log(m.exports.m_selftest())"
    )
    assert node(script, _wasm.build_module(TARGETS["c"].export(wide, "m"))).strip() == "0"


@pytest.fixture
def node():
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed")

    def run(script: str, given: bytes) -> str:
        told = subprocess.run([program, "-e", script], input=given, capture_output=True, check=True, timeout=60)
        return told.stdout.decode()

    return run


def test_controls_span_what_the_rows_hold():
    X = np.array([[0.0, -5.0, 2.0, np.nan], [1.0, 1005.0, 2.0, 0.5], [2.0, 3.25, 2.0, 0.75]])
    seen = controls(X, whole=False)
    assert seen.low.tolist() == [0.0, -5.0, 2.0, 0.5]
    assert seen.high.tolist() == [2.0, 1005.0, 2.0, 0.75]
    assert seen.middle.tolist() == [1.0, 3.25, 2.0, 0.625]
    assert seen.step.tolist() == [1.0, 5.0, 1.0, 0.001]
    assert not seen.shares_axis
    assert (seen.begin[2], seen.end[2]) == (1.0, 3.0)  # a constant feature can be tried as well
    assert (seen.begin[0], seen.end[0]) == (0.0, 2.0)


def test_features_of_one_scale_share_an_axis():
    seen = controls(np.array([[0.0, 3.0, 0.0], [9.0, 16.0, 0.0]]), whole=False)
    assert seen.shares_axis
    assert (set(seen.begin), set(seen.end)) == ({0.0}, {16.0})


def test_controls_of_whole_numbers_move_by_one():
    seen = controls(np.array([[0.25], [100.5], [7.3]]), whole=True)
    assert seen.step.tolist() == [1.0]
    assert seen.middle.tolist() == [7.0]


@pytest.mark.parametrize(("paper", "ink"), [(0.0, 16.0), (255.0, 0.0), (-1.0, 1.0)])
def test_a_drawing_is_like_the_pictures(paper, ink):
    images = np.full((3, 10, 8), paper)
    images[:, 2:8, 3:5] = ink  # a bar of 6 by 2
    told = drawing(images)
    assert (told["rows"], told["columns"], told["paper"], told["ink"]) == (10, 8, paper, ink)
    assert told["side"] == 6.0
    assert told["centre"] == [5.0, 4.0]
    assert told["pen"] == pytest.approx(12 / (1.7 * 6) * (0.7 * 10 / 6), abs=0.01)  # 12 pixels of ink


def test_pictures_without_any_ink_can_be_drawn_on():
    told = drawing(np.zeros((2, 4, 4)))
    assert (told["paper"], told["ink"]) == (0.0, 1.0)
    assert told["side"] == 4.0
    assert told["centre"] == [2.0, 2.0]


def test_examples_are_right_ones_of_every_class_then_wrong_ones():
    of = SMALL["rbf_projected"]
    X = rows(of, 60)
    lowered = lower(of)
    given = lowered.reference(X).labels
    y = np.where(np.arange(60) % 6 == 0, (given + 1) % 3, given)
    chosen = choose_examples(lowered, X, y)
    right = [e for e in chosen if e.label == e.given]
    assert chosen[: len(right)] == right
    assert [e.given for e in right] == sorted(e.given for e in right)
    assert {e.label for e in right} == set(given)
    assert 0 < len(chosen) - len(right) <= 8
    for example in chosen:
        at = int(np.flatnonzero((example.row == X).all(axis=1))[0])
        assert (example.given, example.label) == (given[at], y[at])


def test_examples_without_labels_and_with_foreign_ones():
    of = SMALL["rbf_projected"]
    X = rows(of, 30)
    lowered = lower(of)
    assert all(e.label is None for e in choose_examples(lowered, X, None))
    y = np.array(["0"] * 15 + ["somebody else's"] * 15)
    assert all(e.label in (None, 0) for e in choose_examples(lowered, X, y))


def test_examples_of_wide_rows_are_few():
    of = model([rbf(1e-5)], 2, 6_000, (0, 1))
    assert 2 <= len(choose_examples(lower(of), rows(of, 40), None)) <= MOST_NUMBERS // 6_000


def test_a_missing_value_is_null_in_the_data():
    found = made(EVERY["rbf_filled"]) if _wasm.missing() is None else pytest.skip("zig is not installed")
    assert any(None in example["row"] for example in found.data["examples"])
    json.dumps(found.data, allow_nan=False)
