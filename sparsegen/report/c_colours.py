"""C in pieces for a page: what each is, and where it folds. The pieces together are the source, letter by letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FOLDED_LINES = 12
"""Tables of more lines are closed at first."""
TYPES = r"u?int(?:8|16|32|64)_t|size_t"
WORDS = (
    r"auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|"
    r"register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while"
)
TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)"
    rf"|(?P<keyword>\b(?:{WORDS}|{TYPES})\b)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>(?:0[xX][0-9A-Fa-f]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)[uUlLfF]*)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Piece:
    """Text of one kind: ``comment``, ``string``, ``directive``, ``keyword``, ``number``, or ``""``."""

    kind: str
    text: str


@dataclass(frozen=True)
class Block:
    """Lines that belong together: between the blocks that fold stands all else."""

    head: list[Piece]
    """The first line of a block that folds, its end of line included; empty where it does not fold."""
    body: list[Piece]
    is_open: bool
    lines: int


def blocks(source: str) -> list[Block]:
    """Return the source as blocks: each table and function folds, with the comment above it left in sight."""
    found: list[Block] = []
    plain: list[str] = []
    lines = source.splitlines(keepends=True)
    k = 0
    while k < len(lines):
        end = _end(lines, k)
        if end is None:
            plain.append(lines[k])
            k += 1
            continue
        if plain:
            found.append(Block([], pieces("".join(plain)), True, len(plain)))
            plain = []
        is_table = lines[k].rstrip().endswith("= {")
        body = lines[k + 1 : end + 1]
        coloured = [Piece("", "".join(body))] if is_table else pieces("".join(body))
        found.append(Block(pieces(lines[k]), coloured, not (is_table and len(body) > FOLDED_LINES), len(body)))
        k = end + 1
    if plain:
        found.append(Block([], pieces("".join(plain)), True, len(plain)))
    return found


def _end(lines: list[str], first: int) -> int | None:
    """Return the last line of the table or function that begins here, or ``None`` where none does."""
    line = lines[first]
    opens_below = first + 1 < len(lines) and lines[first + 1].rstrip() == "{"
    if not re.match(r"[A-Za-z_]", line) or not (line.rstrip().endswith("= {") or opens_below):
        return None
    return next((k for k in range(first + 1, len(lines)) if lines[k].startswith("}")), None)


def pieces(text: str) -> list[Piece]:
    """Return text cut into pieces by what they are."""
    return list(_pieces(text))


def _pieces(text: str) -> Iterator[Piece]:
    done = 0
    for match in TOKEN.finditer(text):
        if match.lastgroup == "name":
            continue
        if match.start() > done:
            yield Piece("", text[done : match.start()])
        yield Piece(match.lastgroup or "", match[0])
        done = match.end()
    if done < len(text):
        yield Piece("", text[done:])
