"""What a test knows and a type does not say."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


def a(kind: type[K], value: object) -> K:
    """Return a value that must be of this kind."""
    assert isinstance(value, kind)
    return value


def known(value: T | None) -> T:
    """Return a value that must be there."""
    assert value is not None
    return value
