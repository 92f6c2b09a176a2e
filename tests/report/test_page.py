"""The page holds what is true, the same bytes every time, and nothing that came from data is ever more than text."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden_models import SMALL
from report.reports import Parsed, front, held_from, point, rows_of, small

from sparsegen.data import from_arrays
from sparsegen.errors import DataError, ToolError
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel
from sparsegen.report import report
from sparsegen.report.html import json_block
from sparsegen.report.page import policy
from sparsegen.search.front import Front

HOSTILE = (
    "</script><script>window.evil=1</script>",
    "\"><img src=x onerror='window.evil=1'>",
    "javascript:alert(1)//<!-- --><svg/onload=evil()>",
)
HARMLESS = ("one label", "another", "a third one")


def page_of(model: SparseModel, **options: Any) -> bytes:
    rows = rows_of(model)
    return report(held_from(model, rows, slice(0, 40)), rows, devices=(), baselines=False, **options)


@pytest.fixture(autouse=True)
def playground_without_a_compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the playground out, which takes a compilation, unless a test asks for it."""
    if "pages" not in request.fixturenames:
        monkeypatch.setattr("sparsegen.report.sections.playground.playground", no_compiler)


def no_compiler(*_: Any, **__: Any) -> None:
    raise ToolError("there is no compiler")


@pytest.mark.parametrize("name", SMALL)
def test_every_kind_of_model_has_a_page(name: str) -> None:
    seen = Parsed(page_of(SMALL[name]))
    assert sum(tag == "h1" for tag, _ in seen.elements) == 1
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {a["href"] for tag, a in seen.elements if tag == "a"}
    assert all(link is not None and link.startswith("#") and link[1:] in ids for link in links)


def test_the_same_input_gives_the_same_bytes() -> None:
    assert page_of(small(), front=front()) == page_of(small(), front=front())


def test_integers_are_what_a_device_gives() -> None:
    seen = Parsed(page_of(small(), numbers=Format("q7")))
    assert "q7: 8-bit vectors and indices" in seen.text
    assert "What is promised of the integers" in seen.text


def test_accuracy_is_that_of_held_out_rows() -> None:
    model = small()
    rows = rows_of(model)
    held = held_from(model, rows, slice(0, 40))
    right = np.count_nonzero(model.predict(rows.X[:40]) == rows.y[:40])
    assert right == 35
    text = Parsed(report(held, rows, devices=(), baselines=False)).text
    assert "87.50 % of 40 held-out rows are labelled correctly" in text


def test_rows_that_may_be_training_rows_are_no_test() -> None:
    model = small()
    text = Parsed(report(model, rows_of(model), devices=(), baselines=False)).text
    assert "not known: no row here is known to be held out" in text
    assert "None of the rows on this page is known to be held out" in text
    assert "held-out rows are labelled" not in text
    final = replace(model, card={**model.card, "final_rows": 60, "accuracy": 0.9, "test_rows": 20})
    text = Parsed(report(final, rows_of(model), devices=(), baselines=False)).text
    assert "trained at last on all 60 rows" in text
    assert "of 20 test rows, as the model's card says" in text


def test_labels_the_model_does_not_know_count_as_wrong() -> None:
    model = small()
    rows = rows_of(model)
    odd = from_arrays(rows.X, np.where(np.arange(60) % 10 == 0, "somewhere", rows.y.astype("U9")), source="odd.csv")
    text = Parsed(report(model, odd, devices=(), baselines=False)).text
    assert "6 rows with a label that the model does not know count as wrong" in text


def test_columns_are_matched_by_name() -> None:
    names = ["a", "b", "c", "d"]
    model = small(feature_names=names)
    rows = rows_of(model)
    turned = from_arrays(rows.X[:, ::-1], rows.y, names[::-1], "rows.csv")
    assert report(model, turned, devices=(), baselines=False) == report(model, rows, devices=(), baselines=False)
    with pytest.raises(DataError, match="feature"):
        report(model, from_arrays(rows.X[:, :2], rows.y, names[:2], "short.csv"))


def hostile_page(words: tuple[str, str, str]) -> bytes:
    """Return a page where these words stand wherever data may bring words."""
    a, b, c = words
    card: dict[str, Any] = {
        "method": a,
        "feature_names": [*words, f"{a}{b}"],
        "data": {"source": b, "rows": 20, a: [b, {c: a}]},
        "key of anybody": a,
        "parameters": {b: c},
        "note": [a, b, c],
    }
    model = small(words, **card)
    rows = rows_of(model, source=c)
    found: Front = front(device=a, part=b, metric=c)
    candidates = [
        point(9, 0.97, 3000, 0.1, parameters={"method": a, b: c}, dtype=b, reads=c, metric=c),
        *found.candidates,
    ]
    found = Front.of(candidates, 9, device=a, part=b, budget=found.budget, metric=c)
    return report(
        held_from(model, rows, slice(0, 40)), rows, devices=(), baselines=False, front=found, pick_command=f"search {a}"
    )


@pytest.fixture(scope="module")
def pages() -> tuple[Parsed, Parsed]:
    return Parsed(hostile_page(HOSTILE)), Parsed(hostile_page(HARMLESS))


def skeleton(seen: Parsed) -> list[tuple[str, tuple[str, ...]]]:
    """Return elements and the names of their attributes."""
    return [(tag, tuple(attributes)) for tag, attributes in seen.elements]


def test_hostile_words_make_no_element_and_no_attribute(pages: tuple[Parsed, Parsed]) -> None:
    hostile, harmless = pages
    assert skeleton(hostile) == skeleton(harmless)
    assert hostile.comments == harmless.comments


def test_hostile_words_are_seen_as_they_are(pages: tuple[Parsed, Parsed]) -> None:
    hostile, _ = pages
    for word in HOSTILE:
        assert word in hostile.text


def test_hostile_words_reach_no_address_no_script_and_no_style(pages: tuple[Parsed, Parsed]) -> None:
    hostile, harmless = pages
    for name in ("href", "src", "id", "class", "style", "data-point", "type", "content", "http-equiv"):
        values = [[a[name] for _, a in seen.elements if name in a] for seen in pages]
        if name != "src":
            assert values[0] == values[1], name
        assert all(value is None or value.startswith("data:image/png;base64,") for value in values[0] if name == "src")
    assert hostile.scripts == harmless.scripts
    assert not any(attribute.startswith("on") for _, a in hostile.elements for attribute in a)


def test_hostile_words_come_back_from_the_documents(pages: tuple[Parsed, Parsed]) -> None:
    documents = pages[0].documents()
    details = documents["front-data"]["details"]["9"]
    assert [HOSTILE[1], HOSTILE[2]] in details["parameters"]
    assert details["command"] == f"search {HOSTILE[0]} 9"
    if "playground-data" in documents:
        assert documents["playground-data"]["classes"] == list(HOSTILE)


def test_the_policy_lets_in_the_pages_own_scripts_and_nothing_else() -> None:
    seen = Parsed(page_of(small(), front=front()))
    content = next(str(a["content"]) for _, a in seen.elements if a.get("http-equiv") == "Content-Security-Policy")
    rules = {part.split()[0]: part.split()[1:] for part in content.split("; ")}
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in seen.scripts]
    assert [source for source in rules["script-src"] if source != "'wasm-unsafe-eval'"] == hashes
    assert rules["default-src"] == ["'none'"]
    assert rules["img-src"] == ["data:"]
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert not any(word in content for word in ("unsafe-inline", "unsafe-eval ", "'unsafe-eval'", "http", "*"))
    assert not any("src" in a for tag, a in seen.elements if tag == "script")
    assert not any(tag in ("link", "iframe", "object", "embed", "base", "form") for tag, _ in seen.elements)


def test_webassembly_is_let_in_only_where_it_is_needed() -> None:
    assert "wasm" in policy([], "", wasm=True)
    assert "wasm" not in policy([], "", wasm=False)


def test_json_for_a_script_has_no_character_that_html_knows() -> None:
    text = str(json_block({"a": "</script><!--&amp;\u2028\u2029'\"\\"}))
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()


def test_there_is_no_date_and_no_path() -> None:
    page = page_of(small()).decode()
    assert "/home" not in page
    assert "/tmp" not in page  # noqa: S108 - looked for, not used
