"""Every part that is known, and how people name them."""

from __future__ import annotations

import pytest

from sparsegen.budget.parts import PARTS, Part, listed_parts, part_named
from sparsegen.devices import DEVICES, Profile
from sparsegen.devices._emulated import EmulatedDevice
from sparsegen.devices.avr import Avr
from sparsegen.devices.timing import TIMINGS
from sparsegen.errors import OptionError
from sparsegen.firmware.boards import BOARDS


@pytest.mark.parametrize("part", PARTS.values(), ids=str)
def test_a_part_can_be_measured(part):
    device, profile = DEVICES[part.device], part.profile
    assert part.name == profile.part
    assert part_named(part.name) is part
    assert isinstance(device, EmulatedDevice | Avr)
    assert 1_000_000 <= profile.clock_hz <= 1_000_000_000 and profile.clock_hz % 100_000 == 0
    assert 2 << 10 <= profile.flash_bytes <= 32 << 20 and profile.flash_bytes % 1024 == 0
    assert 128 <= profile.ram_bytes <= 2 << 20 and profile.ram_bytes % 64 == 0
    assert profile.ram_bytes < profile.flash_bytes or part.name.startswith("STM32H750")  # known for its little flash
    if isinstance(device, Avr):  # is simulated as that device, which must hold all that the part holds
        assert profile.core is None
        assert profile.flash_bytes <= device.profile.flash_bytes and profile.ram_bytes <= device.profile.ram_bytes
    else:
        assert (profile.core or device.core) in TIMINGS


def test_parts_are_many_and_none_is_stated_twice():
    typical = [device.profile.part for device in DEVICES.values() if device.profile is not None]
    listed = [part.name for part in listed_parts()]
    names = [*typical, *listed]
    assert len(listed) >= 40
    assert len({name.lower().replace("-", "") for name in names}) == len(names) == len(PARTS)
    assert {part.device for part in PARTS.values()} == {d.name for d in DEVICES.values() if d.profile is not None}


def test_boards_and_parts_agree():
    for board in BOARDS.values():
        if board.part.part in PARTS:
            assert PARTS[board.part.part].profile == board.part and PARTS[board.part.part].device == board.device


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("stm32f103c8", "STM32F103C8"),
        ("STM32F103C8T6", "STM32F103C8"),
        (" stm32f103cbt6 ", "STM32F103CB"),
        ("nrf52832", "nRF52832"),
        ("nRF52832-QFAA", "nRF52832"),
        ("nRF52832-QFAB", "nRF52832-xxAB"),
        ("nrf51822_qfac", "nRF51822-xxAC"),
        ("rp2040", "RP2040"),
        ("samd21", "SAMD21G18"),
        ("ATSAMD21G18A-AU", "SAMD21G18"),
        ("esp32c3", "ESP32-C3"),
        ("ESP32-C3-WROOM-02", "ESP32-C3"),
        ("atmega328p", "ATmega328P"),
        ("ATmega328P-PU", "ATmega328P"),
        ("atmega328", "ATmega328"),
        ("attiny85-20pu", "ATtiny85"),
    ],
)
def test_people_name_parts_in_many_ways(asked, name):
    assert part_named(asked).name == name


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("stm32f103", r"part 'stm32f103' could be STM32F103C6, .*STM32F103ZE; write more of its name"),
        ("nrf51822", r"could be nRF51822-xxAA, nRF51822-xxAB, nRF51822-xxAC; write more"),
        ("esp32", r"part 'esp32' could be ESP32-C3, ESP32-C6, ESP32-H2; write more"),
        ("s", r"could be .* and \d+ more; write more"),
        ("attiny841", r"there is no part 'attiny841' \(did you mean 'ATtiny84'\?\); choose one of the \d+ in the list"),
        ("stm32f103c9", r"there is no part 'stm32f103c9' \(did you mean 'STM32F103[A-Z0-9]+'\?\)"),
        ("host", "there is no part 'host'; choose one of"),
        ("", "there is no part ''; choose one of"),
        ("-", "there is no part '-'; choose one of"),
        ("\x1b[31m", "there is no part "),
    ],
)
def test_a_name_that_says_too_little_is_one_sentence(asked, sentence):
    with pytest.raises(OptionError, match=sentence) as refused:
        part_named(asked)
    assert "\n" not in str(refused.value)


def test_a_small_x_stands_for_any_character_and_a_large_one_for_itself():
    part = Part("ABX1-xxC", "cortex-m3", Profile("ABX1-xxC", 1, 1, 1))
    assert part.begins("abx1qqc") and part.begins("ABX1-9zC7")
    assert not part.begins("aby1qqc") and not part.begins("abx1qqd") and not part.begins("abx1q")
