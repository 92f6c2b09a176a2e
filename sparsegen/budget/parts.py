"""Real microcontrollers by name: those that the devices stand for, and a line each in ``parts.csv``."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from sparsegen.devices import DEVICES, Profile
from sparsegen.errors import OptionError

ANY = "x"
"""Stands for any character of a part's name, in lower case: ``nRF51822-xxAA``."""
SEPARATORS = r"[\s_/.-]*"
MANY = 12
"""Most parts that an error lists."""


@dataclass(frozen=True)
class Part:
    """A microcontroller that one can buy."""

    name: str
    device: str
    """The device that runs its instructions."""
    profile: Profile
    """Its highest clock, its flash and its RAM."""

    def begins(self, text: str) -> bool:
        """Return whether a name or order code begins with the part's name: ``stm32f103c8t6`` is an STM32F103C8."""
        own = [c for c in self.name if c.isalnum()]
        pattern = SEPARATORS.join("[a-z0-9]" if c == ANY else c.lower() for c in own)
        ends = "(?![0-9])" if own[-1].isdigit() else ""  # an ATtiny841 is no ATtiny84
        return re.match(pattern + ends, text.strip().lower()) is not None


class Parts(Mapping[str, Part]):
    """Parts by name, read on first use."""

    def __getitem__(self, name: str) -> Part:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @cached_property
    def _parts(self) -> dict[str, Part]:
        typical = [Part(d.profile.part, d.name, d.profile) for d in DEVICES.values() if d.profile is not None]
        return {part.name: part for part in sorted([*typical, *listed_parts()], key=lambda part: part.name.lower())}


def listed_parts() -> list[Part]:
    """Return the parts of the file."""
    text = files(__package__).joinpath("parts.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return [
        Part(
            row["name"],
            row["device"],
            Profile(row["name"], int(row["clock"]), int(row["flash"]), int(row["ram"]), row["core"] or None),
        )
        for row in rows
    ]


PARTS: Mapping[str, Part] = Parts()


def part_named(name: str) -> Part:
    """Return a part by its name, by an order code that begins with it, or by an abbreviation that no other part has."""
    asked = re.sub("^at(?=sam)", "", name.strip().lower())  # Microchip's order codes begin with AT
    exact = [part for part in PARTS.values() if _plain(part.name) == _plain(asked)]
    whole = exact or [part for part in PARTS.values() if part.begins(asked)]
    if whole:
        return max(whole, key=lambda part: len(_plain(part.name)))
    short = [part.name for part in PARTS.values() if _plain(asked) and _plain(part.name).startswith(_plain(asked))]
    if len(short) == 1:
        return PARTS[short[0]]
    if short:
        more = f" and {len(short) - MANY} more" if len(short) > MANY else ""
        raise OptionError(f"part {name!r} could be {', '.join(short[:MANY])}{more}; write more of its name")
    plain = {_plain(part): part for part in PARTS}
    close = difflib.get_close_matches(_plain(asked), plain, n=1, cutoff=0.6)
    meant = f" (did you mean {plain[close[0]]!r}?)" if close else ""
    raise OptionError(
        f"there is no part {name!r}{meant}; choose one of the {len(PARTS)} in the list, or name a device and a clock"
    )


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
