"""The reference evaluator of the onnx package: what the standard says a graph computes, operator by operator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import DEVICES
from sparsegen.devices._onnx_graph import Evaluate, GraphEvaluator


class OnnxReference(GraphEvaluator):
    """``onnx.reference``, in NumPy."""

    name = "onnx-reference"
    description = "reference evaluator of the onnx package"
    package, module = "onnx", "onnx.reference"

    def evaluator(self, graph: bytes) -> Evaluate:
        """Return the reference evaluator of a graph."""
        from onnx import load_model_from_string
        from onnx.reference import ReferenceEvaluator

        reference = ReferenceEvaluator(load_model_from_string(graph))
        return lambda rows: tuple(reference.run(None, {"X": rows}))

    def latency_us(self, evaluate: Evaluate, rows: NDArray[np.float32]) -> float | None:
        """Return ``None``: it is made to be right, not fast."""
        return None


DEVICES.register("onnx-reference")(OnnxReference())
