"""Probes: untrained models measured on a device, and the line through them on which all models of their kind lie.

The generated C is loops over tables, so with the code fixed every figure is linear in the number of vectors m:

    flash, RAM                       a + b m
    instructions, cycles             a + m (b + c near)

``near`` is how many kernel values of a vector are not zero, on average over rows and vectors: integer code skips the
coefficients of the others. Two probes of different m give a and b; a third of another ``near``, where that matters, c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsegen.arrays import Array
from sparsegen.bench import Cost

SPACE = ("flash", "ram")
TIME = ("instructions", "worst_instructions", "cycles", "worst_cycles")


@dataclass(frozen=True)
class Figures:
    """What one prediction takes; ``None`` where the device cannot tell."""

    flash: float
    ram: float
    """The input row included."""
    instructions: float | None = None
    """Mean over the measured rows, as those below without ``worst``."""
    worst_instructions: float | None = None
    cycles: float | None = None
    worst_cycles: float | None = None

    @classmethod
    def of(cls, cost: Cost) -> Figures:
        """Return the figures of a measured cost."""
        found = cost.measurement
        return cls(
            flash=float(found.flash or 0),
            ram=float(cost.ram_with_input or cost.input_bytes),
            instructions=found.instructions,
            worst_instructions=found.worst_instructions,
            cycles=cost.cycles,
            worst_cycles=cost.worst_cycles,
        )

    @property
    def is_timed(self) -> bool:
        """Whether the device could run it."""
        return self.instructions is not None or self.cycles is not None

    def known(self, name: str) -> float | None:
        """Return a figure by its name."""
        value: float | None = getattr(self, name)
        return value


@dataclass(frozen=True)
class Probe:
    """An untrained model that was measured."""

    n_vectors: int
    near: float
    """Kernel values that are not zero, per vector, on average over the measured rows."""
    figures: Figures


@dataclass(frozen=True)
class Line:
    """Where the figures of all models of one kind lie."""

    few: Probe
    many: Probe
    """With as many vectors as `few`, where the number of vectors makes no difference."""
    far: Probe | None = None
    """With as many vectors as `many`, and other values near zero."""

    @property
    def near(self) -> tuple[float, ...]:
        """The shares of kernel values that were measured."""
        return (self.many.near,) if self.far is None else (self.many.near, self.far.near)

    def at(self, n_vectors: int, near: float) -> Figures:
        """Return the figures for a number of vectors, of whose kernel values so many are not zero."""
        flash, ram = (self._figure(name, n_vectors, 0.0, timed=False) for name in SPACE)
        times = {name: self._figure(name, n_vectors, near, timed=True) for name in TIME}
        return Figures(flash or 0.0, ram or 0.0, **times)

    def _figure(self, name: str, m: int, near: float, *, timed: bool) -> float | None:
        first, last = self.few.figures.known(name), self.many.figures.known(name)
        if first is None or last is None:
            return None
        c = self._per_value(name) if timed else 0.0
        first, last = (value - c * p.n_vectors * p.near for value, p in ((first, self.few), (last, self.many)))
        apart = self.many.n_vectors - self.few.n_vectors
        slope = (last - first) / apart if apart else 0.0
        return last + slope * (m - self.many.n_vectors) + c * m * near

    def _per_value(self, name: str) -> float:
        """Return what a kernel value takes that is not zero."""
        if self.far is None:
            return 0.0
        other, last = self.far.figures.known(name), self.many.figures.known(name)
        change = self.many.n_vectors * (self.far.near - self.many.near)
        return 0.0 if other is None or last is None or change == 0.0 else (other - last) / change

    def with_far(self, far: Probe) -> Line:
        """Return the line with a third probe."""
        return replace(self, far=far)


def near_values(values: Array, least: float) -> float:
    """Return how many of (n, kernels, m) kernel values reach ``least``, per vector."""
    return float(np.count_nonzero(values >= least) / (values.shape[0] * values.shape[2]))
