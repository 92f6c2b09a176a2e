"""Cortex-M boards in qemu-system-arm; the micro:bit can be flashed by pyocd or openocd."""

from __future__ import annotations

from sparsegen.firmware.boards import BOARDS, Board

FPGA_BYTES = 4 << 20

for name, description, device, flashers, flash_bytes, ram_bytes in (
    ("microbit", "BBC micro:bit: nRF51, Cortex-M0, 16 MHz", "cortex-m0plus", ("pyocd", "openocd"), 256 << 10, 16 << 10),
    ("mps2-an385", "Arm MPS2 with Cortex-M3", "cortex-m3", (), FPGA_BYTES, FPGA_BYTES),
    ("mps2-an386", "Arm MPS2 with Cortex-M4F", "cortex-m4f", (), FPGA_BYTES, FPGA_BYTES),
):
    BOARDS.register(name)(
        Board(
            name=name,
            description=description,
            device=device,
            family="cortex_m",
            compiler="arm-none-eabi-gcc",
            emulator="qemu-system-arm",
            flashers=flashers,
            packages=" ".join(["make gcc-arm-none-eabi qemu-system-arm", *flashers[-1:]]),
            flash_bytes=flash_bytes,
            ram_bytes=ram_bytes,
        )
    )
