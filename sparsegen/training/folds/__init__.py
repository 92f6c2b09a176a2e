"""What may stand in front of a classifier, folded into the model so that raw features go in.

One kind of transformer per file, registered at its foot. An entry takes the fitted transformer and the model of the
rows behind it, and returns the model of the rows in front of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sparsegen.errors import OptionError
from sparsegen.model import SparseModel, Transform
from sparsegen.registry import Registry
from sparsegen.training.fitted import entry_for, name_of, names_of, require_fitted


@dataclass(frozen=True)
class Fold:
    """How transformers of some classes become part of a model."""

    kinds: tuple[type, ...]
    into: Callable[[Any, SparseModel], SparseModel]


FOLDS: Registry[Fold] = Registry("fold", __name__)


def fold(step: Any, model: SparseModel) -> SparseModel:
    """Return the model of raw rows, given that of the rows ``step`` returns."""
    entry = entry_for(step, FOLDS.values())
    if entry is None:
        raise OptionError(
            f"{name_of(step)} in a pipeline cannot be folded into the model; use only: {names_of(FOLDS.values())}"
        )
    require_fitted(step)
    return entry.into(step, model)


def affine(transform_of: Callable[[Any], Transform]) -> Callable[[Any, SparseModel], SparseModel]:
    """Return how a transformer folds that computes what the transform ``transform_of(transformer)`` does."""

    def into(step: Any, model: SparseModel) -> SparseModel:
        return replace(model, transform=model.transform.behind(transform_of(step)))

    return into
