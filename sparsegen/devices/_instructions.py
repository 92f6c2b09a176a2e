"""What decides how long an instruction takes: its kind, how many words it moves, and the registers it waits for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sparsegen.errors import ToolError

ALU = "ALU"
MULTIPLY = "multiply"
MULTIPLY_ADD = "multiply and add"
MULTIPLY_LONG = "multiply long"
MULTIPLY_LONG_ADD = "multiply long and add"
DSP = "DSP multiply"
DIVIDE = "divide"
LOAD, STORE = "load", "store"
LOAD_MULTIPLE, STORE_MULTIPLE = "load multiple", "store multiple"
BRANCH, CONDITIONAL_BRANCH, TABLE_BRANCH = "branch", "conditional branch", "table branch"
CALL, RETURN = "call", "return"
CONDITION = "condition"  # Thumb's IT
FLOAT = "float"
FLOAT_MULTIPLY_ADD = "float multiply and add"
FLOAT_DIVIDE = "float divide"
FLOAT_LOAD, FLOAT_STORE = "float load", "float store"
FLOAT_LOAD_MULTIPLE, FLOAT_STORE_MULTIPLE = "float load multiple", "float store multiple"
SYSTEM = "system"
OTHER = "other"  # what the decoder does not know

KINDS = (
    *(ALU, MULTIPLY, MULTIPLY_ADD, MULTIPLY_LONG, MULTIPLY_LONG_ADD, DSP, DIVIDE, LOAD, STORE, LOAD_MULTIPLE),
    *(STORE_MULTIPLE, BRANCH, CONDITIONAL_BRANCH, TABLE_BRANCH, CALL, RETURN, CONDITION, FLOAT, FLOAT_MULTIPLY_ADD),
    *(FLOAT_DIVIDE, FLOAT_LOAD, FLOAT_STORE, FLOAT_LOAD_MULTIPLE, FLOAT_STORE_MULTIPLE, SYSTEM, OTHER),
)
LOADS = frozenset({LOAD, FLOAT_LOAD})
STORES = frozenset({STORE, FLOAT_STORE})
FLOAT_ARITHMETIC = frozenset({FLOAT, FLOAT_MULTIPLY_ADD, FLOAT_DIVIDE})
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Instruction:
    """One instruction of an image, decoded."""

    kind: str
    words: int = 1
    """How many 32-bit registers it loads, stores or moves."""
    reads: frozenset[str] = NOTHING
    writes: frozenset[str] = NOTHING
    address: frozenset[str] = NOTHING
    """The registers that an address in memory is computed from."""
    is_narrow: bool = False
    """Whether it loads less than a word."""
    is_literal: bool = False
    """Whether it loads a constant that lies among the instructions."""
    may_leave: bool = False
    """Whether it may go on elsewhere than at the next instruction."""
    is_conditional: bool = False
    """Whether it does so, or has any effect at all, only under a condition."""


def capstone(module: str = "") -> Any:
    """Return the disassembler's package or one of its modules, imported only once instructions are decoded."""
    try:
        return importlib.import_module(f"capstone{module}")
    except ImportError as error:
        raise ToolError(f"capstone cannot be imported: {error}; install it again") from error


def disassembled(disassembler: Any, code: bytes, read: Callable[[Any], Instruction]) -> list[Instruction | None]:
    """Return what ``read`` makes of each instruction, and ``None`` where the code goes on with an unknown one."""
    found: list[Instruction | None] = []
    decoded = 0
    for instruction in disassembler.disasm(code, 0):
        found.append(read(instruction))
        decoded += instruction.size
    return found if decoded == len(code) else [*found, None]
