"""Choose the smallest number format that keeps a model accurate enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sparsegen.errors import OptionError
from sparsegen.lowering import lower
from sparsegen.lowering.agreement import Agreement
from sparsegen.lowering.formats import F32, INTEGERS_SMALLEST_FIRST, Format
from sparsegen.lowering.lowered import Lowered
from sparsegen.model import SparseModel


@dataclass(frozen=True)
class Choice:
    """The program in the chosen format, and the agreement of every integer format that was tried."""

    lowered: Lowered
    tried: tuple[Agreement, ...]


def choose_format(
    model: SparseModel,
    wanted: Format,
    max_loss: float,
    lower: Callable[[SparseModel, Format], Lowered] = lower,
) -> Choice:
    """Return the model in the smallest format that loses at most ``max_loss`` points of accuracy, and no class.

    ``wanted`` gives everything else: what to read, and the rows to judge on. ``lower`` is the target's, if the program
    is for one.
    """
    tried: list[Agreement] = []
    for numbers in INTEGERS_SMALLEST_FIRST:
        try:
            lowered = lower(model, replace(wanted, dtype=numbers.name))
        except OptionError:
            if not wanted.reads.is_float:
                raise
            break  # the kernel has no integer form
        if lowered.agreement is not None:
            tried.append(lowered.agreement)
        if tried[-1].loss <= max_loss and tried[-1].lost_class is None:
            return Choice(lowered, tuple(tried))
    if not wanted.reads.is_float:
        raise OptionError(
            f"no integer format loses at most {max_loss:g} points and no class ({tried[-1].dtype}: {tried[-1]}); "
            "allow a larger loss, or let the export read float32",
            change={"max_loss": "", "input": "f32"},
        )
    return Choice(lower(model, replace(wanted, dtype=F32.name, early_exit=False)), tuple(tried))
