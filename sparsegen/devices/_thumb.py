"""Thumb, Thumb-2 and VFP instructions, decoded by capstone."""

from __future__ import annotations

from functools import cache
from typing import Any

from sparsegen.devices import _instructions as kinds
from sparsegen.devices._instructions import Instruction, capstone, disassembled

KIND_OF = {
    **dict.fromkeys(("mul",), kinds.MULTIPLY),
    **dict.fromkeys(("mla", "mls"), kinds.MULTIPLY_ADD),
    **dict.fromkeys(("smull", "umull"), kinds.MULTIPLY_LONG),
    **dict.fromkeys(("smlal", "umlal", "umaal"), kinds.MULTIPLY_LONG_ADD),
    **dict.fromkeys(("sdiv", "udiv"), kinds.DIVIDE),
    **dict.fromkeys(("pop", "ldm", "ldmdb"), kinds.LOAD_MULTIPLE),
    **dict.fromkeys(("push", "stm", "stmdb"), kinds.STORE_MULTIPLE),
    **dict.fromkeys(("tbb", "tbh"), kinds.TABLE_BRANCH),
    **dict.fromkeys(("bl", "blx"), kinds.CALL),
    **dict.fromkeys(("cbz", "cbnz"), kinds.CONDITIONAL_BRANCH),
    **dict.fromkeys(("mrs", "msr", "dmb", "dsb", "isb", "cps", "svc", "bkpt", "udf"), kinds.SYSTEM),
    "it": kinds.CONDITION,
    "vldr": kinds.FLOAT_LOAD,
    "vstr": kinds.FLOAT_STORE,
    **dict.fromkeys(("vldmia", "vldmdb", "vpop"), kinds.FLOAT_LOAD_MULTIPLE),
    **dict.fromkeys(("vstmia", "vstmdb", "vpush"), kinds.FLOAT_STORE_MULTIPLE),
    **dict.fromkeys(("vmla", "vmls", "vnmla", "vnmls", "vfma", "vfms", "vfnma", "vfnms"), kinds.FLOAT_MULTIPLY_ADD),
    **dict.fromkeys(("vdiv", "vsqrt"), kinds.FLOAT_DIVIDE),
}
DSP_PREFIXES = ("smla", "smls", "smmul", "smmla", "smmls", "smuad", "smusd", "smul", "usad")
WHOLE_WORD_LOADS = frozenset({"ldr", "ldrd", "ldrex"})
NO_REGISTERS = frozenset({"pc", "cpsr", "itstate", "fpscr", "fpscr_nzcv"})
"""What no instruction waits for: the flags are forwarded."""


def decode_thumb(code: bytes) -> list[Instruction | None]:
    """Return the instructions of a block, and ``None`` where it goes on with what capstone does not know."""
    return disassembled(_disassembler(), code, _instruction)


@cache
def _disassembler() -> Any:
    cs = capstone()
    disassembler = cs.Cs(cs.CS_ARCH_ARM, cs.CS_MODE_THUMB | cs.CS_MODE_MCLASS | cs.CS_MODE_V8)
    disassembler.detail = True
    return disassembler


def _instruction(decoded: Any) -> Instruction:
    name: str = decoded.insn_name()
    reads, writes = (frozenset(map(decoded.reg_name, numbers)) for numbers in decoded.regs_access())
    kind = _kind(name, decoded)
    memory = [operand.mem for operand in decoded.operands if operand.type == capstone(".arm").ARM_OP_MEM]
    bases = {decoded.reg_name(part) for place in memory for part in (place.base, place.index) if part}
    registers = [decoded.reg_name(o.reg) for o in decoded.operands if o.type == capstone(".arm").ARM_OP_REG]
    if kind in (kinds.LOAD_MULTIPLE, kinds.STORE_MULTIPLE, kinds.FLOAT_LOAD_MULTIPLE, kinds.FLOAT_STORE_MULTIPLE):
        bases = {"sp"} if name in ("pop", "push", "vpop", "vpush") else {registers.pop(0)}
    is_branch = kind in (kinds.BRANCH, kinds.CONDITIONAL_BRANCH, kinds.TABLE_BRANCH, kinds.CALL, kinds.RETURN)
    return Instruction(
        kind,
        words=_words(name, kind, registers),
        reads=_singles(reads),
        writes=_singles(writes),
        address=frozenset(bases) - NO_REGISTERS,
        is_narrow=kind == kinds.LOAD and name not in WHOLE_WORD_LOADS,
        is_literal="pc" in bases,
        may_leave=is_branch or "pc" in writes,
        is_conditional=kind == kinds.CONDITIONAL_BRANCH
        or (kind != kinds.CONDITION and decoded.cc not in (0, capstone(".arm").ARM_CC_AL)),
    )


def _kind(name: str, decoded: Any) -> str:
    if name == "b":
        always = decoded.cc in (0, capstone(".arm").ARM_CC_AL)
        return kinds.BRANCH if always else kinds.CONDITIONAL_BRANCH
    if name == "bx":
        return kinds.RETURN if decoded.op_str == "lr" else kinds.BRANCH
    if name in KIND_OF:
        return KIND_OF[name]
    if name.startswith("ld"):
        return kinds.LOAD
    if name.startswith("st"):
        return kinds.STORE
    if name.startswith(DSP_PREFIXES):
        return kinds.DSP
    return kinds.FLOAT if name.startswith(("v", "f")) else kinds.ALU


def _words(name: str, kind: str, registers: list[str]) -> int:
    """Return how many words an instruction moves."""
    if kind in (kinds.LOAD, kinds.STORE):
        return 2 if name in ("ldrd", "strd") else 1
    if kind in (kinds.FLOAT_LOAD, kinds.FLOAT_STORE, kinds.FLOAT_LOAD_MULTIPLE, kinds.FLOAT_STORE_MULTIPLE):
        return sum(2 if register.startswith("d") else 1 for register in registers)
    if kind in (kinds.LOAD_MULTIPLE, kinds.STORE_MULTIPLE):
        return len(registers)
    core = [register for register in registers if not register.startswith(("s", "d", "f", "apsr")) or register == "sp"]
    return 2 if kind == kinds.FLOAT and len(core) == 2 else 1  # a move of two core registers


def _singles(registers: frozenset[str]) -> frozenset[str]:
    """Return registers with both halves for each of double precision."""
    found = set()
    for register in registers - NO_REGISTERS:
        if register.startswith("d") and register[1:].isdigit():
            found |= {f"s{2 * int(register[1:])}", f"s{2 * int(register[1:]) + 1}"}
        else:
            found.add(register)
    return frozenset(found)
