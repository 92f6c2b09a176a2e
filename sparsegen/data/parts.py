"""Data in parts that stay where they are: functions are sent to them, and only what these return comes back.

A part is whatever one place holds: rows of a file that are read when they are needed, or a block in the memory of a
cluster's worker. Results come in the order of the parts, whoever computed them and whenever they were ready, so a sum
over parts does not depend on the number of workers. Within a part the last bits may: BLAS rounds otherwise where memory
is aligned otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from sparsegen.arrays import Array

T = TypeVar("T")
R = TypeVar("R")


class Parts(ABC, Generic[T]):
    """Parts of type T, numbered from 0."""

    @abstractmethod
    def each(self, function: Callable[..., R], *given: Any) -> Iterable[R]:
        """Return ``function(part, *given)`` of every part, in their order; what it returns should be small."""

    @abstractmethod
    def then(self, function: Callable[..., R], *given: Any) -> Parts[R]:
        """Return the parts that ``function(part, *given)`` makes of these, which stay where these are."""

    @abstractmethod
    def in_turn(self, function: Callable[..., R], state: R, *given: Any) -> R:
        """Return the last ``state = function(part, state, *given)``, of the parts one after the other."""

    def sums(self, function: Callable[..., tuple[Array, ...]], *given: Any) -> tuple[Array, ...]:
        """Return the sums of the arrays that ``function(part, *given)`` returns, added in the order of the parts."""
        return added(self.each(function, *given))


class LocalParts(Parts[T]):
    """Parts that this process computes whenever they are needed, one after the other; none is kept."""

    def __init__(self, count: int, compute: Callable[[int], T]) -> None:
        self._count, self._compute = count, compute

    def each(self, function: Callable[..., R], *given: Any) -> Iterator[R]:
        """Yield what the function makes of every part; one part is in memory at a time."""
        for number in range(self._count):
            yield function(self._compute(number), *given)

    def then(self, function: Callable[..., R], *given: Any) -> LocalParts[R]:
        """Return parts that are computed anew in every pass."""
        return LocalParts(self._count, lambda number: function(self._compute(number), *given))

    def in_turn(self, function: Callable[..., R], state: R, *given: Any) -> R:
        """Return the state after the last part."""
        for number in range(self._count):
            state = function(self._compute(number), state, *given)
        return state


def added(results: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return the sums of arrays, entry by entry, added from the first to the last."""
    total: tuple[Array, ...] | None = None
    for found in results:
        total = found if total is None else tuple(a + b for a, b in zip(total, found, strict=True))
    if total is None:
        raise AssertionError("there is always a part")
    return total
