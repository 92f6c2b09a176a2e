"""How much flash, RAM and time one prediction may take."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.errors import OptionError
from sparsegen.promised import bound


@dataclass(frozen=True)
class Budget:
    """The most that one prediction may take; ``None`` sets no limit."""

    flash: int | None = None
    """Bytes of code and constants."""
    ram: int | None = None
    """Bytes of static data and stack, the input row included."""
    milliseconds: float | None = None
    """The longest that any measured row may take."""

    def __post_init__(self) -> None:
        limits = {"flash": self.flash, "ram": self.ram, "milliseconds": self.milliseconds}
        for name, most in limits.items():
            if most is not None and not most > 0:
                raise OptionError(f"a budget of {most} for {name} leaves no room for a model; give more than 0")

    def shortage(self, flash: int | None, ram: int | None, milliseconds: float | None) -> str | None:
        """Return in words what is needed beyond the budget, or ``None`` where all that is known is within it."""
        over = [
            f"{need:,} bytes of {memory}, and the budget is {most:,}"
            for memory, need, most in (("flash", flash, self.flash), ("RAM", ram, self.ram))
            if need is not None and most is not None and need > most
        ]
        if milliseconds is not None and self.milliseconds is not None and milliseconds > self.milliseconds:
            over.append(f"{bound(milliseconds)} ms, and the budget is {self.milliseconds:g} ms")
        return f"needs {'; '.join(over)}" if over else None
