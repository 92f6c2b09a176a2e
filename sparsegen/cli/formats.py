"""Number formats: what ``--dtype``, ``--input``, ``--calibrate``, ``--max-loss`` and other flags of exports mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sparsegen.cli.inputs import rows_for
from sparsegen.errors import OptionError, ToolError, nearest

if TYPE_CHECKING:
    from sparsegen.lowering.formats import Format
    from sparsegen.lowering.lowered import Lowered
    from sparsegen.model import SparseModel
    from sparsegen.targets import Target

T = TypeVar("T")


@dataclass(frozen=True)
class Wanted:
    """One of the formats that ``--dtype`` names."""

    numbers: Format
    max_loss: float | None = None
    """For ``auto``, which stands for the smallest format that loses no more points of accuracy."""

    def lowered(self, model: SparseModel, target: Target, *, force: bool = False) -> Lowered:
        """Return the model in this format; one that loses too much is refused, unless ``force`` is given."""
        from sparsegen.lowering.choose_format import lower_checked

        return lower_checked(model, self.numbers, target.lower, max_loss=self.max_loss, force=force)


def parse_formats(
    dtypes: str, reads: str, *, early_exit: bool = False, reject: float | None = None, max_loss: float | None = None
) -> list[Wanted]:
    """Return the formats that comma-separated dtypes name."""
    from sparsegen.lowering.choose_format import AUTO, DEFAULT_MAX_LOSS
    from sparsegen.lowering.formats import FORMATS, INPUT_KINDS, INTEGERS, Format, IntegerFormat

    names = list(dict.fromkeys(name.strip() for name in dtypes.split(",") if name.strip()))
    choices = [*FORMATS, AUTO]
    if not names:
        raise OptionError(f"--dtype names no number format; choose from: {', '.join(choices)}")
    for name in names:
        if name not in choices:
            raise OptionError(f"--dtype {name!r} is unknown{nearest(name, choices)}; choose from: {', '.join(choices)}")
    if max_loss is not None and AUTO not in names:
        raise OptionError("--max-loss goes with --dtype auto; give both or neither")
    if reads not in INPUT_KINDS:
        known = ", ".join(INPUT_KINDS)
        raise OptionError(f"--input {reads!r} is unknown{nearest(reads, INPUT_KINDS)}; choose from: {known}")
    only_integers = all(name == AUTO or isinstance(FORMATS[name], IntegerFormat) for name in names)
    if not only_integers and (not INPUT_KINDS[reads].is_float or early_exit):
        raise OptionError("float32 exports read f32 and never stop early; choose --dtype q15 or q7 for that")
    most = DEFAULT_MAX_LOSS if max_loss is None else max_loss
    return [
        Wanted(
            Format(INTEGERS[0].name if name == AUTO else name, reads, early_exit=early_exit, reject=reject),
            most if name == AUTO else None,
        )
        for name in names
    ]


def calibrated(formats: list[Wanted], model: SparseModel, data_file: Path | None, label: str | None) -> list[Wanted]:
    """Return the formats with the rows of a file to choose integer scales on."""
    if data_file is None:
        return formats
    X, y = rows_for(model, data_file, label)
    return [replace(wanted, numbers=replace(wanted.numbers, rows=X, labels=y)) for wanted in formats]


def resolved(formats: list[Wanted], model: SparseModel, target: Target) -> list[Format]:
    """Return the formats, each once, with the one that was found in place of ``auto``."""
    found = [w.numbers if w.max_loss is None else w.lowered(model, target).format for w in formats]
    return list({numbers.dtype: numbers for numbers in found}.values())


def lowered_by(
    target: Target,
    model: SparseModel,
    dtype: str,
    reads: str,
    calibrate: Path | None,
    label: str | None,
    max_loss: float | None = None,
    early_exit: bool = False,
    force: bool = False,
    reject: float | None = None,
) -> Lowered:
    """Return the model in the one format that ``--dtype`` names; ``auto`` finds the smallest accurate enough.

    A format that loses too much is refused, unless ``--force`` is given.
    """
    formats = parse_formats(dtype, reads, early_exit=early_exit, reject=reject, max_loss=max_loss)
    if len(formats) > 1:
        raise OptionError(f"an export has one number format, but --dtype is {dtype!r}; export once for each")
    (wanted,) = calibrated(formats, model, calibrate, label)
    return wanted.lowered(model, target, force=force)


def run_each(formats: list[Format], target: str, run: Callable[[Format], list[T]]) -> list[T]:
    """Return what ``run`` gives for every format, in one list."""
    results = []
    for numbers in formats:
        found = run(numbers)
        if not found:
            raise ToolError(f"no device can run {target} exports here; what each needs: sparsegen list devices")
        results += found
    return results
