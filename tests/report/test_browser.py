"""The browser that tests look through notices what a page must not do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from report.browser import Page, PageError, needs_browser, opened

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with opened() as page:
        yield page


@pytest.fixture
def page(browser: Page) -> Iterator[Page]:
    yield browser
    browser.problems.clear()


def test_a_page_is_asked_and_drawn(page: Page, tmp_path: Path) -> None:
    page.load("<p id=a>Hello</p>")
    assert page.evaluate("document.querySelector('#a').textContent") == "Hello"
    assert page.call("(a, b) => a + b", 2, 3) == 5
    assert page.evaluate("new Promise(done => setTimeout(() => done(7), 1))") == 7
    assert page.screenshot(tmp_path / "a.png", "#a").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ("<script>throw new Error('broken')</script>", "exception: Error: broken"),
        ("<script>console.error('bad', 3)</script>", "console error: bad 3"),
        ("<img src='https://example.invalid/a.png'>", "request for https://example.invalid/a.png"),
        ("<img src='other.png'>", "request for file:///"),
        ("<script>fetch('https://example.invalid/b').catch(() => 0)</script>", "request for https://example.invalid/b"),
        (
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"><script>1</script>",
            "Content Security Policy",
        ),
    ],
)
def test_what_a_page_must_not_do_is_raised(page: Page, html: str, problem: str) -> None:
    with pytest.raises(PageError) as raised:
        page.load(html)
        page.wait_for("false", seconds=0.5)
    assert problem in str(raised.value)


def test_a_failing_script_is_an_error(page: Page) -> None:
    page.load("<p>")
    with pytest.raises(PageError, match="nothing is not defined"):
        page.evaluate("nothing()")


def test_keys_and_mouse_reach_the_page(page: Page) -> None:
    page.load("<button onclick='this.textContent += 1'>a</button>")
    page.click("button")
    page.press("Tab", "Shift")
    page.evaluate("document.querySelector('button').focus()")
    page.press("Enter")
    assert page.evaluate("document.querySelector('button').textContent") == "a11"
