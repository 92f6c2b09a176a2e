"""Which columns of a file are features: all that are neither label nor group, those that are kept, or not dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparsegen.data.checks import listed, short
from sparsegen.errors import DataError, OptionError, nearest

Column = str | int
"""A column by name or, where no column is called so, by its place from 0 (negative: from the end)."""


def place_of(column: Column, header: Sequence[str], source: str) -> int:
    """Return the place of a column, or raise an error that tells which columns there are."""
    name = str(column).strip()
    if isinstance(column, str) and name in header:
        return header.index(name)
    if re.fullmatch(r"[+-]?\d{1,9}", name, re.ASCII) and -len(header) <= int(name) < len(header):
        return int(name) % len(header)
    raise DataError(f"column {short(column)} is not in {source}{nearest(name, header)}; it has {listed(header)}")


def require_one_choice(keep: Sequence[Column], drop: Sequence[Column]) -> None:
    """Raise an error where columns are named both to be kept and to be dropped."""
    if keep and drop:
        raise OptionError("features were named both to keep and to drop; name those to keep or those to drop")


def feature_places(
    header: Sequence[str], keep: Sequence[Column], drop: Sequence[Column], source: str, taken: Sequence[int | None] = ()
) -> list[int]:
    """Return the places of the features: those to keep in their order, or else all but ``taken`` and those to drop."""
    named = list(dict.fromkeys(place_of(column, header, source) for column in keep or drop))
    for place in named:
        if place in taken:
            raise DataError(f"column {short(header[place])} of {source} is label or group, so it is no feature already")
    features = named if keep else [place for place in range(len(header)) if place not in (*named, *taken)]
    if drop and not features:
        raise DataError(f"no feature of {source} is left; drop fewer of {listed(header)}")
    return features
