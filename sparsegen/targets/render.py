"""Jinja templates, and the filters that put numbers and untrusted text into C safely."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sparsegen.errors import OptionError
from sparsegen.lowering.program import float32

LINE_WIDTH = 112
MAX_NAME = 40
INT_MAX = 32767  # of the narrowest int that C allows, which AVR and MSP430 have


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    "alignas alignof and asm auto bool break case catch char class compl concept const constexpr continue decltype "
    "default delete do double else enum explicit export extern false float for friend goto if inline int long main "
    "mutable namespace new noexcept not nullptr operator or private protected public register requires restrict "
    "return short signed sizeof static struct switch template this throw true try typedef typeid typename union "
    "unsigned using virtual void volatile while xor"
)
# A file of this name would hide a header of the C library or the export's own example, or is the name of a device on
# Windows, where no file can have it.
FILE_NAMES = _words(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg "
    "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype "
    "alloca endian features malloc memory pthread sched strings unistd arduino "
    "example_main sparsegen_harness aux con nul prn"
)


def render(template: str, **values: Any) -> bytes:
    """Return a rendered template as UTF-8."""
    return _environment().get_template(template).render(**values).encode()


@cache
def _environment() -> Environment:
    environment = Environment(  # noqa: S701 - C, not HTML: c_string and c_comment do the escaping
        loader=FileSystemLoader(template_folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["names_parts"] = False  # only who measures the parts of the code asks for their names
    environment.filters |= {
        "c_int": c_int,
        "c_bits": c_bits,
        "c_real": c_real,
        "c_array": c_array,
        "c_struct": c_struct,
        "c_string": c_string,
        "c_comment": c_comment,
        "lines": _lines,
    }
    return environment


def _lines(text: str) -> str:
    """Return what a macro printed, without its last newline: the line of the template that calls it has one."""
    return text.removesuffix("\n")


def template_folder() -> Path:
    """Return where the templates are: inside an installed wheel, or at the top of a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_templates"
    return installed if installed.is_dir() else package.parent / "templates"


def check_name(name: str) -> str:
    """Return ``name``, or raise if it cannot be the prefix of C symbols and the stem of file names."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, re.ASCII) or len(name) > MAX_NAME or "__" in f"{name}_":
        raise OptionError(
            f"name {name[:60]!r} cannot prefix C symbols; use a letter, then letters, digits and single underscores "
            f"between them, at most {MAX_NAME} characters"
        )
    if name in KEYWORDS:
        raise OptionError(f"name {name!r} is a reserved word of C or C++; choose another")
    if name.lower() in FILE_NAMES or re.fullmatch(r"(com|lpt)[0-9]", name.lower()):
        raise OptionError(f"name {name!r} would give the export's files the name of a system file; choose another")
    return name


def c_real(value: float) -> str:
    """Return the shortest float constant that reads back as the same float32."""
    number = float32(np.array(value))[()]
    text = str(number)
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def c_bits(value: float) -> str:
    """Return the bits of a float32 as an unsigned constant: those of positive numbers are in the numbers' order."""
    return f"0x{float32(np.array(value)).view(np.uint32)[()]:08X}u"


def c_int(value: int) -> str:
    """Return an integer constant that also suits a 16-bit int; -2^31, which C cannot write like this, never occurs."""
    return f"{value}" if abs(value) <= INT_MAX else f"{value}L"


def c_array(values: Iterable[Any], indent: int = 0) -> str:
    """Return a braced list of constants, several to a line: integers as they are, all else as float."""
    pad = " " * indent
    items = [str(v) if isinstance(v, int | np.integer) else c_real(v) for v in np.ravel(list(values)).tolist()]
    one_line = "{" + ", ".join(items) + "}"
    if len(one_line) <= LINE_WIDTH // 2:
        return one_line
    lines, line = [], f"{pad}   "
    for item in items:
        if len(line) + len(item) + 2 > LINE_WIDTH:
            lines.append(line)
            line = f"{pad}   "
        line += f" {item},"
    return "{\n" + "\n".join([*lines, line]) + f"\n{pad}}}"


def c_struct(members: Iterable[Any]) -> str:
    """Return a braced list of the members of a struct: numbers, and arrays of them."""
    texts = [str(int(m)) + "u" if np.ndim(m) == 0 else c_array(m, 4) for m in members]
    return "{" + ", ".join(texts) + "}"


def c_string(text: str) -> str:
    """Return a C string literal; whatever is not plain ASCII, and ``?`` (trigraphs), becomes an octal escape."""
    plain = set(range(0x20, 0x7F)) - {ord(c) for c in '"\\?'}
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in str(text).encode()) + '"'


def c_comment(text: object) -> str:
    """Return text that cannot end a comment, start one, or continue a line."""
    shown = "".join(c if 0x20 <= ord(c) < 0x7F and c != "\\" else "?" for c in str(text))
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
