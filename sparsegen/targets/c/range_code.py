"""The range of an integer program: as its header states it, and as its C decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.program import float32
from sparsegen.targets.card import MAX_NAMED_FEATURES
from sparsegen.targets.render import c_int, c_real


def range_lines(program: IntegerProgram) -> list[tuple[str, str]]:
    """Return lines for the header: the range of every raw feature, or for grid indices how the caller computes them.

    Numbers read back as they are. Neighbours that are alike share a line.
    """
    if program.reader.kind.is_grid:
        starts = zip(program.low.tolist(), program.step.tolist(), strict=True)
        return _runs("index of {}", [f"0 is {low!r}, one step is {step!r}" for low, step in starts])
    low, high = _ends(program)
    lines = _runs("range of {}", [f"{a} to {b}" for a, b in zip(low.astype(str), high.astype(str), strict=True)])
    if len(lines) <= MAX_NAMED_FEATURES:
        return lines
    return [("range of each feature", "stated by the constants of in_range, in the source")]


def range_values(program: IntegerProgram) -> dict[str, object]:
    """Return what the templates print of the range: only the ends that the type of the input leaves open."""
    low, high = _ends(program)
    missing = np.empty(0) if program.fill is None else float32(program.fill)
    fills = program.fill is not None and program.reader.kind.is_float
    limits = None if program.reader.kind.is_float else np.iinfo(program.input_dtype)
    return {
        "range_low": low,
        "range_high": high,
        "missing": missing,
        "checks_missing": fills and not bool(np.all((missing >= low) & (missing <= high))),
        "checks_low": limits is None or bool(np.any(low > limits.min)),
        "checks_high": limits is None or bool(np.any(high < limits.max)),
        "low_is_common": bool(np.all(low == low[0])),
        "high_is_common": bool(np.all(high == high[0])),
        "common_low": _constant(low[0]),
        "common_high": _constant(high[0]),
    }


def _ends(program: IntegerProgram) -> tuple[NDArray[Any], NDArray[Any]]:
    low, high = (side.astype(program.input_dtype) for side in (program.range.low, program.range.high))
    return low, high


def _constant(value: np.generic) -> str:
    """Return a value as C writes it."""
    return c_real(float(value)) if value.dtype.kind == "f" else c_int(int(value))


def _runs(subject: str, sentences: Sequence[str]) -> list[tuple[str, str]]:
    """Return a line for every run of features about which the same is said."""
    lines, first = [], 0
    for last, sentence in enumerate(sentences):
        if last + 1 == len(sentences) or sentences[last + 1] != sentence:
            features = f"x[{first}]" if first == last else f"x[{first}] to x[{last}]"
            lines.append((subject.format(features), sentence))
            first = last + 1
    return lines
