"""Coloured and folded C is still the C, letter by letter."""

from __future__ import annotations

from pathlib import Path

import pytest
from report.reports import Parsed, rows_of, small

from sparsegen.report import report
from sparsegen.report.c_colours import Block, blocks, pieces
from sparsegen.report.sections import code
from sparsegen.targets import TARGETS

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = sorted([*GOLDEN.rglob("*.c"), *GOLDEN.rglob("*.h")])


def text_of(found: list[Block]) -> str:
    return "".join(piece.text for block in found for piece in (*block.head, *block.body))


def test_there_are_golden_files() -> None:
    assert len(FILES) > 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(GOLDEN)))
def test_the_blocks_together_are_the_file(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    found = blocks(source)
    assert text_of(found) == source
    if path.name == "model.c":
        heads = ["".join(piece.text for piece in block.head) for block in found if block.head]
        assert any("_predict(" in head for head in heads)


@pytest.mark.parametrize(
    "source",
    ["", "\n", "{", "}\n", "int f(void)\n{\n", "static int t[] = {\n1,\n", 'char *s = "a\\', "/* open", "a\r\nb"],
)
def test_what_is_no_c_comes_back_as_well(source: str) -> None:
    assert text_of(blocks(source)) == source


def test_pieces_are_told_apart() -> None:
    found = [(piece.kind, piece.text) for piece in pieces('#if A\nint x = 0x1Fu; /* int "1" */ f("/* no */", \'"\');')]
    kinds = [pair for pair in found if pair[0]]
    assert kinds == [
        ("directive", "#if A"),
        ("keyword", "int"),
        ("number", "0x1Fu"),
        ("comment", '/* int "1" */'),
        ("string", '"/* no */"'),
        ("string", "'\"'"),
    ]


def test_names_are_not_keywords_and_hold_no_numbers() -> None:
    assert [piece.kind for piece in pieces("int_of x2 forty _for")] == [""]


def test_long_tables_are_closed_and_functions_open() -> None:
    table = "static const float t[30] = {\n" + "    1.0f,\n" * 30 + "};\n"
    function = "int f(int x)\n{\n" + "    x += 1;\n" * 30 + "}\n"
    shut, between, shown = blocks(table + "\n" + function)
    assert (shut.is_open, shut.lines) == (False, 31)
    assert not between.head
    assert shown.is_open


@pytest.mark.parametrize("name", ["model", "gesture"])
def test_the_text_of_the_page_is_the_export(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small()
    monkeypatch.setattr("sparsegen.report.page.SECTIONS", (code.section,))
    seen = Parsed(report(model, rows_of(model), devices=(), baselines=False, name=name))
    for file, content in TARGETS["c"].export(model, name).files.items():
        if file.startswith(name):
            assert content.decode() in seen.text
