"""RISC-V microcontrollers without a floating-point unit (RV32IMC, such as the ESP32-C3) in the emulator."""

from __future__ import annotations

from typing import Any

from sparsegen.devices import DEVICES, Profile
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._emulator import Processor, Registers, unicorn
from sparsegen.devices._instructions import Instruction
from sparsegen.devices._rv32 import decode_rv32


class Rv32(Processor):
    """Unicorn's 32-bit RISC-V processor."""

    entry_bit = 0

    def start(self) -> Any:
        """Return a fresh unicorn engine of this processor."""
        return unicorn().Uc(unicorn().UC_ARCH_RISCV, unicorn().UC_MODE_RISCV32)

    def registers(self) -> Registers:
        """Return the registers of the RISC-V calling convention."""
        numbers = unicorn(".riscv_const")
        return Registers(
            stack=numbers.UC_RISCV_REG_SP,
            link=numbers.UC_RISCV_REG_RA,
            counter=numbers.UC_RISCV_REG_PC,
            arguments=(numbers.UC_RISCV_REG_A0, numbers.UC_RISCV_REG_A1),
            result=numbers.UC_RISCV_REG_A0,
        )

    def instruction_bytes(self, half_word: int) -> int:
        """Return 4 where the two lowest bits are 11 (RISC-V manual, base instruction-length encoding), else 2."""
        return 4 if half_word & 0b11 == 0b11 else 2

    def decode(self, code: bytes) -> list[Instruction | None]:
        """Return the instructions that begin ``code``, and ``None`` where it goes on with something unknown."""
        return decode_rv32(code)


ESP32_C3 = Profile("ESP32-C3", 160_000_000, 4 << 20, 400 << 10)

DEVICES.register("rv32imc")(
    EmulatedDevice(
        "rv32imc",
        "RISC-V RV32IMC, no FPU",
        "riscv32-freestanding-none",
        "generic_rv32+m+c",
        Rv32(),
        ESP32_C3,
        core="esp32-c3",
    )
)
