"""Export targets, one per file: they print a lowered program as files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen.errors import OptionError
from sparsegen.files import write_all
from sparsegen.lowering import lower
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.program import Program
from sparsegen.model import SparseModel
from sparsegen.registry import Registry

PORTABLE = "portable"
FLOAT = np.dtype(np.float32)


@dataclass(frozen=True, repr=False)
class Export:
    """The files of one exported model, and what a device must know to run them."""

    target: str
    runs_as: str
    """What kind of device runs it: ``c`` or ``onnx``."""
    name: str
    """Prefix of every symbol and stem of every file."""
    files: Mapping[str, bytes]
    sources: tuple[str, ...]
    """Names of the files to compile (or to load) for the model alone."""
    n_features: int
    n_outputs: int
    table_bytes: int
    """Bytes of constants that a prediction reads."""
    usage: str
    """The command that compiles or loads the export, shown to the user."""
    input_dtype: np.dtype[Any] = FLOAT
    """The type of one feature as the export reads it."""
    score_dtype: np.dtype[Any] = FLOAT
    """The type of one score as the export writes it."""
    gate: str | None = None
    """The file without which none of the others can be used, where there are several."""
    lowered: Lowered | None = None
    """What the files compute; ``None`` for code that was not lowered from a model."""

    @property
    def program(self) -> Program | IntegerProgram:
        """The program that the files compute."""
        if self.lowered is None:
            raise ValueError(f"{self.name} was not lowered from a model")
        return self.lowered.program

    @property
    def has_classes(self) -> bool:
        """Whether a prediction is a class, as that of code not lowered from a model is; otherwise it is a value."""
        return self.lowered is None or self.lowered.model.has_classes

    @property
    def entry(self) -> str:
        """The C function that makes a prediction: what a device calls, and what its cost is measured of."""
        return f"{self.name}_{'predict' if self.has_classes else 'value'}"

    @property
    def probability_row(self) -> np.dtype[Any] | None:
        """The type of all probabilities of one row; ``None`` where the export has none."""
        made = None if self.lowered is None else self.lowered.probabilities
        return None if made is None else np.dtype((made.dtype, (made.n_classes,)))

    def __repr__(self) -> str:
        dtype = "" if self.lowered is None else f", {self.lowered.format.dtype}"
        promises = [] if self.lowered is None else [f"{subject}: {text}" for subject, text in self.lowered.promises]
        head = f"{self.target} export {self.name!r}: {self.table_bytes:,} bytes of tables{dtype}"
        return "\n".join([head, *(f"  {path}" for path in self.files), *promises, f"next: {self.usage}"])

    def save(self, folder: Path, *, force: bool = False) -> None:
        """Write the files; a build never sees some of this export and some of an older one.

        Files that sparsegen did not write are overwritten only where ``force`` insists on it.
        """
        write_all(folder, self.files, gate=self.gate, force=force)


class Target(ABC):
    """Prints lowered programs as files."""

    name: str
    description: str
    runs_as: str = "c"
    """What kind of device runs its exports: ``c`` or ``onnx``."""
    base_two: bool = True
    """Whether its code has its own exponential, in base 2."""

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that this target alone has: the fields of a target that is a dataclass."""
        return tuple(field.name for field in fields(self)) if is_dataclass(self) else ()

    def with_options(self, **options: Any) -> Target:
        """Return this target with some of its own options set, such as an ONNX graph's ``opset``."""
        for name in options:
            if name not in self.options:
                raise self._unknown(name)
        return replace(self, **options) if is_dataclass(self) else self

    def _unknown(self, option: str) -> OptionError:
        others = [target.name for target in TARGETS.values() if option in target.options]
        if others:
            advice, change = f"only {' and '.join(others)} has it", {"target": others[0]}
        else:
            advice, change = f"it has {', '.join(self.options) or 'none'}", {}
        return OptionError(f"target {self.name} has no option {option!r}; {advice}", change=change)

    def lower(self, model: SparseModel, numbers: Format = FLOAT32) -> Lowered:
        """Return a model as the program that this target prints."""
        return lower(model, numbers, base_two=self.base_two)

    @abstractmethod
    def write(self, lowered: Lowered, name: str, loops: str = PORTABLE) -> Export:
        """Return the files for a program with every symbol prefixed by ``name``.

        ``loops`` names the inner loops of C: portable ones, or those for a kind of processor.
        """

    def export(self, model: SparseModel, name: str, numbers: Format = FLOAT32, loops: str = PORTABLE) -> Export:
        """Return the files for a model: :meth:`lower`, then :meth:`write`."""
        return self.write(self.lower(model, numbers), name, loops)


TARGETS: Registry[Target] = Registry("target", __name__)


def as_target(target: str | Target) -> Target:
    """Return a target that is given by its name, or as it is: with options of its own."""
    return TARGETS[target] if isinstance(target, str) else target


def c_table_bytes(model: SparseModel) -> int:
    """Return the bytes of constants that a prediction in float32 C reads."""
    return TARGETS["c"].export(model, "model").table_bytes
