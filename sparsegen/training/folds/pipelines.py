"""Pipelines of transformers: each of their steps."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from sparsegen.model import SparseModel, Transform
from sparsegen.training.folds import FOLDS, Affine, fold, transform_of


class _Steps(Affine):
    """Steps one after the other, which need not be affine where the pipeline itself is a step of a pipeline."""

    def into(self, step: Any, model: SparseModel) -> SparseModel:
        for _, inner in reversed(step.steps):
            model = fold(inner, model)
        return model


def _composed(pipeline: Pipeline) -> Transform | None:
    behind: Transform | None = None
    for _, step in reversed(pipeline.steps):
        own = transform_of(step)
        behind = own if behind is None else behind if own is None else behind.behind(own)
    return behind


FOLDS.register("pipelines")(_Steps((Pipeline,), _composed))
