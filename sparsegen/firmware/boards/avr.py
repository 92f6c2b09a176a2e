"""AVR boards: Arduino Uno, in simavr or flashed by avrdude."""

from __future__ import annotations

from sparsegen.devices.avr import ATMEGA328P
from sparsegen.firmware.boards import BOARDS, Board

BOARDS.register("uno")(
    Board(
        name="uno",
        description="Arduino Uno or Nano: ATmega328P, 16 MHz, no FPU",
        device="atmega328p",
        family="avr",
        compiler="avr-gcc",
        emulator="simavr",
        flashers=("avrdude",),
        packages="make gcc-avr avr-libc simavr avrdude",
        part=ATMEGA328P,
        boot_loader_bytes=512,
        serial_flash=True,
    )
)
