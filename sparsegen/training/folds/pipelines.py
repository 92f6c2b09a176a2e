"""A pipeline of transformers: each of its steps."""

from __future__ import annotations

from sklearn.pipeline import Pipeline

from sparsegen.model import SparseModel
from sparsegen.training.fitted import is_passthrough
from sparsegen.training.folds import FOLDS, Fold, fold


def _pipeline(pipeline: Pipeline, model: SparseModel) -> SparseModel:
    for _, step in reversed(pipeline.steps):
        model = model if is_passthrough(step) else fold(step, model)
    return model


FOLDS.register("pipeline")(Fold((Pipeline,), _pipeline))
