"""A model for people: short, complete, and whatever strangers wrote stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from golden_models import CARD, EVERY, SMALL, model, rbf

from sparsegen.model.describe import describe
from sparsegen.model.inspection import TOLD_IN_WORDS, Inspection

EVIL = ("<script>alert(1)</script>", 'a" onclick="x', "&lt;b&gt;", "</td></table>", "'")
NAMES = ["<img src=x>", "\x1b[2J", "right\u202eleft"]


@pytest.mark.parametrize("of", EVERY.values(), ids=EVERY)
def test_a_model_is_one_line_that_says_what_it_is(of):
    text = repr(of)
    assert text.startswith("<SparseModel ") and "\n" not in text and len(text) < 400
    gives = f"{len(of.classes)} classes" if of.has_classes else "one value"
    assert f"{of.n_vectors} vectors, {of.n_features} features, {gives}" in text
    assert all(kernel.name in text for kernel in of.kernels)


def test_the_line_says_how_accurate_the_model_is_and_on_what():
    assert repr(SMALL["binary_rbf"]).endswith("; accuracy 96.25 % on 80 test rows>")
    assert repr(model([rbf()], 2, 3, (0, 1), card={"accuracy": 0.99999})).endswith("; accuracy 99.99 %>")
    assert "accuracy" not in repr(SMALL["poly"])


def test_many_classes_and_long_texts_are_cut():
    of = model([rbf()], 2, 3, tuple(f"{i:x}" * 60 for i in range(30)), card={"method": "m" * 5000})
    assert len(repr(of)) < 700
    assert repr(of).count("'") == 12 and "30 classes" in repr(of)


def test_inspection_holds_everything_and_prints_lines():
    of = replace(SMALL["binary_rbf"], card={**CARD, "ranges": {"low": [0.0] * 3, "high": [1.0] * 3}})
    found = of.inspect()
    assert dict(found) == describe(of)
    lines = repr(found).splitlines()
    assert len(lines) == len({*found} - TOLD_IN_WORDS) + 1
    assert lines[0] == "accuracy: 96.25 % of 80 rows (95 % interval 89.54 to 98.72 % if rows are independent)"
    assert "vectors: 4" in lines and "classes: 0, 1" in lines
    per_class = [{"class": "a", "recall": 0.5}, {"class": "b", "recall": None}]
    assert repr(Inspection(accuracy=0.5, per_class=per_class)) == "accuracy: 50.00 %\nrecall: a 50.00 %"
    assert Inspection(long=list(range(1000)))["long"][-1] == 999
    assert len(repr(Inspection(long=list(range(1000))))) < 200


class Checker(HTMLParser):
    """Collects the tags, attributes and text of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[object] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def test_hostile_text_is_only_text_in_a_notebook_and_on_a_terminal():
    card = {"method": EVIL[0], "feature_names": NAMES, EVIL[1]: {EVIL[3]: EVIL[0]}, "<b>": "\x07\n</details>"}
    of = model([rbf()], 3, 3, EVIL, card=card)
    for page in (of._repr_html_(), of.inspect()._repr_html_()):
        checker = Checker()
        checker.feed(page)
        checker.close()
        assert set(checker.tags) <= {"div", "b", "table", "tr", "th", "td", "details", "summary"}
        assert not checker.attributes
        assert page.count("<") == 2 * len(checker.tags)
        text = "".join(checker.text)
        assert ", ".join(EVIL)[:60] in text and EVIL[0] in text and "<img src=x>" in text
    for text in (repr(of), repr(of.inspect()), of._repr_html_()):
        assert all(line.isprintable() for line in text.split("\n"))
        assert not re.search("[\x1b\x07\u202e]", text)


def test_the_card_shows_first_what_a_person_asks():
    page = SMALL["binary_rbf"]._repr_html_()
    first, rest = page.split("<details>")
    for question in ("method", "vectors", "features", "classes", "accuracy"):
        assert f"<th>{question}</th>" in first
    assert "<th>sha256</th>" in rest
