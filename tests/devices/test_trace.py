"""Counting pairs of blocks gives what looking at every instruction gives: kinds and cycles, on every core."""

from __future__ import annotations

from collections import Counter

import pytest
from c_programs import emulated
from golden_models import SMALL, rows

from sparsegen.devices import DEVICES
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._emulator import EmulatedProcessor
from sparsegen.devices._image import build_image
from sparsegen.devices._instructions import CONDITIONAL_BRANCH, Instruction
from sparsegen.devices._trace import Spent, Trace, branch_kind
from sparsegen.devices.timing import TIMINGS, Timing
from sparsegen.lowering.formats import Format
from sparsegen.targets import TARGETS

EMULATED = [name for name in DEVICES if isinstance(DEVICES[name], EmulatedDevice)]
MODEL = SMALL["binary_rbf"]


def slowly(executed: list[tuple[int, Instruction, int]], timing: Timing) -> Spent:
    """Go through a call one instruction at a time: its address, what it is, and its bytes."""
    kinds: Counter[str] = Counter()
    least = most = 0.0
    previous = None
    ways: dict[int, list[int]] = {}
    for i, (address, current, size) in enumerate(executed):
        following = executed[i + 1][0] if i + 1 < len(executed) else None
        taken = current.may_leave and (not current.is_conditional or following != address + size)
        kinds[branch_kind(taken) if current.kind == CONDITIONAL_BRANCH else current.kind] += 1
        issue = timing.issue(previous, current)
        leave = timing.leave(current) if taken else (0.0, 0.0)
        least, most = least + issue[0] + leave[0], most + issue[1] + leave[1]
        ways.setdefault(address, [0, 0])[taken] += 1
        previous = current
    wrong = sum(2 * min(taken, not_taken) for taken, not_taken in ways.values())
    return Spent(len(executed), kinds, (least, most + timing.misprediction * wrong))


def every_instruction(device: EmulatedDevice, machine: EmulatedProcessor) -> list[tuple[int, Instruction, int]]:
    """Return a list that fills with the instructions of later calls, and with those that an IT skips."""
    from unicorn import UC_HOOK_BLOCK, UC_HOOK_CODE

    executed: list[tuple[int, Instruction, int]] = []
    block: dict[int, tuple[Instruction, int]] = {}

    def add_skipped(address):
        while executed and executed[-1][0] + executed[-1][2] in block and _skipped(executed, address, block):
            after = executed[-1][0] + executed[-1][2]
            executed.append((after, *block[after]))

    def entered(uc, address, size, _):
        add_skipped(address)  # at the end of the block before
        code, at = bytes(uc.mem_read(address, size)), 0
        block.clear()
        for instruction in device.processor.instructions(code):
            length = device.processor.instruction_bytes(int.from_bytes(code[at : at + 2], "little"))
            block[address + at] = instruction, length
            at += length

    def on_instruction(uc, address, size, _):
        add_skipped(address)
        executed.append((address, *block[address]))

    machine._uc.hook_add(UC_HOOK_BLOCK, entered)
    machine._uc.hook_add(UC_HOOK_CODE, on_instruction)
    return executed


def _skipped(executed, address, block):
    """Return whether the next in line was not executed although nothing jumped: an IT skipped it."""
    last_address, last, size = executed[-1]
    jumped = last.may_leave or not min(block) <= last_address
    return not jumped and last_address + size < address


@pytest.mark.parametrize("dtype", ["f32", "q7"])
@pytest.mark.parametrize("name", EMULATED)
def test_pairs_of_blocks_tell_what_every_instruction_tells(name, dtype):
    device = emulated(name)
    if device.missing() is not None:
        pytest.skip(str(device.missing()))
    export = TARGETS["c"].export(MODEL, "m", Format(dtype), device.loops)
    image = build_image(export, device.compiler_flags, ("m_predict",))
    fast, slow = (
        EmulatedProcessor(device.processor, image, export.n_features * export.input_dtype.itemsize, export.n_outputs)
        for _ in range(2)
    )
    fast.count_instructions()
    executed = every_instruction(device, slow)
    for row in rows(MODEL)[:2]:
        executed.clear()
        for machine in (fast, slow):
            machine.write_row(row.astype(export.input_dtype))
        slow.predict("m_predict")
        for timing in TIMINGS.values():
            fast.predict("m_predict")
            spent, expected = fast.trace.take(timing), slowly(executed, timing)
            assert spent.kinds == expected.kinds
            assert spent.cycles == pytest.approx(expected.cycles)
            assert spent.instructions == expected.instructions == sum(spent.kinds.values())
            assert spent.kinds["other"] == 0


def test_what_was_taken_is_not_told_again():
    step = Instruction("ALU")
    trace = Trace(lambda address, size: [step] * (size // 2))
    for size in (2, 4, 6):
        trace.enter(100, size)
    trace.end()
    timing = TIMINGS["cortex-m3"]
    first = trace.take(timing)
    assert (first.instructions, first.cycles) == (6, (6.0, 6.0))
    assert trace.take(timing) == Spent(0, Counter(), (0.0, 0.0))
    assert trace.take(None).cycles is None


def test_a_branch_is_taken_where_the_next_block_is_not_the_next_in_memory():
    blocks = {
        0: [Instruction("ALU"), Instruction(CONDITIONAL_BRANCH, may_leave=True, is_conditional=True)],
        4: [Instruction("return", may_leave=True)],
    }
    trace = Trace(lambda address, size: blocks[address])
    for address in (0, 0, 0, 4):  # twice back, then on
        trace.enter(address, 2 * len(blocks[address]))
    trace.end()
    found = trace.take(TIMINGS["cortex-m0plus"])
    assert found.kinds == {"ALU": 3, branch_kind(True): 2, branch_kind(False): 1, "return": 1}
    assert found.cycles == (3 + 2 * 2 + 1 + 2, 3 + 2 * 2 + 1 + 2)


def test_a_branch_that_turns_is_mispredicted_at_most_twice_a_turn():
    blocks = {0: [Instruction(CONDITIONAL_BRANCH, may_leave=True, is_conditional=True)]}
    trace = Trace(lambda address, size: blocks.get(address, [Instruction("ALU")]))
    for address in (0, 0, 0, 2, 0, 0, 2):  # taken twice, on, back by way of the other block, taken, on
        trace.enter(address, 2)
    timing = TIMINGS["cortex-m7"]
    assert trace.take(timing).cycles == (7 * 0.5, 7 + 3 * 1 + 2 * 2 * timing.misprediction)
