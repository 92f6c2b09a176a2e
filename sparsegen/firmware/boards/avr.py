"""AVR boards: Arduino Uno, in simavr or flashed by avrdude."""

from __future__ import annotations

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
        flash_bytes=32256,  # the boot loader has the rest
        ram_bytes=2048,
        serial_flash=True,
    )
)
