"""Everything that can go wrong for a user, each with a sentence to act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


class SparsegenError(Exception):
    """A mistake in input or options; the message says what is wrong, where, and what to do.

    ``change`` names the parameters that would help, each with a value to give it, or with ``""`` where that is for the
    user to say. The library's messages know no command line: a front end adds what it calls these parameters.
    """

    def __init__(self, message: str = "", *, change: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.change = dict(change or {})


class DataError(SparsegenError, ValueError):
    """A data file or array that cannot be used."""


class ModelError(SparsegenError, ValueError):
    """A model, or a model file, that is damaged or contradicts itself."""


class OptionError(SparsegenError, ValueError):
    """A parameter whose value cannot be used."""


class KernelError(SparsegenError, ValueError):
    """A kernel that cannot be registered: it could not be trained or exported."""


class ToolError(SparsegenError, RuntimeError):
    """A compiler, emulator or package that is missing or failed."""


class FitError(ToolError):
    """A model that needs more flash or RAM than a device has; ``ram`` is what it needs at least, where known."""

    def __init__(self, message: str, ram: int = 0, *, change: Mapping[str, str] | None = None) -> None:
        super().__init__(message, change=change)
        self.ram = ram


class FitWarning(UserWarning):
    """A device that was left out because the model does not fit it."""


class GapWarning(UserWarning):
    """Rows with missing values that were filled with what the model's training rows had on average."""


def nearest(word: str, choices: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest choice, or an empty string."""
    close = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""
