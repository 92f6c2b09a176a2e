"""Axes of the drawings: from values to places on the page, and the ticks between."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    at: str
    text: str


@dataclass(frozen=True)
class Axis:
    """A linear axis from ``low`` at ``start`` to ``high`` at ``end``, in units of the drawing."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        spread = self.high - self.low
        part = (value - self.low) / spread if spread else 0.5
        return self.start + part * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[Tick]:
        """Return at most so many ticks at round values."""
        step = round_step((self.high - self.low) / most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [Tick(place(self(k * step)), tick_text(k * step, step)) for k in range(first, last + 1)]


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, ... times a power of ten that is no less."""
    if least <= 0 or not math.isfinite(least):
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def tick_text(value: float, step: float) -> str:
    """Return a tick's value with the digits that its step needs."""
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    text = f"{value:,.{digits}f}" if digits < 7 else f"{value:g}"
    return text.replace("-", "\N{MINUS SIGN}") if float(text.replace(",", "")) else "0"


def place(value: float) -> str:
    """Return a coordinate of a drawing as text: short, and the same everywhere."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
