"""Files of models, sparsegen's own and those of others, one format per file. Nothing in a file is ever executed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sparsegen.data.checks import printable
from sparsegen.errors import ModelError, OptionError
from sparsegen.model.file import read_bytes
from sparsegen.model.sparse_model import SparseModel
from sparsegen.registry import Registry


@dataclass(frozen=True)
class ModelReader:
    """A format that others write."""

    description: str
    recognises: Callable[[bytes, str], bool]
    """Takes the file's bytes and its suffix."""
    read: Callable[[bytes, str, int | None], SparseModel]
    """Takes the file's bytes, its printable name, and how many features rows have; raises a ModelError."""


MODEL_READERS: Registry[ModelReader] = Registry("model reader", __name__)


def read_model(path: str | Path, n_features: int | None = None) -> SparseModel:
    """Return the model in a file of sparsegen, or of any format that has a reader.

    Formats that leave out zeros do not say how many features rows have; ``n_features`` does.
    """
    path = Path(path)
    content, source = read_bytes(path), printable(path.name)
    for reader in MODEL_READERS.values():
        if reader.recognises(content, path.suffix.lower()):
            try:
                return reader.read(content, source, n_features)
            except OptionError as error:
                raise ModelError(f"{source} cannot be used: {error}") from None
    return SparseModel.load(path)
