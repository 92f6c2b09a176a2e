"""What reaches the terminal: no character that it would obey, and one sentence where nothing can be written."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Run
from golden_models import SMALL

from sparsegen import cli
from sparsegen.cli.console import visible

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202egnp.exe \u2066 \u200b \r\n over \x00 \ud800"
OBEYED = {c for c in HOSTILE if not c.isprintable()}
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def sparsegen(command: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a shell, for its redirections."""
    line = f"{sys.executable} -m sparsegen {command}"
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False, timeout=120)


def test_text_is_shown_with_escapes_in_place_of_what_a_terminal_obeys() -> None:
    assert visible("grün 日本 x[0]") == "grün 日本 x[0]"
    assert visible(HOSTILE).isprintable() and visible("\x1b[0m\n\u202e") == r"\x1b[0m\n\u202e"


@pytest.fixture
def hostile_model(tmp_path: Path) -> Path:
    path = tmp_path / "hostile \x1b[31m\n.safetensors"
    n = SMALL["binary_rbf"].n_features
    card = {
        "method": HOSTILE,
        HOSTILE: [HOSTILE],
        "feature_names": [f"{HOSTILE}{i}" for i in range(n)],
        "note": HOSTILE,
    }
    replace(SMALL["binary_rbf"], card=card).save(path)
    return path


def test_nothing_in_a_card_or_a_path_is_obeyed(run: Run, tmp_path: Path, hostile_model: Path) -> None:
    data = tmp_path / "data\x1b[2J.csv"
    data.write_text(f"a,b,{HOSTILE.replace(chr(10), '').encode(errors='replace').decode()}\n1,2,3\n", errors="replace")
    folder = tmp_path / "out\x1b[1m"
    for arguments in (
        ("inspect", hostile_model),
        ("inspect", hostile_model, "--json"),
        ("export", hostile_model, "-o", folder),
        ("export", hostile_model, "-o", folder, "--json"),
        ("predict", hostile_model, data),
        ("verify", hostile_model, data, "--device", "host"),
        ("bench", hostile_model, "--device", HOSTILE.replace("\0", "").replace("\ud800", "")),
        ("train", data, "-o", folder / "m"),
        ("train", tmp_path / "missing\x1b[0m.csv"),
        ("inspect", tmp_path / "missing\x1b[0m"),
    ):
        ended = run(*arguments)
        assert not OBEYED - {"\n"} & set(ended.out + ended.err), arguments
        assert "Traceback" not in ended.err
        assert ended.code == 0 or ended.err.count("\n") == 1, ended.err


def test_json_says_what_the_card_says(run: Run, hostile_model: Path) -> None:
    ended = run("inspect", hostile_model, "--json")
    assert json.loads(ended.out)["note"] == HOSTILE


def test_commands_print_through_the_console_only() -> None:
    for path in Path(cli.__file__).parent.glob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        named = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
        assert "print" not in named or path.name == "console.py", path.name


@needs_full
@pytest.mark.parametrize("command", ["list kernels", "list kernels --json", "--version"])
def test_output_that_cannot_be_written_is_one_sentence(command: str) -> None:
    ended = sparsegen(f"{command} > {FULL}")
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("error: the output could not be written (No space left on device)")


@needs_full
def test_errors_that_cannot_be_written_are_still_an_exit_code() -> None:
    assert sparsegen(f"list nothing > {FULL} 2> {FULL}").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="no such redirections")
def test_closed_streams_are_no_traceback() -> None:
    assert sparsegen("list kernels >&-").returncode == 0
    ended = sparsegen("list nothing 2>&-")
    assert (ended.returncode, ended.stdout) == (2, "")
