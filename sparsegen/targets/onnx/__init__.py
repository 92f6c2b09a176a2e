"""ONNX: one graph of plain operators; input ``X`` (n, d), outputs ``label`` (n,) and ``scores`` (n, n_classes).

A model with probabilities has the output ``probabilities`` (n, n_classes) too, and, where a confidence is asked for,
``predict_or_reject`` (n,). A regression has one output, ``value`` (n,).

The graph computes the same program as the C export, so both agree. The largest score decides the label, and the first
wins on ties. Names and shapes are skl2onnx's where it has them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegen.errors import OptionError
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.probabilities import FloatProbabilities
from sparsegen.lowering.program import Program
from sparsegen.model.task import ANOMALY, CLASSIFICATION, REGRESSION
from sparsegen.targets import PORTABLE, TARGETS, Export, Target
from sparsegen.targets.card import float_card_lines
from sparsegen.targets.onnx.graph import Graph
from sparsegen.targets.onnx.outputs import (
    SCORES,
    add_label,
    add_probabilities,
    add_rejection,
    add_value,
    declare_scores,
)
from sparsegen.targets.onnx.scores import add_scores
from sparsegen.targets.render import check_name
from sparsegen.version import __version__

OLDEST_OPSET = 9
DEFAULT_OPSET = 17
GRAPH_DOC = "A sparse kernel machine: a score per class, and the class of the largest; the first wins on ties."
DETECTOR_DOC = (
    "A sparse kernel machine that tells normal rows from anomalies: a score of each, one the other's negative, and the "
    "class of the larger; a score of 0 is an anomaly."
)
VALUE_DOC = "A sparse kernel machine: a value for each row."
DOCS = {CLASSIFICATION: GRAPH_DOC, ANOMALY: DETECTOR_DOC, REGRESSION: VALUE_DOC}


@dataclass(frozen=True)
class Onnx(Target):
    """A graph that any ONNX runtime loads."""

    opset: int = DEFAULT_OPSET
    """The version of ONNX's operators."""
    integer_labels: bool = False
    """Whether ``label`` is the index of a class even where classes are texts, which some runtimes do not have."""
    float64: bool = False
    """Whether ``X`` is float64; the graph rounds it to float32 and computes in that."""

    name = "onnx"
    description = "ONNX graph of plain operators, int64 or string labels, free batch dimension"

    runs_as = "onnx"
    base_two = False

    def __post_init__(self) -> None:
        if self.opset != DEFAULT_OPSET:  # which every onnx knows: it need not be loaded to list the targets
            self._check_opset()

    def _check_opset(self) -> None:
        import onnx

        newest = onnx.defs.onnx_opset_version()
        if not OLDEST_OPSET <= self.opset <= newest:
            raise OptionError(
                f"opset {self.opset} is none of {OLDEST_OPSET} to {newest}, which onnx {onnx.__version__} knows; "
                "choose one of them"
            )

    def write(self, lowered: Lowered, name: str, loops: str = PORTABLE) -> Export:
        """Return ``<name>.onnx``; the graph has no loops of its own."""
        import onnx

        check_name(name)
        model, program = lowered.model, lowered.program
        if not isinstance(program, Program):
            raise OptionError("an ONNX graph holds float32 only; export integers as C", change={"target": "c"})
        graph = Graph(self.opset)
        rows = graph.rows("X", program.n_features, self.input_dtype)
        add_scores(graph, program, rows, output=SCORES)
        if model.has_classes:
            add_label(graph, model, integers=self.integer_labels)  # outputs in the order in which a runtime gives them
            declare_scores(graph, model)
        else:
            self._require_classes()
            add_value(graph)
        if isinstance(made := lowered.probabilities, FloatProbabilities):
            add_probabilities(graph, made)
            if made.rejects_below is not None:
                add_rejection(graph, made)
        card = dict(float_card_lines(lowered, program, graph.table_bytes))
        doc = DOCS[model.task]
        proto = graph.proto(name, doc, documentation(card), __version__)
        labels = "indices" if self.integer_labels else "classes"
        of_classes = {"classes": json.dumps(list(model.classes)), "labels": labels} if model.has_classes else {}
        of_task = {} if model.task == CLASSIFICATION else {"task": model.task}
        documents = {**of_task, **of_classes, "card": json.dumps(card)}
        onnx.helper.set_model_props(proto, documents)
        onnx.checker.check_model(proto, full_check=True)
        return Export(
            target=self.name,
            runs_as=self.runs_as,
            name=name,
            files={f"{name}.onnx": proto.SerializeToString(deterministic=True)},
            sources=(f"{name}.onnx",),
            n_features=program.n_features,
            n_outputs=program.n_outputs,
            table_bytes=graph.table_bytes,
            usage=f"onnxruntime.InferenceSession({f'{name}.onnx'!r}).run(None, {{'X': X}})",
            input_dtype=self.input_dtype,
            lowered=lowered,
        )

    def _require_classes(self) -> None:
        """Raise an error where something is asked for that a graph which gives values does not have."""
        if self.integer_labels:
            raise OptionError("a regression gives values and no labels, which cannot be integers; leave them out")

    @property
    def input_dtype(self) -> np.dtype[Any]:
        """The type of ``X``."""
        return np.dtype(np.float64 if self.float64 else np.float32)


def documentation(card: dict[str, str]) -> str:
    """Return the card as text, a line for each entry."""
    return "\n".join(f"{key}: {value}" for key, value in card.items())


TARGETS.register("onnx")(Onnx())
