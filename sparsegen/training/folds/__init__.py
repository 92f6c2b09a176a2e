"""What may stand in front of a classifier, folded into the model so that raw features go in.

One kind of transformer per file, registered at its foot. Most are affine and become part of the model's transform; one
that is not says itself what model it makes of the model behind it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sparsegen.errors import OptionError
from sparsegen.model import SparseModel, Transform
from sparsegen.registry import Registry
from sparsegen.training.fitted import entry_for, is_passthrough, name_of, names_of, require_fitted


@dataclass(frozen=True)
class Fold(ABC):
    """How transformers of some classes become part of a model."""

    kinds: tuple[type, ...]
    is_exact: ClassVar[bool] = True
    """Whether there is an exact form; what has none is refused by its own sentence."""

    @abstractmethod
    def into(self, step: Any, model: SparseModel) -> SparseModel:
        """Return the model of the rows in front of a fitted transformer, given that of the rows behind it."""

    def not_affine(self, step: Any) -> str:
        """Return in a sentence that a transformer cannot stand where only affine maps can."""
        return f"{name_of(step)} is no linear map of its columns; let it be a step of the pipeline itself"


@dataclass(frozen=True)
class Affine(Fold):
    """Transformers that compute an affine map of a row."""

    transform_of: Callable[[Any], Transform | None]
    """Returns the map; ``None`` where a row stays as it is."""

    def into(self, step: Any, model: SparseModel) -> SparseModel:
        """Return the model with the map as part of its transform."""
        transform = self.transform_of(step)
        return model if transform is None else replace(model, transform=model.transform.behind(transform))


FOLDS: Registry[Fold] = Registry("fold", __name__)


def fold(step: Any, model: SparseModel) -> SparseModel:
    """Return the model of raw rows, given that of the rows ``step`` returns."""
    return model if is_passthrough(step) else _entry(step).into(step, model)


def transform_of(step: Any) -> Transform | None:
    """Return the affine map that a step computes, ``None`` where it changes nothing; raise if it is not affine."""
    if is_passthrough(step):
        return None
    entry = _entry(step)
    if not isinstance(entry, Affine):
        raise OptionError(entry.not_affine(step))
    return entry.transform_of(step)


def _entry(step: Any) -> Fold:
    entry = entry_for(step, FOLDS.values())
    if entry is None:
        known = [entry for entry in FOLDS.values() if entry.is_exact]
        raise OptionError(f"{name_of(step)} in a pipeline cannot be folded into the model; use only: {names_of(known)}")
    require_fitted(step)
    return entry
