"""RISC-V boards: SiFive's HiFive1 in qemu-system-riscv32, or flashed by openocd."""

from __future__ import annotations

from sparsegen.firmware.boards import BOARDS, Board

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
        flash_bytes=4 << 20,
        ram_bytes=16 << 10,
    )
)
