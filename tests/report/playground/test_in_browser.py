"""The playground in Chromium: it computes what Python computed, can be used, and lets nothing hostile in."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden_models import EVERY, INTEGER, SMALL, model, rbf, wave
from golden_models import rows as rows_of
from report.browser import Page, needs_browser, opened
from report.playground_page import READY, page_of

from sparsegen.devices import _wasm
from sparsegen.lowering import lower
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.program import Program
from sparsegen.lowering.score_size import TOLERANCE
from sparsegen.model import Calibration, SparseModel
from sparsegen.model.decision import DECISIONS
from sparsegen.model.task import ANOMALY
from sparsegen.report.playground import Playground, playground
from sparsegen.report.tested import given_classes
from sparsegen.verify import PROBABILITY_TOLERANCE

pytestmark = [
    needs_browser,
    pytest.mark.skipif(_wasm.missing() is not None, reason="zig is not installed"),
]

PLATT = replace(SMALL["binary_rbf"], calibration=Calibration("platt", 1.7, 0.25))
CASES: dict[str, tuple[SparseModel, Format]] = {
    "f32": (SMALL["binary_rbf"], FLOAT32),
    "f32-classes": (SMALL["laplacian_text"], FLOAT32),
    "f32-votes": (SMALL["votes"], FLOAT32),
    "f32-filled": (SMALL["rbf_filled"], FLOAT32),
    "f32-platt": (PLATT, FLOAT32),
    "f32-temperature": (SMALL["temperature"], FLOAT32),
    "f32-buffered": (SMALL["rbf_buffered"], FLOAT32),
    "q7": (SMALL["laplacian_text"], Format("q7")),
    "q15-early": (SMALL["rbf_powers"], Format("q15", early_exit=True)),
    "q7-int16": (INTEGER["integer_platt"].model, Format("q7", "raw-int16")),
    "q15-uint8": (INTEGER["integer_linear"].model, Format("q15", "raw-uint8")),
    "q7-grid": (SMALL["rbf_projected"], Format("q7", "grid")),
    "q15-grid-filled": (INTEGER["integer_filled"].model, Format("q15", "grid")),
    "q7-filled": (INTEGER["integer_filled"].model, Format("q7")),
    "q7-detector": (SMALL["detector"], Format("q7")),
    "q7-grid-detector": (SMALL["detector"], Format("q7", "grid")),
    "q7-projected": (INTEGER["integer_projected"].model, INTEGER["integer_projected"].format),
}
ROW = "Array.from(document.getElementById('playground').machine.row)"
LABEL = "document.querySelector('#playground .label').textContent"


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with opened() as page:
        yield page


@pytest.fixture
def page(browser: Page) -> Iterator[Page]:
    browser.resize(1200, 900)
    yield browser
    browser.check()
    browser.problems.clear()


def show(page: Page, made: Playground) -> None:
    page.load(page_of(made))
    page.wait_for(READY)


def compared(lowered: Lowered, X: np.ndarray, told: list[dict[str, Any]]) -> None:
    """Hold what the page told against Python: integers bit for bit, floats as closely as `verify` does."""
    reference = lowered.reference(X)
    scores = np.array([row["scores"] for row in told])
    labels = np.array([row["index"] for row in told])
    if reference.is_exact:
        assert np.array_equal(scores, reference.scores)
        assert np.array_equal(labels, given_classes(lowered, X))  # which asks a detector for its range
        program, is_detector = lowered.program, lowered.model.task == ANOMALY
        assert isinstance(program, IntegerProgram)
        within = program.covers(X) if is_detector else program.in_range(lowered.inputs(X))
        assert [row["inRange"] for row in told] == within.tolist()
    else:
        tolerance = TOLERANCE * max(1.0, float(np.abs(reference.scores).max()))
        np.testing.assert_allclose(scores, reference.scores, rtol=0, atol=tolerance)
        assert np.array_equal(labels, reference.labels)
        assert all(row["inRange"] is None for row in told)
    assert [row["label"] for row in told] == [str(lowered.model.classes[k]) for k in labels]
    if lowered.probabilities is None:
        assert all(row["probabilities"] is None for row in told)
    else:
        expected = lowered.probabilities.of(scores.astype(lowered.score_dtype)) / lowered.probabilities.one
        found = np.array([row["probabilities"] for row in told])
        tolerance = 0.0 if reference.is_exact else PROBABILITY_TOLERANCE
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("case", CASES)
def test_two_hundred_rows_are_what_python_computes(page, case):
    of, numbers = CASES[case]
    lowered = lower(of, numbers)
    X = rows_of(of, 200)
    X[::7] = 3.0 * np.nan_to_num(X[::7])  # some of them out of range, where there is one
    show(page, playground(lowered, rows_of(of)))
    predict = "rows => rows.map(row => document.getElementById('playground').machine.predict(row))"
    compared(lowered, X, page.call(predict, X.tolist()))
    assert "self-test passes here" in page.evaluate("document.querySelector('#playground .status').textContent")


def shown(lowered: Lowered, page: Page) -> None:
    """Hold the label on the page against Python's for the very row that lies in the module's memory."""
    row = np.array([page.evaluate(ROW)], dtype=lowered.input_dtype)
    program = lowered.program
    scores = program.scores(row if isinstance(program, IntegerProgram) else row.astype(np.float64))
    index = int(scores[0, 0] > 0) if scores.shape[1] == 1 else int(scores[0].argmax())
    assert page.evaluate(LABEL) == str(lowered.model.classes[index])


@pytest.mark.parametrize("numbers", [FLOAT32, Format("q7")], ids=["f32", "q7"])
def test_sliders_move_by_keys_and_numbers_are_typed(page, numbers):
    of = SMALL["laplacian_text"]
    lowered = lower(of, numbers)
    show(page, playground(lowered, rows_of(of), feature_names=("length", "width", "height", "mass")))
    page.evaluate("document.querySelector('#playground input[type=range]').focus()")
    before = page.evaluate(ROW)
    page.press("End")
    high = page.evaluate(ROW)
    assert high[0] > before[0]
    assert high[1:] == before[1:]
    shown(lowered, page)
    page.press("ArrowLeft", "ArrowLeft")
    assert page.evaluate(ROW)[0] < high[0]
    page.evaluate("document.querySelector('#playground-feature-2').select()")
    page.press("-", "7")
    assert page.evaluate(ROW)[2] == -7.0
    shown(lowered, page)
    assert "beyond every row" in page.evaluate("document.querySelector('#playground .results').textContent")
    is_out = page.evaluate("Boolean(document.querySelector('#playground .is-out'))")
    assert is_out == (numbers != FLOAT32)


def test_scores_beyond_all_measure_leave_the_page_whole(page):
    of = SMALL["laplacian_text"]
    show(page, playground(lower(of), rows_of(of)))
    widths = "Array.from(document.querySelectorAll('#playground .track > div'), e => e.style.width)"
    before = page.evaluate(widths)
    for text in ("3e38", "-1e400"):
        page.evaluate("document.querySelector('#playground-feature-0').select()")
        page.press(*text)
        assert all(0.0 <= float(width.removesuffix("%")) <= 100.0 for width in page.evaluate(widths))
    page.evaluate("document.querySelector('#playground .examples button').click()")
    assert page.evaluate(widths) == before


def test_an_example_is_one_click_away_and_wrong_ones_are_told(page):
    of = SMALL["rbf_projected"]
    X = rows_of(of, 60)
    lowered = lower(of)
    given = lowered.reference(X).labels
    y = np.where(np.arange(60) % 20 == 0, (given + 1) % 3, given)
    made = playground(lowered, X, y)
    show(page, made)
    names = page.evaluate(
        "Array.from(document.querySelectorAll('#playground .examples button'), b => b.getAttribute('aria-label'))"
    )
    assert any("taken for" in name for name in names)
    assert len(names) == len(made.data["examples"])
    for i in (len(names) - 1, 0):
        page.evaluate(f"document.querySelectorAll('#playground .examples button')[{i}].click()")
        example = made.data["examples"][i]
        assert page.evaluate(ROW) == pytest.approx(example["row"], abs=1e-6)
        assert page.evaluate(LABEL) == str(of.classes[example["given"]])
        pressed = "Array.from(document.querySelectorAll('#playground .examples [aria-pressed=true]')).length"
        assert page.evaluate(pressed) == 1


def test_a_profile_is_drawn_with_the_mouse_and_with_keys(page):
    of = SMALL["rbf_projected"]
    lowered = lower(of, Format("q7"))
    show(page, playground(lowered, rows_of(of)))
    before = np.array(page.evaluate(ROW))
    box = page.box("#playground canvas.profile")
    at = [(box["x"] + share * box["width"], box["y"] + 20) for share in (0.3, 0.7)]
    page.drag(at)  # a fast stroke: everything between both ends follows
    after = np.array(page.evaluate(ROW))
    changed = np.flatnonzero(after != before)
    assert changed.min() in range(4, 8)
    assert changed.max() in range(12, 16)
    assert (after[8:12] > before.max() - 0.5).all()
    shown(lowered, page)
    page.press("Home", "ArrowRight", "ArrowDown")
    moved = np.array(page.evaluate(ROW))
    assert np.flatnonzero(moved != after).tolist() == [1]
    assert moved[1] < after[1]
    assert "x[1]" in page.evaluate("document.querySelector('canvas.profile').getAttribute('aria-valuetext')")
    shown(lowered, page)


def test_a_profile_follows_the_width_of_the_window(page):
    of = SMALL["rbf_projected"]
    show(page, playground(lower(of), rows_of(of)))
    wide = page.box("#playground canvas.profile")["width"]
    page.resize(420, 900)
    page.wait_for(f"document.querySelector('canvas.profile').getBoundingClientRect().width < {wide / 1.3}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def pictures() -> tuple[SparseModel, np.ndarray]:
    """Return a model of 8 x 8 pictures from 0 to 16, and pictures: bars that stand and bars that lie."""
    bars = np.zeros((8, 8, 8))
    for i in range(4):
        bars[i, 1:7, 2 + i] = 16.0
        bars[4 + i, 2 + i, 1:7] = 16.0
    X = bars.reshape(8, 64)
    lying = np.repeat([-1.0, 1.0], 4)
    coef = lying[None, None, :]
    of = model([rbf(1.0 / 2000)], 8, 64, ("stands", "lies"))
    return replace(of, vectors=X, coef=coef, intercept=np.zeros(1)), X


def test_a_picture_is_drawn_where_the_rows_are(page):
    of, X = pictures()
    lowered = lower(of)
    show(page, playground(lowered, X, image_shape=(8, 8)))
    clear = "Array.from(document.querySelectorAll('.tools button')).find(b => b.textContent == 'Clear')"
    page.evaluate(f"{clear}.click()")
    assert set(page.evaluate(ROW)) == {0.0}
    box = page.box("#playground canvas.drawing")

    def draw(*places):
        page.drag([(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places])

    draw((0.1, 0.1), (0.1, 0.4))  # a short one in a corner is made as large as those of the rows, and moved
    row = np.array(page.evaluate(ROW)).reshape(8, 8)
    assert page.evaluate(LABEL) == "stands"
    shown(lowered, page)
    assert 0.0 <= row.min() < row.max() <= 16.0
    assert np.flatnonzero(row.max(axis=1) > 4.0).size in (6, 7, 8)
    column = (row.sum(axis=0) @ (np.arange(8) + 0.5)) / row.sum()
    assert abs(column - 4.0) < 1.0
    page.evaluate(f"{clear}.click()")
    page.evaluate("document.querySelector('#playground-fit').click()")
    draw((0.2, 0.69), (0.8, 0.69))  # as it is drawn, below the middle
    row = np.array(page.evaluate(ROW)).reshape(8, 8)
    assert page.evaluate(LABEL) == "lies"
    assert row[:4].max() == 0.0
    assert row[5].max() > 8.0
    page.evaluate("Array.from(document.querySelectorAll('.tools button')).find(b => b.textContent == 'Undo').click()")
    assert set(page.evaluate(ROW)) == {0.0}


def test_a_picture_is_drawn_with_keys_alone(page):
    of, X = pictures()
    lowered = lower(of, Format("q7"))
    show(page, playground(lowered, X, image_shape=(8, 8)))
    page.evaluate("document.querySelector('canvas.drawing').focus()")
    first = np.array(page.evaluate(ROW))
    page.press(*["ArrowUp"] * 9, *["ArrowLeft"] * 9, " ")
    assert page.evaluate(ROW)[0] == 16.0  # a row that was given stays where it is, and is drawn on
    assert np.flatnonzero(np.array(page.evaluate(ROW)) != first).tolist() == [0]
    page.press("Delete")
    assert page.evaluate(ROW) == first.tolist()
    assert "row 1, column 1: 0" in page.evaluate("document.querySelector('#playground .unseen').textContent")
    shown(lowered, page)


@pytest.mark.parametrize("mode", ["sliders", "profile", "image"])
def test_everything_that_can_be_used_has_a_name(page, mode):
    of, X = pictures()
    if mode == "sliders":
        of = SMALL["laplacian_text"]
        X = rows_of(of)
    show(page, playground(lower(of), X, image_shape=(8, 8) if mode == "image" else None))
    page.command("Accessibility.enable")
    nodes = page.command("Accessibility.getFullAXTree")["nodes"]
    used = {"button", "slider", "spinbutton", "checkbox", "application", "textbox", "Canvas"}
    roles = [
        (node["role"]["value"], node.get("name", {}).get("value"))
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in used
    ]
    assert len(roles) > 5
    assert all(name for _, name in roles), roles


HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"


@pytest.mark.parametrize("mode", ["sliders", "profile", "image"])
def test_hostile_labels_and_names_stay_text(page, mode):
    d = 16 if mode == "image" else 4 if mode == "sliders" else 20
    of = model([rbf()], 4, d, (HOSTILE, "{{7*7}}", "<!--<script>"))
    X = wave(30, d)
    names = tuple(f"{HOSTILE}{j}\u2028`${{document.title='broken'}}" for j in range(d))
    y = np.array([of.classes[i % 3] for i in range(30)])
    lowered = lower(of)
    show(page, playground(lowered, X, y, feature_names=names, image_shape=(4, 4) if mode == "image" else None))
    for i in range(len(page.evaluate("Array.from(document.querySelectorAll('#playground .examples button'))"))):
        page.evaluate(f"document.querySelectorAll('#playground .examples button')[{i}].click()")
    assert page.evaluate("document.title") == "Playground"
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 2
    assert HOSTILE in page.evaluate("document.querySelector('#playground').textContent")


def test_many_classes_show_the_first(page):
    of = model([rbf()], 6, 3, tuple(range(26)))
    lowered = lower(of)
    show(page, playground(lowered, rows_of(of)))
    names = page.evaluate("Array.from(document.querySelectorAll('#playground .bars .name'), e => e.textContent)")
    assert len(names) == 12
    assert names[0] == page.evaluate(LABEL)


@pytest.mark.skipif("value" not in DECISIONS, reason="models give no values")
@pytest.mark.parametrize("numbers", [FLOAT32, Format("q15")], ids=["f32", "q15"])
def test_a_regression_shows_its_value(page, numbers):
    of = SMALL["binary_rbf"]
    of = replace(of, classes=(), task="regression", decision="value", card={"method": "by hand"})
    lowered, X = lower(of, numbers), rows_of(of, 200)
    y = of.scores(X)[:, 0] + np.where(np.arange(200) % 40 == 0, 1.0, 0.0)
    made = playground(lowered, X, y)
    show(page, made)
    told = page.call("rows => rows.map(row => document.getElementById('playground').machine.predict(row))", X.tolist())
    reference = lowered.reference(X)
    scores = np.array([row["scores"] for row in told])
    largest = 0.0 if reference.is_exact else TOLERANCE * max(1.0, float(np.abs(reference.scores).max()))
    np.testing.assert_allclose(scores, reference.scores, rtol=0, atol=largest)
    shown_values = np.array([float(row["label"]) for row in told])
    np.testing.assert_allclose(shown_values, reference.scores[:, 0] * reference.unit, rtol=1e-3, atol=1e-4)
    assert [row["index"] for row in told] == [None] * 200
    wrong = [example for example in made.data["examples"] if example["isWrong"]]
    assert sum(abs(example["label"] - example["given"]) > 0.9 for example in wrong) == 5
    assert "self-test passes here" in page.evaluate("document.querySelector('#playground .status').textContent")


def test_a_module_that_does_not_load_is_a_sentence(page):
    made = playground(lower(SMALL["binary_rbf"]), rows_of(SMALL["binary_rbf"]))
    page.load(page_of(made, {**made.data, "wasm": made.data["wasm"][:200]}))
    told = page.wait_for("document.querySelector('#playground .status')?.textContent")
    assert told.startswith("The playground cannot run in this browser: ")


def test_a_failing_selftest_is_told(page):
    """Damage to a table of the module, which still loads: the sum of its bytes gives it away."""
    lowered = lower(EVERY["long_rows"])
    made = playground(lowered, rows_of(EVERY["long_rows"]))
    module = bytearray(made.wasm)
    assert isinstance(lowered.program, Program)
    table = lowered.program.parts[0].vectors.astype("<f4").tobytes()[8:16]
    at = bytes(module).index(table)
    module[at] ^= 1
    page.load(page_of(made, {**made.data, "wasm": base64.b64encode(module).decode()}))
    page.wait_for(READY)
    assert "self-test FAILS here (-1)" in page.evaluate("document.querySelector('#playground .status').textContent")
