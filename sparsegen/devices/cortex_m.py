"""Arm Cortex-M0+, M3, M4F, M7 and M33 in the emulator."""

from __future__ import annotations

from typing import Any

from sparsegen.devices import DEVICES, Profile
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices._emulator import Processor, Registers, unicorn
from sparsegen.devices._instructions import Instruction
from sparsegen.devices._thumb import decode_thumb

SOFT_FLOAT = "thumb-freestanding-eabi"
HARD_FLOAT = "thumb-freestanding-eabihf"


class CortexM(Processor):
    """A Cortex-M processor in unicorn, by unicorn's name for the model."""

    entry_bit = 1

    def __init__(self, model: str) -> None:
        self.model = model

    def start(self) -> Any:
        """Return a fresh unicorn engine of this processor."""
        uc = unicorn().Uc(unicorn().UC_ARCH_ARM, unicorn().UC_MODE_THUMB | unicorn().UC_MODE_MCLASS)
        uc.ctl_set_cpu_model(getattr(unicorn(".arm_const"), f"UC_CPU_ARM_{self.model}"))
        return uc

    def registers(self) -> Registers:
        """Return the registers of the Arm procedure call standard."""
        numbers = unicorn(".arm_const")
        return Registers(
            stack=numbers.UC_ARM_REG_SP,
            link=numbers.UC_ARM_REG_LR,
            counter=numbers.UC_ARM_REG_PC,
            arguments=(numbers.UC_ARM_REG_R0, numbers.UC_ARM_REG_R1),
            result=numbers.UC_ARM_REG_R0,
        )

    def instruction_bytes(self, half_word: int) -> int:
        """Return 4 where the top five bits are 11101, 11110 or 11111 (Armv7-M manual, A5.1), else 2."""
        return 4 if half_word >> 11 >= 0b11101 else 2

    def decode(self, code: bytes) -> list[Instruction | None]:
        """Return the instructions that begin ``code``, and ``None`` where it goes on with something unknown."""
        return decode_thumb(code)


M0PLUS = Profile("SAMD21G18", 48_000_000, 256 << 10, 32 << 10)
M3 = Profile("STM32F103C8", 72_000_000, 64 << 10, 20 << 10)
M4F = Profile("nRF52832", 64_000_000, 512 << 10, 64 << 10)
M7 = Profile("STM32F746ZG", 216_000_000, 1 << 20, 320 << 10)
M33 = Profile("STM32L552ZE", 110_000_000, 512 << 10, 256 << 10)

for name, description, target, cpu, model, profile in (
    ("cortex-m0plus", "Arm Cortex-M0+, no FPU", SOFT_FLOAT, "cortex_m0plus", "CORTEX_M0", M0PLUS),
    ("cortex-m3", "Arm Cortex-M3, no FPU", SOFT_FLOAT, "cortex_m3", "CORTEX_M3", M3),
    ("cortex-m4f", "Arm Cortex-M4 with float32 FPU", HARD_FLOAT, "cortex_m4+vfp4d16sp", "CORTEX_M4", M4F),
    ("cortex-m7", "Arm Cortex-M7 with float32 FPU", HARD_FLOAT, "cortex_m7+fp_armv8d16sp", "CORTEX_M7", M7),
    ("cortex-m33", "Arm Cortex-M33 with float32 FPU", HARD_FLOAT, "cortex_m33+dsp+fp_armv8d16sp", "CORTEX_M33", M33),
):
    loops = "dsp" if target == HARD_FLOAT else "portable"  # these have the DSP extension as well
    core = name.removesuffix("f")
    DEVICES.register(name)(EmulatedDevice(name, description, target, cpu, CortexM(model), profile, loops, core))
