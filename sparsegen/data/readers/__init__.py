"""Readers of data files, one format per file: each says which suffixes it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from sparsegen.arrays import Array
from sparsegen.data.checks import Labels
from sparsegen.data.columns import Column
from sparsegen.registry import Registry

NEEDED, OPTIONAL, NONE = "needed", "optional", "none"
"""What labels are to rows for training; where there are none, no column is theirs."""


class Wanted(NamedTuple):
    """What a caller wants from a file; each format uses the fields that apply to it."""

    label: Column | None = None
    """Label column of a table."""
    part: str = "train"
    """Which arrays of an NPZ that holds both: train or test."""
    n_features: int | None = None
    """Features of the model that will see the rows; ``None`` where the rows are for training and need labels."""
    feature_names: tuple[str, ...] = ()
    """Names of those features, empty where the model has none."""
    group: Column | None = None
    """Column of a table, or array of an archive, that says which rows belong together; it is no feature."""
    keep: tuple[Column, ...] = ()
    """Features to train on, in this order; empty for all."""
    drop: tuple[Column, ...] = ()
    """Features to leave out."""
    missing: str = "error"
    """What becomes of rows with gaps, one of `MISSING`; unless it is an error, gaps are returned as NaN."""
    labels: str = NEEDED
    """Whether rows for training must have labels, may have them, or have none."""


class FileRows(NamedTuple):
    """The rows of a file, as a reader returns them."""

    X: Array
    y: Labels | None
    names: tuple[str, ...] | None
    """``None`` where the file has no names."""
    groups: Labels | None = None
    """What the wanted group column holds, as numbers or texts."""
    gaps: str | None = None
    """Where X holds NaN, in words; ``None`` where it does not, or where the reader does not know."""
    notes: tuple[str, ...] = ()
    """Sentences on what was left out."""


@dataclass(frozen=True)
class Reader:
    """A file format."""

    read: Callable[[bytes, str, Wanted], FileRows]
    """Returns the rows in a file's bytes; the text is the name of the file, for messages."""
    suffixes: tuple[str, ...]
    """Lower case, with the dot."""
    is_text: bool = True
    """Whether the bytes must be UTF-8 text; a byte order mark is then removed before ``read``."""
    recognises: Callable[[bytes], bool] | None = None
    """Whether bytes are of this format, where another format has the same suffix; ``None``: it takes what is left."""


READERS: Registry[Reader] = Registry("data format", __name__)


def reader_of(suffix: str, raw: bytes) -> Reader | None:
    """Return the reader for a file with this suffix and these bytes, or ``None`` where the suffix is unknown."""
    candidates = [reader for reader in READERS.values() if suffix in reader.suffixes]
    candidates.sort(key=lambda reader: reader.recognises is None)  # a format that knows its own bytes goes first
    for reader in candidates[:-1]:
        if reader.recognises is not None and reader.recognises(raw):
            return reader
    return candidates[-1] if candidates else None


def known_suffixes() -> list[str]:
    """Return every suffix that some reader takes."""
    return list(dict.fromkeys(suffix for reader in READERS.values() for suffix in reader.suffixes))
