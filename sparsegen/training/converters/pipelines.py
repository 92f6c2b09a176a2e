"""Pipelines: the classifier at the end, with everything in front of it folded in."""

from __future__ import annotations

from dataclasses import replace

from sklearn.pipeline import Pipeline

from sparsegen.model import SparseModel
from sparsegen.training.converters import CONVERTERS, Converter, convert
from sparsegen.training.fitted import is_passthrough, name_of
from sparsegen.training.folds import fold


def _pipeline(pipeline: Pipeline) -> SparseModel:
    *front, (_, last) = pipeline.steps
    model = convert(last)
    steps = [step for _, step in front if not is_passthrough(step)]
    folded = [name_of(step) for step in steps] + list(model.card.get("folded", []))
    for step in reversed(steps):
        model = fold(step, model)
    return replace(model, card={**model.card, "folded": folded})


CONVERTERS.register("pipeline")(Converter((Pipeline,), _pipeline))
