"""Header names that Arduino cores and their libraries already use: a model's header must not hide one."""

from __future__ import annotations

from sparsegen.errors import OptionError

# Compared without case, which the file systems of Windows and macOS ignore.
TAKEN_WORDS = (
    "api audio binary bluetoothserial bridge cdc client common compat dnsserver eeprom esp ethernet firmata fs gsm "
    "hardwareserial hid httpclient i2s interrupts ipaddress keyboard liquidcrystal littlefs mouse network new pdm "
    "pins_arduino pluggableusb preferences print printable ringbuffer rtc sd server servo softwareserial spi spiffs "
    "stepper stream ticker tone udp update usb usbapi usbcore usbdesc variant wcharacter webserver wifi wifinina wire "
    "wiring_private wmath wprogram wstring"
)
TAKEN = frozenset(TAKEN_WORDS.split())


def check_header(name: str) -> None:
    """Raise an error where ``<name>.h`` is, or looks like, a header that Arduino sketches already include."""
    if name.lower() in TAKEN:
        raise OptionError(
            f"name {name!r} would give the model's header the name of one that Arduino has; choose another"
        )
    if name.lower().startswith("arduino"):
        raise OptionError(f"name {name!r} starts with Arduino, which is kept for official libraries; choose another")
