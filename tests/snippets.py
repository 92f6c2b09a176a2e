"""The snippets of a document, and what runs them as a reader would: in order, in one folder.

A fence says what a snippet is:

- ``console``: lines that begin with ``$ `` are commands; the lines below one are what it prints, ``...`` for any number
  of lines.
- ``console needs avr-gcc simavr``: the same, where these programs are installed.
- ``python``: run in one namespace per document; a ``text`` snippet right below is what it prints.
- ``python norun``: shown only.
- ``c``, ``python``, ``csv`` whose first line is a comment with a file's name alone (``/* main.c */``,
  ``# windows.py``): written to that file.

Printed numbers may differ by a few per cent from those in the document: training differs a little between computers.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import Ended

TOLERANCE = 0.05
FILE_NAME = re.compile(r"(?:/\*|#)\s*([\w-]+\.\w+)\s*(?:\*/)?")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
PROGRAMS = {
    "python": [sys.executable],
    "cc": [sys.executable, "-m", "ziglang", "cc"],  # comes with the extra `test`, wherever there is no compiler
}


@dataclass(frozen=True)
class Snippet:
    """A fenced block."""

    language: str
    text: str
    line: int
    needs: tuple[str, ...] = ()
    """Programs without which it is not run."""


def snippets(text: str) -> list[Snippet]:
    """Return the fenced blocks of a document."""
    found = []
    for match in re.finditer(r"^```(\w*)([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        word, *programs = match[2].split() or [""]
        if match[1] and word not in ("", "needs", "norun"):
            raise AssertionError(f"a snippet is {match[1]} {match[2].strip()!r}, which says nothing to the tests")
        if word != "norun":
            found.append(Snippet(match[1], match[3], text.count("\n", 0, match.start()) + 1, tuple(programs)))
    return found


class Reader:
    """Somebody who types the snippets of one document, in a folder of their own."""

    def __init__(self, folder: Path, sparsegen: Callable[..., Ended]) -> None:
        self.folder, self._sparsegen = folder, sparsegen
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""

    def follow(self, text: str) -> None:
        """Run every snippet, and compare what it prints with what the document says."""
        for snippet in snippets(text):
            if not all(map(shutil.which, snippet.needs)):
                continue
            if snippet.language == "console":
                for command, expected in commands(snippet.text):
                    compare(expected, self._run(command), f"line {snippet.line}: {command}")
            elif (name := FILE_NAME.fullmatch(snippet.text.partition("\n")[0])) is not None:
                (self.folder / name[1]).write_text(snippet.text, encoding="utf-8")
            elif snippet.language == "python":
                self._printed = self._execute(snippet)
            elif snippet.language == "text" and self._printed:
                compare(snippet.text.splitlines(), self._printed, f"line {snippet.line}")

    def _run(self, command: str) -> str:
        """Return what a command prints; it must succeed."""
        program, *arguments = shlex.split(command)
        if program == "sparsegen":
            ended = self._sparsegen(*arguments)
            assert ended.code == 0, f"{command}\n{ended.out}{ended.err}"
            return ended.out + ended.err
        known = PROGRAMS.get(program, [str(self.folder / program)] if program.startswith("./") else None)
        assert known is not None, f"no snippet may run {program!r}"
        done = subprocess.run([*known, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def _execute(self, snippet: Snippet) -> str:
        printed = io.StringIO()
        code = compile("\n" * snippet.line + snippet.text, "<document>", "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, self._names)  # noqa: S102 - the project's own documents
        return printed.getvalue()


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console, and the lines below it."""
    command, expected = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, expected
            command, expected = line[2:], []
        else:
            expected.append(line)
    if command:
        yield command, expected


def compare(expected: list[str], printed: str, where: str) -> None:
    """Raise an AssertionError unless the expected lines are what was printed, but for ``...`` and small differences."""
    lines = [" ".join(line.split()) for line in printed.splitlines() if line.strip()]
    wanted = [" ".join(line.split()) for line in expected if line.strip()]
    at, skips = 0, False
    for want in wanted:
        if want == "...":
            skips = True
            continue
        last = len(lines) if skips else min(at + 1, len(lines))
        place = next((i for i in range(at, last) if alike(want, lines[i])), None)
        assert place is not None, f"{where}\nexpected: {want}\nprinted:\n{printed}"
        at, skips = place + 1, False
    assert skips or not wanted or at == len(lines), f"{where}\nmore was printed:\n{printed}"


def alike(want: str, line: str) -> bool:
    """Return whether two lines are the same but for numbers that nearly agree."""
    if NUMBER.sub("#", want) != NUMBER.sub("#", line):
        return False
    pairs = zip(NUMBER.findall(want), NUMBER.findall(line), strict=True)
    values = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) for a, b in values)
