"""What each part of the generated C costs: the instructions of a prediction and the bytes of flash, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from sparsegen.lowering.lowered import Lowered

PARTS: Mapping[str, str] = {
    "reader": "features scaled, or placed on the grid",
    "projection": "features weighed and added up to fewer",
    "distances": "distances, or products, of features and vectors",
    "exponentials": "the kernel's value at a distance, such as an exponential",
    "sums": "coefficients weighed and added up",
    "decision": "from scores to a class",
    "rest": "calls and loops",
}
"""The parts of a prediction, in the order in which it runs, with what each does."""


@dataclass(frozen=True)
class CodeParts:
    """One device's cost of a prediction, by part: all parts together are exactly what ``bench`` measures."""

    device: str
    dtype: str
    rows: int
    """Over how many rows instructions were counted."""
    counted: Mapping[str, int]
    """Instructions of all these rows, by part; those of software floating point belong to the part that calls it."""
    code: Mapping[str, int]
    """Bytes of machine code, by part, and of ``helpers``: software floating point, which the parts share."""
    tables: Mapping[str, int]
    """Bytes of constants, by part."""

    @property
    def instructions(self) -> dict[str, float]:
        """Mean instructions of a prediction, by part."""
        return {part: count / self.rows for part, count in self.counted.items()}

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes of flash, code and tables together, by part, and of ``helpers``."""
        names = (*PARTS, "helpers")
        return {part: self.code.get(part, 0) + self.tables.get(part, 0) for part in names}


def code_parts(lowered: Lowered, device: str, X: NDArray[Any], *, name: str = "model") -> CodeParts:
    """Return what the parts of a program cost on a device over (at most 64 of) the raw rows ``X``.

    Devices that count instructions can tell: ``why_not(device)`` says why another cannot.
    """
    raise NotImplementedError


def why_not(device: str) -> str | None:
    """Return why a device cannot tell the cost of the parts, as a sentence, or ``None`` where it can."""
    raise NotImplementedError
