"""Refuse an integer program that does not stand for its model."""

from __future__ import annotations

from sparsegen.errors import OptionError
from sparsegen.lowering.formats import F32, Q15
from sparsegen.lowering.lowered import Lowered


def require_agreement(lowered: Lowered) -> Lowered:
    """Return the program, or raise an OptionError where it loses too much of what its model tells apart."""
    found, format = lowered.agreement, lowered.format
    if found is None or found.problem is None:
        return lowered
    advice, change = [], {}
    if not format.reads.is_float:
        change["input"] = F32.name
        advice.append("read float32")
    if format.reads.is_raw_integer:
        advice.append("rescale the features so that whole numbers tell them apart")
    finer = F32 if format.dtype == Q15.name else Q15
    if finer is not F32 or format.reads.is_float:
        change["dtype"] = finer.name
        advice.append(f"compute in {finer.name}")
    if not found.calibrated:
        change["rows"] = ""
        advice.append("calibrate on rows of your own")
    raise OptionError(f"{found.problem}; {', '.join(advice)}, or force it", change={**change, "force": ""})
