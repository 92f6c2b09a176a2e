"""Real microcontrollers by name: those that the devices stand for, and a line each in ``parts.csv``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparsegen.devices import Profile


@dataclass(frozen=True)
class Part:
    """A microcontroller that one can buy."""

    name: str
    device: str
    """The device that runs its instructions."""
    profile: Profile
    """Its clock, flash and RAM."""


PARTS: Mapping[str, Part] = {}


def part_named(name: str) -> Part:
    """Return a part by its name, by an order code that begins with it, or by an abbreviation that only it has."""
    raise NotImplementedError
