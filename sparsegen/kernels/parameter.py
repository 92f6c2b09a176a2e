"""A parameter of a kernel: what it means, its default and what it may be."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from sparsegen.errors import OptionError


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: what it means, its default and what it may be."""

    meaning: str
    default: float
    minimum: float = -np.inf
    maximum: float = np.inf
    positive: bool = False
    whole: bool = False

    def check(self, name: str, value: object) -> float:
        """Return ``value`` as a float, or raise an error that says what it may be."""
        number = _number(value)
        wrong = not self.minimum <= number <= self.maximum or not np.isfinite(number)
        if wrong or (self.positive and number <= 0) or (self.whole and number != int(number)):
            raise OptionError(f"kernel parameter {name} is {value!a:.40}, but must be {self.allowed}")
        return number

    @property
    def allowed(self) -> str:
        """What it may be, in words: ``a whole number >= 1 and <= 64``."""
        limits = [" > 0"] if self.positive else [f" >= {self.minimum:g}"] if self.minimum > -np.inf else []
        limits += [f" <= {self.maximum:g}"] if self.maximum < np.inf else []
        return ("a whole number" if self.whole else "a number") + " and".join(limits)


def _number(value: object) -> float:
    """Return a float, or NaN for anything that is not a number or is too large for a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.nan
