"""What ``--part``, ``--clock``, ``--max-flash``, ``--max-ram`` and ``--max-ms`` mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sparsegen.errors import OptionError

if TYPE_CHECKING:
    from sparsegen.budget.budget import Budget
    from sparsegen.devices import Profile

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """The part that a model is for, and what it may cost there."""

    device: str | None
    """The part's device, where a part is named."""
    profile: Profile | None
    clock_hz: int | None
    budget: Budget | None

    @property
    def any(self) -> bool:
        """Whether anything is asked for that only a measurement tells."""
        return self.profile is not None or self.clock_hz is not None or self.budget is not None

    def devices(self, named: Sequence[str] | None) -> list[str] | None:
        """Return the devices to use, where ``--device`` names some: a part's own is the only one that suits it."""
        if self.device is None:
            return None if named is None else list(named)
        if named is not None and list(named) != [self.device]:
            part = "" if self.profile is None else f" ({self.profile.part})"
            raise OptionError(f"--part{part} is measured on device {self.device}; leave --device out")
        return [self.device]


def parse_limits(
    part: str | None,
    clock: str | None,
    max_flash: str | None,
    max_ram: str | None,
    max_ms: str | None,
    flags: tuple[str, str, str] = ("--max-flash", "--max-ram", "--max-ms"),
) -> Limits:
    """Return what the options say; ``flags`` are what a command calls the last three."""
    given = (clock, max_flash, max_ram, max_ms)
    if part is None and all(option is None for option in given):
        return Limits(None, None, None, None)  # commands start quicker without these modules

    from sparsegen.budget.amounts import parse_bytes, parse_hertz, parse_milliseconds
    from sparsegen.budget.budget import Budget
    from sparsegen.budget.parts import part_named

    found = None if part is None else part_named(part)
    budget = Budget(
        flash=_amount(flags[0], max_flash, parse_bytes),
        ram=_amount(flags[1], max_ram, parse_bytes),
        milliseconds=_amount(flags[2], max_ms, parse_milliseconds),
    )
    return Limits(
        device=None if found is None else found.device,
        profile=None if found is None else found.profile,
        clock_hz=_amount("--clock", clock, parse_hertz),
        budget=None if budget == Budget() else budget,
    )


def _amount(flag: str, text: str | None, parse: Callable[[str], T]) -> T | None:
    if text is None:
        return None
    try:
        return parse(text)
    except OptionError as error:
        raise OptionError(f"{flag}: {error}") from None
