"""Cortex-M boards in qemu-system-arm; the micro:bit can be flashed by pyocd or openocd."""

from __future__ import annotations

from sparsegen.devices import Profile
from sparsegen.firmware.boards import BOARDS, Board

NRF51 = Profile("nRF51822", 16_000_000, 256 << 10, 16 << 10)
MPS2 = Profile("MPS2 FPGA", 25_000_000, 4 << 20, 4 << 20)

for name, description, device, flashers, part in (
    ("microbit", "BBC micro:bit: nRF51, Cortex-M0, 16 MHz", "cortex-m0plus", ("pyocd", "openocd"), NRF51),
    ("mps2-an385", "Arm MPS2 with Cortex-M3", "cortex-m3", (), MPS2),
    ("mps2-an386", "Arm MPS2 with Cortex-M4F", "cortex-m4f", (), MPS2),
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
            part=part,
        )
    )
