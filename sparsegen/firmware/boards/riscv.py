"""RISC-V boards: SiFive's HiFive1 in qemu-system-riscv32, or flashed by openocd."""

from __future__ import annotations

from sparsegen.devices import Profile
from sparsegen.firmware.boards import BOARDS, Board

FE310 = Profile("FE310", 14_400_000, 4 << 20, 16 << 10)  # at the clock it starts with

BOARDS.register("sifive_e")(
    Board(
        name="sifive_e",
        description="SiFive HiFive1: FE310, RV32IMAC, no FPU",
        device="rv32imc",
        family="riscv",
        compiler="riscv64-unknown-elf-gcc",
        emulator="qemu-system-riscv32",
        flashers=("openocd",),
        packages="make gcc-riscv64-unknown-elf qemu-system-misc openocd",
        part=FE310,
    )
)
