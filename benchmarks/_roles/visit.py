"""One person's hour: what was asked, what they got to see, and whether that is what it should be."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from sparsegen import cli
from sparsegen.errors import SparsegenError

OK, FAILED, SKIPPED, REFUSED, LACKING = "ok", "FAILED", "skipped", "not built: refused", "not built"
WIDTH = 150
"""Of what is shown, in characters."""


class Ended(NamedTuple):
    """How a command ended: exit code, standard output, and what follows it on standard error."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that was printed, as one line without the frames of tables."""
        return " ".join(re.sub("[\u2500-\u257f]+", " ", self.out + self.err).split())


@dataclass(frozen=True)
class Seen:
    """A row of the table."""

    role: str
    asked: str
    told: str
    ended: str


class Skip(Exception):  # noqa: N818 - no error
    """What is needed is not here."""


class Visit:
    """A person at work in a folder; every wish becomes a row."""

    def __init__(self, role: str, folder: Path, seed: int) -> None:
        self.role, self.folder, self.seed = role, folder, seed
        self._seen: list[Seen] = []

    def of(self, hour: Callable[[Visit], None]) -> list[Seen]:
        """Return what the person saw; an exception that nobody expected is a row of its own."""
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with self.wish("to get through the hour without a traceback"):
                hour(self)
        finally:
            os.chdir(before)
        return self._seen

    def command(self, *arguments: object) -> Ended:
        """Run ``sparsegen`` with these arguments as a user would, through its main()."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        with (
            patch.object(sys, "argv", ["sparsegen", *map(str, arguments)]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                cli.main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Ended(code, out.getvalue(), err.getvalue())

    def types(self, asked: str, command: str, says: str, *more: str, code: int = 0) -> Ended:
        """Run a command, a word per space; its row shows what matches ``says``, and it must print ``more`` as well.

        All of them are regular expressions over what was printed, as one line.
        """
        ended = self.command(*command.split())
        with self.wish(asked):
            assert ended.code == code, f"exit code {ended.code}, not {code}: {ended.text[-WIDTH:]}"
            assert code != 2 or (ended.err.count("\n") == 1 and not ended.out), f"not one sentence: {ended.text}"
            for pattern in more:
                assert re.search(pattern, ended.text), f"nothing like {pattern!r}: {ended.text[-WIDTH:]}"
            found = re.search(says, ended.text)
            assert found, f"nothing like {says!r}: {ended.text[-WIDTH:]}"
            self.sees(asked, found[0])
        return ended

    def refused(self, asked: str, call: Callable[[], Any] | str, says: str) -> None:
        """Ask for what is not built, in Python or by a command; it must be refused with a sentence like ``says``."""
        if isinstance(call, str):
            ended = self.command(*call.split())
            told, as_it_should = ended.text, ended.code == 2 and ended.err.count("\n") == 1
        else:
            told, as_it_should = "it was not refused", False
            with contextlib.suppress(StopIteration):
                try:
                    call()
                except SparsegenError as error:
                    told, as_it_should = str(error), True
        is_fine = as_it_should and re.search(says, told) is not None
        self._row(asked, told, REFUSED if is_fine else FAILED)

    def sees(self, asked: str, told: object, holds: bool = True) -> None:
        """Add a row: what is shown, and whether it is as it should be."""
        self._row(asked, str(told), OK if holds else FAILED)

    def lacks(self, asked: str, told: str) -> None:
        """Add a row of what there is not."""
        self._row(asked, told, LACKING)

    @contextlib.contextmanager
    def wish(self, asked: str) -> Iterator[None]:
        """Make a row of what goes wrong in the block, or of what is missing to run it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        except Skip as skip:
            self._row(asked, str(skip), SKIPPED)
        except Exception as error:  # whatever it is, a user would see it
            self._row(asked, f"{type(error).__name__}: {error}", FAILED)

    def _row(self, asked: str, told: str, ended: str) -> None:
        line = " ".join(told.split())
        self._seen.append(Seen(self.role, asked, line if len(line) <= WIDTH else f"{line[: WIDTH - 4]} ...", ended))
