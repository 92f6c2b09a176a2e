"""What the decoders say of single instructions."""

from __future__ import annotations

import pytest
from c_programs import emulated

from sparsegen.devices import _instructions as kinds
from sparsegen.devices._rv32 import decode_rv32
from sparsegen.devices._thumb import decode_thumb

pytest.importorskip("capstone")
A0, RA = {"a0"}, {"ra"}


@pytest.mark.parametrize(
    ("code", "kind", "reads", "writes", "address"),
    [
        ("02 45", kinds.LOAD, {"sp"}, A0, {"sp"}),  # c.lwsp a0, 0(sp)
        ("2a c0", kinds.STORE, {"sp", "a0"}, set(), {"sp"}),  # c.swsp a0, 0(sp)
        ("88 41", kinds.LOAD, {"a1"}, A0, {"a1"}),  # c.lw a0, 0(a1)
        ("88 c1", kinds.STORE, {"a0", "a1"}, set(), {"a1"}),  # c.sw a0, 0(a1)
        ("03 c5 05 00", kinds.LOAD, {"a1"}, A0, {"a1"}),  # lbu a0, 0(a1)
        ("2e 85", kinds.ALU, {"a1"}, A0, set()),  # c.mv a0, a1
        ("05 45", kinds.ALU, set(), A0, set()),  # c.li a0, 1
        ("2e 95", kinds.ALU, {"a0", "a1"}, A0, set()),  # c.add a0, a1
        ("33 05 c5 00", kinds.ALU, {"a0", "a2"}, A0, set()),  # add a0, a0, a2
        ("33 85 c5 02", kinds.MULTIPLY, {"a1", "a2"}, A0, set()),  # mul a0, a1, a2
        ("63 00 b5 00", kinds.CONDITIONAL_BRANCH, {"a0", "a1"}, set(), set()),  # beq a0, a1
        ("01 c1", kinds.CONDITIONAL_BRANCH, A0, set(), set()),  # c.beqz a0
        ("01 a0", kinds.BRANCH, set(), set(), set()),  # c.j
        ("6f 00 00 00", kinds.BRANCH, set(), set(), set()),  # j
        ("ef 00 00 00", kinds.CALL, set(), RA, set()),  # jal
        ("e7 80 00 00", kinds.CALL, RA, RA, set()),  # jalr ra, ra
        ("82 80", kinds.RETURN, RA, set(), set()),  # c.jr ra
        ("67 80 00 00", kinds.RETURN, set(), set(), set()),  # ret
        ("67 00 03 00", kinds.BRANCH, {"t1"}, set(), set()),  # jr t1
        ("02 93", kinds.CALL, {"t1"}, RA, set()),  # c.jalr t1
    ],
)
def test_risc_v(code, kind, reads, writes, address):
    (found,) = decode_rv32(bytes.fromhex(code))
    assert found is not None
    assert (found.kind, found.writes, found.address) == (kind, writes, address)
    assert reads <= found.reads | ({"ra"} if kind == kinds.CALL else set())
    assert found.may_leave == (kind in (kinds.CONDITIONAL_BRANCH, kinds.BRANCH, kinds.CALL, kinds.RETURN))
    assert found.is_conditional == (kind == kinds.CONDITIONAL_BRANCH)


@pytest.mark.parametrize(
    ("code", "kind", "words", "reads", "writes", "address"),
    [
        ("88 18", kinds.ALU, 1, {"r1", "r2"}, {"r0"}, set()),  # adds r0, r1, r2
        ("08 68", kinds.LOAD, 1, {"r1"}, {"r0"}, {"r1"}),  # ldr r0, [r1]
        ("88 58", kinds.LOAD, 1, {"r1", "r2"}, {"r0"}, {"r1", "r2"}),  # ldr r0, [r1, r2]
        ("88 50", kinds.STORE, 1, {"r0", "r1", "r2"}, set(), {"r1", "r2"}),  # str r0, [r1, r2]
        ("30 b5", kinds.STORE_MULTIPLE, 3, {"sp", "r4", "r5", "lr"}, {"sp"}, {"sp"}),  # push {r4, r5, lr}
        ("30 bd", kinds.LOAD_MULTIPLE, 3, {"sp"}, {"sp", "r4", "r5"}, {"sp"}),  # pop {r4, r5, pc}
        ("06 c8", kinds.LOAD_MULTIPLE, 2, {"r0"}, {"r0", "r1", "r2"}, {"r0"}),  # ldm r0!, {r1, r2}
        ("21 fb 02 30", kinds.DSP, 1, {"r1", "r2", "r3"}, {"r0"}, set()),  # smlad r0, r1, r2, r3
        ("30 ee 81 0a", kinds.FLOAT, 1, {"s1", "s2"}, {"s0"}, set()),  # vadd.f32 s0, s1, s2
        ("90 ed 00 0b", kinds.FLOAT_LOAD, 2, {"r0"}, {"s0", "s1"}, {"r0"}),  # vldr d0, [r0]
        ("51 ec 10 0b", kinds.FLOAT, 2, {"s0", "s1"}, {"r0", "r1"}, set()),  # vmov r0, r1, d0
        ("10 ee 10 0a", kinds.FLOAT, 1, {"s0"}, {"r0"}, set()),  # vmov r0, s0
        ("70 47", kinds.RETURN, 1, {"lr"}, set(), set()),  # bx lr
        ("08 47", kinds.BRANCH, 1, {"r1"}, set(), set()),  # bx r1
        ("08 b1", kinds.CONDITIONAL_BRANCH, 1, {"r0"}, set(), set()),  # cbz r0
        ("df e8 00 f0", kinds.TABLE_BRANCH, 1, {"r0"}, set(), {"r0"}),  # tbb [pc, r0]
    ],
)
def test_thumb(code, kind, words, reads, writes, address):
    (found,) = decode_thumb(bytes.fromhex(code))
    assert found is not None
    assert (found.kind, found.words, found.reads, found.writes, found.address) == (kind, words, reads, writes, address)
    assert found.may_leave == (code in ("30 bd", "70 47", "08 47", "08 b1", "df e8 00 f0"))
    assert found.is_conditional == (code == "08 b1")


def test_an_it_makes_what_follows_conditional():
    it, move, after = decode_thumb(bytes.fromhex("08 bf 01 20 01 21"))
    assert it is not None and move is not None and after is not None
    assert (it.kind, it.is_conditional, move.is_conditional, after.is_conditional) == (
        kinds.CONDITION,
        False,
        True,
        False,
    )


@pytest.mark.parametrize(("name", "known"), [("cortex-m3", "88 18"), ("rv32imc", "2e 85")])
def test_what_no_decoder_knows_is_counted_as_other(name, known):
    processor = emulated(name).processor
    found = processor.instructions(bytes.fromhex(f"{known} ff ff ff ff {known}"))
    assert [one.kind for one in found] == [kinds.ALU, kinds.OTHER, kinds.OTHER]
