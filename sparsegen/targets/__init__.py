"""Export targets, one per file: a SparseModel becomes files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsegen.model import SparseModel


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


class Target(ABC):
    """Turns a model into files."""

    name: str
    description: str

    @abstractmethod
    def export(self, model: SparseModel, name: str) -> Export:
        """Return the files for ``model`` with every symbol prefixed by ``name``."""
