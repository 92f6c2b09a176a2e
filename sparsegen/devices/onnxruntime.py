"""ONNX Runtime: what most users of an exported graph will run it with."""

from __future__ import annotations

import statistics
import time

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import DEVICES
from sparsegen.devices._onnx_graph import Evaluate, GraphEvaluator
from sparsegen.errors import ToolError

TIMED_RUNS = 101


class OnnxRuntime(GraphEvaluator):
    """ONNX Runtime on one processor."""

    name = "onnxruntime"
    description = "ONNX Runtime on this computer"
    package = module = "onnxruntime"

    def evaluator(self, graph: bytes) -> Evaluate:
        """Return a session of ONNX Runtime."""
        try:
            import onnxruntime
        except ImportError as error:
            raise ToolError(f"onnxruntime is installed but cannot be imported: {error}; install it again") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # one row of a small model: threads cost more than they give
        try:
            session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions share no base class but this
            raise ToolError(f"ONNX Runtime refuses the graph: {error}") from error
        return lambda rows: tuple(session.run(None, {"X": rows}))

    def latency_us(self, evaluate: Evaluate, rows: NDArray[np.float32]) -> float | None:
        """Return the median latency of one row."""
        evaluate(rows[:1])
        times = []
        for i in range(TIMED_RUNS):
            row = rows[i % len(rows)][np.newaxis]
            start = time.perf_counter()
            evaluate(row)
            times.append((time.perf_counter() - start) * 1e6)
        return statistics.median(times)


DEVICES.register("onnxruntime")(OnnxRuntime())
