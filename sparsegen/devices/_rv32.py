"""RV32IMC instructions, decoded by capstone."""

from __future__ import annotations

from functools import cache
from typing import Any

from sparsegen.devices import _instructions as kinds
from sparsegen.devices._instructions import NOTHING, Instruction, capstone, disassembled

KIND_OF = {
    "mul": kinds.MULTIPLY,
    **dict.fromkeys(("mulh", "mulhu", "mulhsu"), kinds.MULTIPLY_LONG),
    **dict.fromkeys(("div", "divu", "rem", "remu"), kinds.DIVIDE),
    **dict.fromkeys(("lw", "lwsp", "lh", "lhu", "lb", "lbu"), kinds.LOAD),
    **dict.fromkeys(("sw", "swsp", "sh", "sb"), kinds.STORE),
    **dict.fromkeys(("beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez"), kinds.CONDITIONAL_BRANCH),
    **dict.fromkeys(("ecall", "ebreak", "fence", "fence.i", "csrrw", "csrrs", "csrrc"), kinds.SYSTEM),
}
TWO_ADDRESS = frozenset({"addi", "addi16sp", "slli", "srli", "srai", "andi", "add", "sub", "xor", "or", "and"})
"""The compressed instructions that read the register they write."""
WHOLE_WORD_LOADS = frozenset({"lw", "lwsp"})
LINK, ZERO = "ra", "zero"
COMPRESSED_BYTES = 2
BRANCHES = frozenset({kinds.BRANCH, kinds.CONDITIONAL_BRANCH, kinds.CALL, kinds.RETURN})


def decode_rv32(code: bytes) -> list[Instruction | None]:
    """Return the instructions of a block, and ``None`` where it goes on with what capstone does not know."""
    return disassembled(_disassembler(), code, _instruction)


@cache
def _disassembler() -> Any:
    cs = capstone()
    disassembler = cs.Cs(cs.CS_ARCH_RISCV, cs.CS_MODE_RISCV32 | cs.CS_MODE_RISCVC)
    disassembler.detail = True
    return disassembler


def _instruction(decoded: Any) -> Instruction:
    riscv = capstone(".riscv")
    name: str = decoded.insn_name().removeprefix("c.")
    registers = [decoded.reg_name(o.reg) for o in decoded.operands if o.type == riscv.RISCV_OP_REG]
    bases = {decoded.reg_name(o.mem.base) for o in decoded.operands if o.type == riscv.RISCV_OP_MEM}
    kind = _jump(decoded.mnemonic.removeprefix("c."), registers) or KIND_OF.get(name, kinds.ALU)
    if kind in (kinds.LOAD, kinds.STORE) and not bases:  # of compressed ones capstone gives a register like others
        bases = {registers.pop()}
    has_result = kind not in (*BRANCHES, kinds.STORE, kinds.SYSTEM)
    result = frozenset({LINK}) if kind == kinds.CALL else frozenset(registers[:1]) if has_result else NOTHING
    reads_all = not has_result or (decoded.size == COMPRESSED_BYTES and name in TWO_ADDRESS)
    return Instruction(
        kind,
        reads=frozenset({*(registers if reads_all else registers[1:]), *bases}) - {ZERO},
        writes=result - {ZERO},
        address=frozenset(bases),
        is_narrow=kind == kinds.LOAD and name not in WHOLE_WORD_LOADS,
        may_leave=kind in BRANCHES,
        is_conditional=kind == kinds.CONDITIONAL_BRANCH,
    )


def _jump(mnemonic: str, registers: list[str]) -> str | None:
    """Return the kind of a jump: one that links is a call, one to the link register a return."""
    if mnemonic == "jalr" and registers[:1] == [ZERO] and len(registers) > 1:
        mnemonic, registers = "jr", registers[1:]
    if mnemonic == "ret" or (mnemonic == "jr" and registers == [LINK]):
        return kinds.RETURN
    if mnemonic in ("j", "jr") or (mnemonic == "jal" and registers == [ZERO]):
        return kinds.BRANCH
    return kinds.CALL if mnemonic in ("jal", "jalr") else None
