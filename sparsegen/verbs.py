"""What one does with a model in Python: ``model.export(...)``, ``model.verify(...)``, ``model.bench(...)``.

The methods of :class:`~sparsegen.model.SparseModel` lead here. They do on arrays what the commands of these names do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sparsegen import bench as costs
from sparsegen import verify as verdicts
from sparsegen.arrays import Array
from sparsegen.budget.amounts import parse_hertz
from sparsegen.budget.parts import part_named
from sparsegen.data.checks import numeric_matrix
from sparsegen.devices import DEVICES, Profile
from sparsegen.errors import OptionError
from sparsegen.files import require_folder
from sparsegen.lowering.choose_format import AUTO, DEFAULT_MAX_LOSS, choose_format, lower_checked
from sparsegen.lowering.formats import INTEGERS, Format
from sparsegen.model import SparseModel
from sparsegen.targets import PORTABLE, TARGETS, Export, Target


class Verdicts(tuple[verdicts.Verdict, ...]):
    """One verdict for each device; prints as a line for each."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether every device computes what it must, about as accurately as the model."""
        return all(verdict.ok for verdict in self)

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


class Costs(tuple[costs.Cost, ...]):
    """One cost for each device; prints as a line for each."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


def export(
    model: SparseModel,
    target: str = "c",
    folder: str | Path | None = None,
    *,
    name: str = "model",
    dtype: str = "f32",
    input: str = "f32",
    rows: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    max_loss: float | None = None,
    early_exit: bool = False,
    reject: float | None = None,
    device: str | None = None,
    part: str | None = None,
    clock: str | float | None = None,
    budget: Any = None,
    force: bool = False,
    **options: Any,
) -> Export:
    """Return a model as source code or as a graph; written into ``folder`` if there is one and it fits the budget."""
    place = _place(device, part, clock)
    if place.names is None and (clock is not None or budget is not None):
        raise OptionError("what a prediction costs depends on the device; give part or device too")
    if folder is not None:
        require_folder(Path(folder))
    printer = TARGETS[target].with_options(**options)
    chosen = None if place.names is None else DEVICES[place.names[0]]
    most = _most_lost(dtype, max_loss)
    wanted = replace(_format(dtype, input, rows, labels, early_exit), reject=reject)
    lowered = lower_checked(model, wanted, printer.lower, max_loss=most, force=force)
    exported = printer.write(lowered, name, PORTABLE if chosen is None else chosen.loops)
    if chosen is not None and (part is not None or clock is not None or budget is not None):
        costs.require_fit(chosen, exported, lowered, place.profile, place.clock_hz, budget)
    if folder is not None:
        exported.save(Path(folder), force=force)
    return exported


def verify(
    model: SparseModel,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    device: str | Iterable[str] | None = None,
    target: str = "c",
    dtype: str = "f32",
    input: str = "f32",
    rows: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    max_loss: float | None = None,
    early_exit: bool = False,
    **options: Any,
) -> Verdicts:
    """Return one verdict for each device: whether the export computes there, for every row, what Python computes."""
    printer, names = TARGETS[target].with_options(**options), _names(device)
    wanted, known = _format(dtype, input, rows, labels, early_exit), None if y is None else np.asarray(y)
    numbers = _resolved(model, wanted, printer, _most_lost(dtype, max_loss))
    return Verdicts(verdicts.verify(model, _rows(X, "X"), known, target=printer, devices=names, numbers=numbers))


def bench(
    model: SparseModel,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    device: str | Iterable[str] | None = None,
    part: str | None = None,
    clock: str | float | None = None,
    budget: Any = None,
    target: str = "c",
    dtype: str = "f32",
    input: str = "f32",
    rows: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    max_loss: float | None = None,
    early_exit: bool = False,
    **options: Any,
) -> Costs:
    """Return what a prediction costs on each device, over the rows of ``X`` or the model's own examples."""
    place, printer = _place(device, part, clock), TARGETS[target].with_options(**options)
    wanted = _format(dtype, input, rows, labels, early_exit)
    given, known = (None if X is None else _rows(X, "X")), (None if y is None else np.asarray(y))
    if known is not None and given is None:
        raise OptionError("y are the labels of X; give X too, or neither")
    return Costs(
        costs.bench(
            model,
            given,
            known,
            target=printer,
            devices=place.names,
            numbers=_resolved(model, wanted, printer, _most_lost(dtype, max_loss)),
            profile=place.profile,
            clock_hz=place.clock_hz,
            budget=budget,
        )
    )


@dataclass(frozen=True)
class _Place:
    """Where predictions run."""

    names: list[str] | None
    profile: Profile | None
    clock_hz: int | None


def _place(device: str | Iterable[str] | None, part: str | None, clock: str | float | None) -> _Place:
    names = None if device is None else [device] if isinstance(device, str) else list(device)
    clock_hz = None if clock is None else parse_hertz(clock if isinstance(clock, str) else f"{clock:.0f}")
    if part is None:
        return _Place(names, None, clock_hz)
    found = part_named(part)
    if names not in (None, [found.device]):
        raise OptionError(f"part {found.name} is measured on device {found.device}; leave device out")
    return _Place([found.device], found.profile, clock_hz)


def _most_lost(dtype: str, max_loss: float | None) -> float | None:
    """Return the points of accuracy that ``auto`` may lose, or ``None`` where a format is named."""
    if max_loss is not None and dtype != AUTO:
        raise OptionError("max_loss goes with dtype='auto'; give both or neither")
    return (DEFAULT_MAX_LOSS if max_loss is None else max_loss) if dtype == AUTO else None


def _resolved(model: SparseModel, wanted: Format, printer: Target, max_loss: float | None) -> Format:
    """Return the format that is wanted, or the one found for ``auto``."""
    return wanted if max_loss is None else choose_format(model, wanted, max_loss, printer.lower).lowered.format


def _format(dtype: str, reads: str, rows: ArrayLike | None, labels: ArrayLike | None, early_exit: bool) -> Format:
    """Return the format that is asked for; any integers stand for ``auto``."""
    if labels is not None and rows is None:
        raise OptionError("labels are those of the calibration rows; give rows too, or neither")
    given = None if rows is None else _rows(rows, "rows")
    known = None if labels is None else np.asarray(labels)
    if given is not None and known is not None and known.shape != (len(given),):
        raise OptionError(f"there are {len(given)} calibration rows, but labels has shape {known.shape}")
    name = INTEGERS[0].name if dtype == AUTO else dtype
    return Format(name, reads, early_exit=early_exit, rows=given, labels=known)


def _rows(X: Any, name: str) -> Array:
    return numeric_matrix(np.asarray(X), name, "the call")


def _names(device: str | Iterable[str] | None) -> list[str] | None:
    return None if device is None else [device] if isinstance(device, str) else list(device)
