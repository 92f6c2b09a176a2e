"""What a graph gives for each row: one function per output, which adds the output's nodes and declares it."""

from __future__ import annotations

import numpy as np

from sparsegen.model import SparseModel
from sparsegen.targets.onnx.graph import Graph

SCORES = "scores"
"""The tensor of scores, a column per class, from which every other output is made."""


def add_label(graph: Graph, model: SparseModel, *, integers: bool) -> None:
    """Add the class of the largest score, or its index; the first wins on ties."""
    is_index = integers or model.classes == tuple(range(len(model.classes)))
    if is_index:
        graph.first_largest(SCORES, output="label", doc="the first of the largest scores")
    else:
        first = graph.first_largest(SCORES, output="class_index", doc="the first of the largest scores")
        graph.node("Gather", graph.labels("classes", model.classes), first, output="label", axis=0)
    is_text = isinstance(model.classes[0], str) and not is_index
    meaning = "index of the class among the metadata's classes" if integers else "the class"
    graph.output("label", np.dtype(np.object_ if is_text else np.int64), doc=meaning)


def declare_scores(graph: Graph, model: SparseModel) -> None:
    """Make the scores an output."""
    graph.output(SCORES, np.dtype(np.float32), len(model.classes), doc="a score per class; the largest is the label's")
