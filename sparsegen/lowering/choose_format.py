"""Choose the smallest number format that keeps a model accurate enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sparsegen.errors import OptionError
from sparsegen.lowering import lower
from sparsegen.lowering.agreement import Agreement
from sparsegen.lowering.formats import F32, INTEGERS, Format, IntegerFormat
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.require_agreement import require_agreement
from sparsegen.lowering.value_agreement import ValueAgreement
from sparsegen.model import SparseModel

AUTO = "auto"
"""Stands for the smallest number format that is accurate enough."""
DEFAULT_MAX_LOSS = 0.5  # points of accuracy, or of R2
WORD_BYTES = 4


@dataclass(frozen=True)
class Choice:
    """The program in the chosen format, and the agreement of every integer format that was tried."""

    lowered: Lowered
    tried: tuple[Agreement | ValueAgreement, ...]


def lower_checked(
    model: SparseModel,
    wanted: Format,
    lower: Callable[[SparseModel, Format], Lowered] = lower,
    *,
    max_loss: float | None = None,
    force: bool = False,
) -> Lowered:
    """Return the model in the wanted format, or, given ``max_loss``, in the smallest that loses no more.

    A wanted format that loses too much is refused unless ``force`` insists on it.
    """
    if max_loss is not None:
        return choose_format(model, wanted, max_loss, lower).lowered
    lowered = lower(model, wanted)
    return lowered if force else require_agreement(lowered)


def choose_format(
    model: SparseModel,
    wanted: Format,
    max_loss: float,
    lower: Callable[[SparseModel, Format], Lowered] = lower,
) -> Choice:
    """Return the model in the smallest format that loses at most ``max_loss`` points of accuracy, and no class.

    Of a regression the points are those of R2, in percent.

    ``wanted`` gives everything else: what to read, and the rows to judge on. ``lower`` is the target's, if the program
    is for one.
    """
    tried: list[Agreement | ValueAgreement] = []
    for numbers in smallest_first(model):
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
        classes = " and no class" if model.has_classes else ""
        raise OptionError(
            f"no integer format loses at most {max_loss:g} points{classes} ({tried[-1].dtype}: {tried[-1]}); "
            "allow a larger loss, or let the export read float32",
            change={"max_loss": "", "input": "f32"},
        )
    return Choice(lower(model, replace(wanted, dtype=F32.name, early_exit=False)), tuple(tried))


def smallest_first(model: SparseModel) -> list[IntegerFormat]:
    """Return the integer formats worth trying, by the bytes of a vector of the model; where equal, finer first.

    One that is coarser than another and takes as much is not worth trying.
    """
    order = sorted(
        INTEGERS,
        key=lambda numbers: (_vector_bytes(model, numbers), numbers.index_dtype.itemsize, -numbers.coef_dtype.itemsize),
    )
    return [numbers for i, numbers in enumerate(order) if not any(_is_as_fine(other, numbers) for other in order[:i])]


def _is_as_fine(one: IntegerFormat, other: IntegerFormat) -> bool:
    return (
        one.index_dtype.itemsize >= other.index_dtype.itemsize and one.coef_dtype.itemsize >= other.coef_dtype.itemsize
    )


def _vector_bytes(model: SparseModel, numbers: IntegerFormat) -> int:
    """Return the bytes of a vector, its norm and its coefficients: whole words, which the norm asks for."""
    index, coef = numbers.index_dtype.itemsize, numbers.coef_dtype.itemsize
    n_outputs, n_kernels = model.n_outputs, len(model.kernels)
    if n_kernels == 1 and model.kernels[0].is_linear:
        return n_outputs * coef  # of a feature: there are weights only
    values = model.vectors.shape[1] * index + n_kernels * (n_outputs * coef + numbers.shifts_vectors(n_outputs))
    return WORD_BYTES + -(-int(values) // WORD_BYTES) * WORD_BYTES
