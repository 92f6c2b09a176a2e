"""The page in headless Chromium: nothing is loaded, nothing complains, and what can be touched answers.

A console error, a violation of the page's policy or a request fails any of these tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from report.browser import Page, needs_browser, opened
from report.reports import front, held_from, rows_of, small
from report.test_page import HOSTILE, hostile_page

from sparsegen.report import report
from sparsegen.targets import TARGETS

pytest.importorskip("vl_convert")
pytestmark = needs_browser

PICK = "sparsegen search rows.csv --device cortex-m3 --pick"
DRAWN = "Boolean(document.querySelector('#front-plot[data-ready] svg'))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with opened() as page:
        yield page


@pytest.fixture(scope="module")
def content() -> bytes:
    model = small()
    rows = rows_of(model)
    held = held_from(model, rows, slice(0, 40))
    return report(held, rows, front=front(), devices=(), baselines=False, pick_command=PICK)


@pytest.fixture
def page(browser: Page, content: bytes) -> Iterator[Page]:
    browser.resize(1200, 900)
    browser.load(content)
    browser.wait_for(DRAWN)
    yield browser
    browser.problems.clear()


def centre_of(page: Page, number: int) -> tuple[float, float]:
    """Return where the window shows a point of the front."""
    place = [0, 1, 3].index(number)
    script = (
        "(place) => { const marks = [...document.querySelectorAll('#front-plot .mark-symbol.role-mark')].pop();"
        "const mark = marks.querySelectorAll('path')[place]; mark.scrollIntoView({block: 'center'});"
        "const box = mark.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }"
    )
    x, y = page.call(script, place)
    return x, y


def test_hovering_over_a_point_tells_what_it_is(page: Page) -> None:
    assert page.evaluate("document.getElementById('front-tip').hidden")
    x, y = centre_of(page, 3)
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    page.wait_for("!document.getElementById('front-tip').hidden")
    told = page.evaluate("document.getElementById('front-tip').textContent")
    assert "Point 3" in told
    assert "95.00 %" in told
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=5, y=5)
    page.wait_for("document.getElementById('front-tip').hidden")


def test_choosing_a_point_shows_its_parameters_and_the_command(page: Page) -> None:
    assert page.evaluate("document.querySelector('#front-chosen code').textContent") == f"{PICK} 1"
    page.drag([centre_of(page, 3)])
    page.wait_for(f"document.querySelector('#front-chosen code').textContent === '{PICK} 3'")
    assert "slmc" in page.evaluate("document.querySelector('#front-chosen').textContent")
    pressed = "[...document.querySelectorAll('#front-table [aria-pressed=true]')].map(b => b.textContent).join()"
    assert page.evaluate(pressed) == "3"


def test_the_table_chooses_with_the_keyboard(page: Page) -> None:
    page.evaluate("document.querySelector('#front-table [data-point=\"0\"]').focus()")
    page.press("Enter")
    page.wait_for(f"document.querySelector('#front-chosen code').textContent === '{PICK} 0'")


def test_copying_takes_all_of_a_file_with_what_is_folded(page: Page) -> None:
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: (text) => { window.got = text; }}})"
    )
    page.evaluate("document.querySelectorAll('details.file').forEach((file) => { file.open = true; })")
    page.click("button[data-copies='file-model-c']")
    page.wait_for("document.querySelector(\"button[data-copies='file-model-c']\").textContent === 'Copied'")
    model = small()
    held = held_from(model, rows_of(model), slice(0, 40))
    assert page.evaluate("window.got") == TARGETS["c"].export(held, "model").files["model.c"].decode()


@pytest.mark.parametrize(("width", "dark"), [(1200, True), (400, False), (320, True)])
def test_no_width_overflows(page: Page, content: bytes, width: int, dark: bool) -> None:
    page.resize(width, 800, dark=dark)
    page.load(content)
    page.wait_for(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_picture_and_table_has_a_name(page: Page) -> None:
    unnamed = page.evaluate(
        "[...document.querySelectorAll('main svg:not([aria-hidden]), main img, main table')].filter((e) => "
        "!(e.getAttribute('aria-label') || e.getAttribute('alt') || e.querySelector('caption') || "
        "e.closest('[aria-label]') || e.closest('#playground'))).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert unnamed == []
    levels = page.evaluate(
        "[...document.querySelectorAll('main h1, main h2, main h3')].map((h) => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_hostile_words_run_nothing(browser: Page) -> None:
    browser.load(hostile_page(HOSTILE))
    browser.wait_for(DRAWN)
    for button in ("9", "0"):
        browser.click(f"#front-table [data-point='{button}']")
    assert HOSTILE[0] in browser.evaluate("document.querySelector('#front-chosen code').textContent")
    assert browser.evaluate("window.evil === undefined")
    assert browser.evaluate("document.querySelectorAll('img:not([src^=\"data:image/png\"])').length") == 0
