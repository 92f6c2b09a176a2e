"""Flags are named on the command line only; the library's errors say what to change, and the command line how."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

import sparsegen
from sparsegen.cli.app import app
from sparsegen.cli.flags import FLAGS, sentence
from sparsegen.errors import FitError, OptionError, SparsegenError

PACKAGE = Path(sparsegen.__file__).parent
LIBRARY = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "cli")
OTHER_TOOLS = {"cc", "cmake", "pio", "arduino-cli"}


@cache
def flags() -> set[str]:
    """Return every flag of every command."""
    commands = getattr(get_command(app), "commands").values()  # noqa: B009 - a group, which typer does not type
    return {flag for command in commands for option in command.params for flag in option.opts if flag.startswith("-")}


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the strings of a module, f-strings whole; the command lines of other tools have flags of their own."""
    if isinstance(node, ast.JoinedStr):
        whole = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        whole = node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)
        return
    words = whole.split()
    if len(words) > 1 and words[0] not in OTHER_TOOLS:
        yield whole


def test_the_flags_of_errors_exist() -> None:
    assert set(FLAGS.values()) <= flags()


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_library_names_no_flag(path: Path) -> None:
    sentences = " ".join(texts(ast.parse(path.read_text())))
    assert not set(re.findall(r"(?<![\w-])--?[A-Za-z-]+", sentences)) & flags()


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_errors_ask_to_change_has_a_flag(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg == "change" and isinstance(node.value, ast.Dict):
            assert {key.value for key in node.value.keys if isinstance(key, ast.Constant)} <= set(FLAGS)


def test_a_sentence_ends_with_the_flags_that_help() -> None:
    assert sentence(SparsegenError("it is\n  wrong")) == "it is wrong"
    assert sentence(OptionError("no integers", change={"dtype": "f32"})) == "no integers (--dtype f32)"
    assert sentence(FitError("too large", 12, change={"dtype": "q7", "output": ""})) == "too large (--dtype q7, -o)"
    assert sentence(OptionError("odd", change={"unheard_of": "1"})) == "odd"
