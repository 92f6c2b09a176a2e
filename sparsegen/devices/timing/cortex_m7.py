"""Cortex-M7: Arm publishes no table of cycles, so these are bounds.

Fast: two instructions in every cycle. Slow: one at a time, in order, and each waits for the whole latency of what the
one before it computes; what is used later than that is taken to be ready. Latencies of loads (3), floating-point sums
and products (3), multiply and add (6) and divisions (up to 16), and the 8 cycles of a wrongly predicted branch, are
taken generously from what others have measured.
"""

from __future__ import annotations

from sparsegen.devices import _instructions as kinds
from sparsegen.devices._instructions import LOADS, Instruction
from sparsegen.devices.timing import NONE, TIMINGS, Range, Timing

PAIRED: Range = (0.5, 1.0)
BEHIND = {  # cycles until a result can be used, beyond the one of issue
    kinds.LOAD: 2.0,
    kinds.FLOAT_LOAD: 2.0,
    kinds.LOAD_MULTIPLE: 2.0,
    kinds.FLOAT_LOAD_MULTIPLE: 2.0,
    kinds.MULTIPLY: 1.0,
    kinds.MULTIPLY_ADD: 1.0,
    kinds.MULTIPLY_LONG: 1.0,
    kinds.MULTIPLY_LONG_ADD: 1.0,
    kinds.DSP: 1.0,
    kinds.FLOAT: 2.0,
    kinds.FLOAT_MULTIPLY_ADD: 5.0,
}
ALU_TO_ADDRESS = 2.0
ALU_TO_ALU = 1.0  # of a shifted operand, which is needed a cycle early


def stalls(previous: Instruction, current: Instruction) -> Range:
    """Return the most cycles that an instruction waits for the result of the one before it."""
    if previous.kind == kinds.ALU and previous.writes & current.address:
        return 0.0, ALU_TO_ADDRESS
    if previous.writes & current.reads:
        return 0.0, BEHIND.get(previous.kind, ALU_TO_ALU if previous.kind == kinds.ALU else 0.0)
    return NONE


MULTIPLES = (kinds.LOAD_MULTIPLE, kinds.STORE_MULTIPLE, kinds.FLOAT_LOAD_MULTIPLE, kinds.FLOAT_STORE_MULTIPLE)
TIMINGS.register("cortex-m7")(
    Timing(
        "cortex-m7",
        "bounds on the cycles of each instruction, since Arm publishes none: "
        "one at a time with the waits between neighbours, or two at a time",
        cycles={
            **dict.fromkeys(kinds.KINDS, PAIRED),
            **dict.fromkeys(MULTIPLES, (0.5, 1.0)),
            **dict.fromkeys(LOADS, (0.0, 0.0)),
            **dict.fromkeys((kinds.STORE, kinds.FLOAT_STORE), (0.0, 0.0)),
            kinds.DIVIDE: (2.0, 20.0),
            kinds.FLOAT_DIVIDE: (1.0, 16.0),
            kinds.TABLE_BRANCH: (1.0, 5.0),
            kinds.SYSTEM: (1.0, 10.0),
            kinds.OTHER: (0.5, 20.0),
        },
        word=dict.fromkeys((*LOADS, kinds.STORE, kinds.FLOAT_STORE, *MULTIPLES), PAIRED),
        taken=dict.fromkeys((kinds.RETURN, kinds.LOAD_MULTIPLE, kinds.TABLE_BRANCH), (0.0, 8.0)),
        refill=(0.0, 1.0),
        stalls=stalls,
        misprediction=8.0,
    )
)
