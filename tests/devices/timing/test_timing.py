"""Cycles of hand-assembled instructions, as the makers' manuals count them."""

from __future__ import annotations

import pytest

from sparsegen.devices import _instructions as kinds
from sparsegen.devices._instructions import Instruction
from sparsegen.devices._rv32 import decode_rv32
from sparsegen.devices._thumb import decode_thumb
from sparsegen.devices.timing import TIMINGS

ADD, ADD_TO_ADDRESS, USE_R0 = "88 18", "04 31", "40 1c"  # adds r0, r1, r2; adds r1, #4; adds r0, r0, #1
LOAD, LOAD_2, STORE = "08 68", "1a 68", "08 60"  # ldr r0, [r1]; ldr r2, [r3]; str r0, [r1]
LITERAL, MULTIPLY = "00 48", "48 43"  # ldr r0, [pc]; muls r0, r1, r0
PUSH_3, POP_3_PC, LOAD_2_WORDS = "30 b5", "30 bd", "06 c8"  # push {r4, r5, lr}; pop {r4, r5, pc}; ldm r0!, {r1, r2}
BRANCH, BRANCH_NE, BX, BL = "fe e7", "fe d1", "70 47", "00 f0 00 f8"
MLA, UMULL, UMLAL, SMLAD, UDIV = "01 fb 02 30", "a2 fb 03 01", "e2 fb 03 01", "21 fb 02 30", "b1 fb f2 f0"
VADD, VADD_USE, VFMA, VDIV = "30 ee 81 0a", "70 ee 00 1a", "a0 ee 81 0a", "80 ee 81 0a"  # of s0; s3 = s0 + s0
VLDR, VPUSH_D8_D9, LDRD = "90 ed 00 0a", "2d ed 04 8b", "d2 e9 00 01"
IT_EQ_MOV = "08 bf 01 20"

NOT_TAKEN, TAKEN = False, True
ARM = [
    # Cortex-M0+ manual, table 3-1: one figure each
    ("cortex-m0plus", ADD, NOT_TAKEN, (1, 1)),
    ("cortex-m0plus", MULTIPLY, NOT_TAKEN, (1, 1)),
    ("cortex-m0plus", LOAD, NOT_TAKEN, (2, 2)),
    ("cortex-m0plus", STORE, NOT_TAKEN, (2, 2)),
    ("cortex-m0plus", PUSH_3, NOT_TAKEN, (4, 4)),
    ("cortex-m0plus", LOAD_2_WORDS, NOT_TAKEN, (3, 3)),
    ("cortex-m0plus", POP_3_PC, TAKEN, (6, 6)),
    ("cortex-m0plus", BRANCH, TAKEN, (2, 2)),
    ("cortex-m0plus", BRANCH_NE, TAKEN, (2, 2)),
    ("cortex-m0plus", BRANCH_NE, NOT_TAKEN, (1, 1)),
    ("cortex-m0plus", BX, TAKEN, (2, 2)),
    ("cortex-m0plus", BL, TAKEN, (3, 3)),
    # Cortex-M0 manual, table 3-1: a longer pipeline
    ("cortex-m0", LOAD, NOT_TAKEN, (2, 2)),
    ("cortex-m0", POP_3_PC, TAKEN, (7, 7)),
    ("cortex-m0", BRANCH_NE, TAKEN, (3, 3)),
    ("cortex-m0", BRANCH_NE, NOT_TAKEN, (1, 1)),
    ("cortex-m0", BL, TAKEN, (4, 4)),
    # Cortex-M3 manual, section 3.3: P is 1 to 3; "normally three cycles total" for two loads
    ("cortex-m3", ADD, NOT_TAKEN, (1, 1)),
    ("cortex-m3", LOAD, NOT_TAKEN, (2, 2)),
    ("cortex-m3", f"{LOAD} {LOAD_2}", NOT_TAKEN, (3, 4)),
    ("cortex-m3", STORE, NOT_TAKEN, (1, 2)),
    ("cortex-m3", f"{ADD_TO_ADDRESS} {LOAD}", NOT_TAKEN, (3, 4)),
    ("cortex-m3", f"{ADD} {LITERAL}", NOT_TAKEN, (3, 4)),
    ("cortex-m3", MLA, NOT_TAKEN, (2, 2)),
    ("cortex-m3", UMULL, NOT_TAKEN, (3, 5)),
    ("cortex-m3", UMLAL, NOT_TAKEN, (4, 7)),
    ("cortex-m3", UDIV, NOT_TAKEN, (2, 12)),
    ("cortex-m3", PUSH_3, NOT_TAKEN, (4, 4)),
    ("cortex-m3", POP_3_PC, TAKEN, (5, 7)),
    ("cortex-m3", BRANCH, TAKEN, (2, 4)),
    ("cortex-m3", LDRD, NOT_TAKEN, (3, 3)),
    ("cortex-m3", IT_EQ_MOV, NOT_TAKEN, (1, 2)),
    # Cortex-M4 manual, tables 3-1 and 7-1
    ("cortex-m4", MLA, NOT_TAKEN, (1, 1)),
    ("cortex-m4", UMULL, NOT_TAKEN, (1, 1)),
    ("cortex-m4", UMLAL, NOT_TAKEN, (1, 1)),
    ("cortex-m4", SMLAD, NOT_TAKEN, (1, 1)),
    ("cortex-m4", VADD, NOT_TAKEN, (1, 1)),
    ("cortex-m4", f"{VADD} {VADD_USE}", NOT_TAKEN, (2, 3)),
    ("cortex-m4", VFMA, NOT_TAKEN, (3, 3)),
    ("cortex-m4", VDIV, NOT_TAKEN, (1, 14)),
    ("cortex-m4", VLDR, NOT_TAKEN, (2, 2)),
    ("cortex-m4", VPUSH_D8_D9, NOT_TAKEN, (5, 5)),
    # bounds
    ("cortex-m33", f"{ADD} {ADD}", NOT_TAKEN, (1, 2)),
    ("cortex-m33", LOAD, NOT_TAKEN, (1, 2)),
    ("cortex-m33", VFMA, NOT_TAKEN, (1, 3)),
    ("cortex-m7", f"{ADD} {ADD}", NOT_TAKEN, (1, 2)),
    ("cortex-m7", f"{LOAD} {USE_R0}", NOT_TAKEN, (1, 4)),
    ("cortex-m7", f"{ADD_TO_ADDRESS} {LOAD}", NOT_TAKEN, (1, 4)),
    ("cortex-m7", f"{VFMA} {VADD_USE}", NOT_TAKEN, (1, 7)),
]
LW, LBU, MUL, MULHU, DIVU = "03 a5 05 00", "03 c5 05 00", "33 85 c5 02", "33 b5 c5 02", "33 d5 c5 02"  # a0 from a1, a2
USE_A0, BEQ, RET, LWSP = "05 05", "63 00 b5 00", "82 80", "02 45"
RISC_V = [
    # FE310 manual, section 3.3: result latencies of 2 (words), 3 (less), 5 (products)
    ("sifive-e31", f"{LW} {USE_A0}", NOT_TAKEN, (3, 4)),
    ("sifive-e31", f"{LBU} {USE_A0}", NOT_TAKEN, (4, 4)),
    ("sifive-e31", f"{MUL} {USE_A0}", NOT_TAKEN, (6, 6)),
    ("sifive-e31", f"{USE_A0} {USE_A0}", NOT_TAKEN, (2, 2)),
    ("sifive-e31", BEQ, TAKEN, (1, 1)),
    # bounds
    ("esp32-c3", f"{LW} {USE_A0}", NOT_TAKEN, (2, 3)),
    ("esp32-c3", f"{LWSP} {USE_A0}", NOT_TAKEN, (2, 3)),
    ("esp32-c3", f"{USE_A0} {LW}", NOT_TAKEN, (2, 2)),
    ("esp32-c3", MULHU, NOT_TAKEN, (1, 5)),
    ("esp32-c3", DIVU, NOT_TAKEN, (2, 35)),
    ("esp32-c3", BEQ, TAKEN, (2, 4)),
    ("esp32-c3", BEQ, NOT_TAKEN, (1, 1)),
    ("rv32-short", RET, TAKEN, (2, 3)),
]


@pytest.mark.parametrize(
    ("decode", "core", "code", "taken", "expected"),
    [(decode, *case) for decode, cases in ((decode_thumb, ARM), (decode_rv32, RISC_V)) for case in cases],
)
def test_cycles_are_those_of_the_manual(decode, core, code, taken, expected):
    pytest.importorskip("capstone")
    timing = TIMINGS[core]
    least, most = 0.0, 0.0
    previous = None
    for current in decode(bytes.fromhex(code)):
        one = timing.issue(previous, current)
        least, most, previous = least + one[0], most + one[1], current
    assert previous is not None and previous.may_leave >= taken
    if taken:
        least, most = least + timing.leave(previous)[0], most + timing.leave(previous)[1]
    assert (least, most) == expected


@pytest.mark.parametrize("core", TIMINGS)
def test_every_kind_takes_some_cycles_and_the_fewest_are_no_more_than_the_most(core):
    timing = TIMINGS[core]
    assert timing.cycles.keys() == set(kinds.KINDS)
    for kind in kinds.KINDS:
        for words in (1, 2, 8):
            least, most = timing.issue(None, Instruction(kind, words))
            assert 0 <= least <= most and most >= (0 if kind == kinds.CONDITION else 1)
        assert timing.leave(Instruction(kind))[0] <= timing.leave(Instruction(kind))[1]


@pytest.mark.parametrize("core", TIMINGS)
def test_a_skipped_instruction_takes_at_most_a_cycle_in_the_best_case(core):
    load = Instruction(kinds.LOAD_MULTIPLE, 8, is_conditional=True)
    assert TIMINGS[core].issue(None, load)[0] <= 1 <= TIMINGS[core].issue(None, load)[1]
