"""What one does with a model in Python: ``model.export(...)``, ``model.verify(...)``, ``model.bench(...)``.

The methods of :class:`~sparsegen.model.SparseModel` lead here. They do on arrays what the commands of these names do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sparsegen import bench as costs
from sparsegen import verify as verdicts
from sparsegen.arrays import Array
from sparsegen.data.checks import numeric_matrix
from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError
from sparsegen.files import require_folder
from sparsegen.lowering.choose_format import AUTO, DEFAULT_MAX_LOSS, lower_checked
from sparsegen.lowering.formats import INTEGERS, Format
from sparsegen.model import SparseModel
from sparsegen.targets import PORTABLE, TARGETS, Export


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
    force: bool = False,
    **options: Any,
) -> Export:
    """Return a model as source code or as a graph; written into ``folder`` if there is one."""
    if max_loss is not None and dtype != AUTO:
        raise OptionError("max_loss goes with dtype='auto'; give both or neither")
    if folder is not None:
        require_folder(Path(folder))
    printer = TARGETS[target].with_options(**options)
    loops = PORTABLE if device is None else DEVICES[device].loops
    most = (DEFAULT_MAX_LOSS if max_loss is None else max_loss) if dtype == AUTO else None
    wanted = _format(INTEGERS[0].name if dtype == AUTO else dtype, input, rows, labels, early_exit)
    wanted = replace(wanted, reject=reject)
    exported = printer.write(lower_checked(model, wanted, printer.lower, max_loss=most, force=force), name, loops)
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
    early_exit: bool = False,
    **options: Any,
) -> Verdicts:
    """Return one verdict for each device: whether the export computes there, for every row, what Python computes."""
    numbers, known = _format(dtype, input, rows, labels, early_exit), None if y is None else np.asarray(y)
    printer, names = TARGETS[target].with_options(**options), _names(device)
    return Verdicts(verdicts.verify(model, _rows(X, "X"), known, target=printer, devices=names, numbers=numbers))


def bench(
    model: SparseModel,
    X: ArrayLike | None = None,
    *,
    device: str | Iterable[str] | None = None,
    target: str = "c",
    dtype: str = "f32",
    input: str = "f32",
    rows: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    early_exit: bool = False,
    **options: Any,
) -> Costs:
    """Return what a prediction costs on each device, over the rows of ``X`` or the model's own examples."""
    numbers, given = _format(dtype, input, rows, labels, early_exit), None if X is None else _rows(X, "X")
    printer, names = TARGETS[target].with_options(**options), _names(device)
    return Costs(costs.bench(model, given, target=printer, devices=names, numbers=numbers))


def _format(dtype: str, reads: str, rows: ArrayLike | None, labels: ArrayLike | None, early_exit: bool) -> Format:
    if labels is not None and rows is None:
        raise OptionError("labels are those of the calibration rows; give rows too, or neither")
    given = None if rows is None else _rows(rows, "rows")
    known = None if labels is None else np.asarray(labels)
    if given is not None and known is not None and known.shape != (len(given),):
        raise OptionError(f"there are {len(given)} calibration rows, but labels has shape {known.shape}")
    return Format(dtype, reads, early_exit=early_exit, rows=given, labels=known)


def _rows(X: Any, name: str) -> Array:
    return numeric_matrix(np.asarray(X), name, "the call")


def _names(device: str | Iterable[str] | None) -> list[str] | None:
    return None if device is None else [device] if isinstance(device, str) else list(device)
