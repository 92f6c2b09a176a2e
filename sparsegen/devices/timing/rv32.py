"""RISC-V cores that issue one instruction at a time, in order."""

from __future__ import annotations

from sparsegen.devices import _instructions as kinds
from sparsegen.devices._instructions import Instruction
from sparsegen.devices.timing import NONE, TIMINGS, Range, Timing

ONE: Range = (1.0, 1.0)
MULTIPLY_LATENCY = 4.0  # of the E31, beyond the cycle of issue


def load_use(previous: Instruction, current: Instruction) -> Range:
    """Return the wait for what the instruction before has loaded: its result comes a stage late."""
    return (0.0, 1.0) if previous.kind == kinds.LOAD and previous.writes & current.reads else NONE


def e31_stalls(previous: Instruction, current: Instruction) -> Range:
    """Return the wait for a result: a word comes a cycle late, less than a word two, a product four."""
    if not previous.writes & current.reads:
        return NONE
    if previous.kind == kinds.LOAD:  # the second cycle of narrow loads is charged to the load itself
        return (2.0 if previous.is_narrow else 1.0), 1.0
    return (MULTIPLY_LATENCY, 0.0) if previous.kind in (kinds.MULTIPLY, kinds.MULTIPLY_LONG) else NONE


# Espressif counts hazards of loads and jumps in performance counters but publishes no table of cycles.
PIPELINE = {
    **dict.fromkeys(kinds.KINDS, ONE),
    kinds.MULTIPLY: (1.0, 2.0),
    kinds.MULTIPLY_LONG: (1.0, 5.0),
    kinds.DIVIDE: (2.0, 35.0),
    kinds.SYSTEM: (1.0, 4.0),
    kinds.OTHER: (1.0, 35.0),
}
for name, stages in (("esp32-c3", "a pipeline of four stages"), ("rv32-short", "a pipeline of two to four stages")):
    TIMINGS.register(name)(
        Timing(
            name,
            f"bounds on the cycles of each instruction from {stages}, since its maker publishes none",
            cycles=PIPELINE,
            taken={kinds.CONDITIONAL_BRANCH: (1.0, 3.0)},
            refill=(1.0, 2.0),
            stalls=load_use,
        )
    )
TIMINGS.register("sifive-e31")(
    Timing(
        "sifive-e31",
        "latencies from SiFive's FE310 manual (section 3.3), branches predicted or at most two mispredictions for "
        "each change of direction, code in its cache and tables in its RAM",
        cycles={
            **dict.fromkeys(kinds.KINDS, ONE),
            kinds.LOAD: (1.0, 2.0),
            kinds.MULTIPLY: (1.0, 1.0 + MULTIPLY_LATENCY),
            kinds.MULTIPLY_LONG: (1.0, 1.0 + MULTIPLY_LATENCY),
            kinds.DIVIDE: (2.0, 34.0),
            kinds.SYSTEM: (1.0, 6.0),
            kinds.OTHER: (1.0, 34.0),
        },
        stalls=e31_stalls,
        misprediction=3.0,
    )
)
