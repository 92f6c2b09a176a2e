"""Export targets, one per file: a SparseModel becomes files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.registry import Registry

if TYPE_CHECKING:
    from sparsegen.lowering.integer_program import IntegerProgram
    from sparsegen.model import SparseModel

C_TYPES = {
    "float32": "float",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
}


@dataclass(frozen=True)
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
    format: Format = FLOAT32
    integer: IntegerProgram | None = None
    """What an integer export computes, to the bit; ``None`` for float32."""
    promises: tuple[tuple[str, str], ...] = ()
    """What is guaranteed or was measured of an integer export: (subject, sentence)."""

    @property
    def input_dtype(self) -> np.dtype[Any]:
        """The type of one feature as the export reads it."""
        return np.dtype(np.float32) if self.integer is None else self.integer.input_dtype

    @property
    def score_dtype(self) -> np.dtype[Any]:
        """The type of one score as the export writes it."""
        return np.dtype(np.float32 if self.integer is None else np.int32)


class Target(ABC):
    """Turns a model into files."""

    name: str
    description: str

    @abstractmethod
    def export(self, model: SparseModel, name: str, numbers: Format = FLOAT32) -> Export:
        """Return the files for ``model`` with every symbol prefixed by ``name``."""


TARGETS: Registry[Target] = Registry("target", __name__)


def c_table_bytes(model: SparseModel) -> int:
    """Return the bytes of constants that a prediction in float32 C reads."""
    return TARGETS["c"].export(model, "model").table_bytes
