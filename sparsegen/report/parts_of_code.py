"""What each part of the generated C costs: the instructions of a prediction and the bytes of flash, part by part."""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.devices import DEVICES
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._parts import HELPERS, CodeParts
from sparsegen.errors import ToolError
from sparsegen.lowering.lowered import Lowered
from sparsegen.targets.c.parts import PARTS, by_parts

__all__ = ["HELPERS", "PARTS", "CodeParts", "code_parts", "why_not"]


def code_parts(lowered: Lowered, device: str, X: Array, *, name: str = "model") -> CodeParts:
    """Return what the parts of a program cost on a device over (at most 64 of) the raw rows ``X``.

    Devices that count instructions can tell: ``why_not(device)`` says why another cannot.
    """
    reason, runner = why_not(device), DEVICES[device]
    if reason is not None or not isinstance(runner, EmulatedDevice):
        raise ToolError(f"the cost of the parts of the code on {device} cannot be told: {reason}")
    return runner.measure_parts(by_parts(lowered, name, runner.loops), lowered.inputs(np.asarray(X)))


def why_not(device: str) -> str | None:
    """Return why a device cannot tell the cost of the parts, as a sentence, or ``None`` where it can."""
    runner = DEVICES[device]
    if not isinstance(runner, EmulatedDevice):
        return (
            f"{device} does not show which instruction runs when; choose an emulated Cortex-M or RISC-V device, "
            "whose parts are the same C"
        )
    return runner.missing()
