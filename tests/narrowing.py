"""What a test knows and a type does not say."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """Return a value that must be there."""
    assert value is not None
    return value
