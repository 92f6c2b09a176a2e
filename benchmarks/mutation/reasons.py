"""``survivors.md``: mutants that no test can kill, each with the reason.

A heading names the file and function, an item the change as a code span ``before -> after``; the reason follows it.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.mutation.mutants import Mutant

SURVIVORS = Path(__file__).with_name("survivors.md")
HEADING = re.compile(r"## `(?P<path>[^`]+)`(?: `(?P<where>[^`]+)`)?")
ITEM = re.compile(r"- ``(?P<before>.+?)`` -> ``(?P<after>.+?)``: (?P<reason>.+)")


def read(text: str) -> dict[tuple[str, str, str, str], str]:
    """Return the reason of every mutant that is listed, by its key."""
    reasons: dict[tuple[str, str, str, str], str] = {}
    path = where = ""
    for number, line in enumerate(text.splitlines(), 1):
        if heading := HEADING.fullmatch(line):
            path, where = heading["path"], heading["where"] or ""
        elif item := ITEM.fullmatch(line):
            reasons[path, where, item["before"], item["after"]] = item["reason"]
        elif line.startswith(("## ", "- ")):
            raise ValueError(f"line {number} of the survivors is neither a heading nor an item: {line}")
    return reasons


def write(mutant: Mutant, reason: str) -> str:
    """Return a mutant as :func:`read` reads it, without its heading."""
    return f"- ``{mutant.original}`` -> ``{mutant.mutated}``: {reason}"


def heading(mutant: Mutant) -> str:
    """Return the heading that its item stands under."""
    return f"## `{mutant.path}`" + (f" `{mutant.where}`" if mutant.where else "")
