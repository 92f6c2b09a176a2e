"""Progress of long work: shown where a front end asks for it, silent otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

Advance = Callable[[str], None]


class Reporter(Protocol):
    """Something that can show how far work has come."""

    def start(self, title: str, total: int) -> tuple[Advance, Callable[[], None]]:
        """Return a function to call after each of ``total`` steps, and one to call at the end."""


_reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)


@contextmanager
def reporting(reporter: Reporter) -> Iterator[None]:
    """Send the progress of everything inside the block to ``reporter``."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def silence() -> Iterator[None]:
    """Hide the progress of everything inside the block; it is one step of a task already shown."""
    token = _reporter.set(None)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def task(title: str, total: int) -> Iterator[Advance]:
    """Announce ``total`` steps of work; call the function it gives after each, with a short remark."""
    reporter = _reporter.get()
    if reporter is None:
        yield lambda remark: None
        return
    advance, finish = reporter.start(title, total)
    try:
        yield advance
    finally:
        finish()
