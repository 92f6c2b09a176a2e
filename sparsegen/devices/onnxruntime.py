"""ONNX Runtime, or the reference evaluator of the onnx package where ONNX Runtime is not installed."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import DEVICES, Device, Measurement, Outputs, thin
from sparsegen.devices._toolchain import installed
from sparsegen.errors import ModelError, ToolError
from sparsegen.targets import Export

TIMED_RUNS = 101
Evaluate = Callable[[NDArray[np.float32]], tuple[NDArray[Any], NDArray[Any]]]


class OnnxRuntime(Device):
    """Runs ``X`` through the graph's ``label`` and ``scores`` outputs on this computer."""

    name = "onnxruntime"
    description = "ONNX Runtime on this computer"
    runs = "onnx"

    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the device can run here."""
        if installed("onnxruntime") or installed("onnx"):
            return None
        return "no ONNX evaluator found; install one with: pip install onnxruntime"

    def run(self, export: Export, X: NDArray[Any]) -> Outputs:
        """Return the scores, and the class indices of the labels, that the graph gives for every row."""
        rows = self.accept(export, X)
        graph = _graph(export)
        labels, scores = _evaluator(graph)(rows)
        index = {label: i for i, label in enumerate(_classes(graph, export.name))}
        unknown = sorted({str(label) for label in labels.tolist() if label not in index})
        if unknown:
            raise ModelError(
                f"{export.name} gave the label {unknown[0]!r}, which is not among its classes; export again"
            )
        indices = np.array([index[label] for label in labels.tolist()], dtype=np.int32)
        return Outputs(np.asarray(scores, dtype=np.float32).reshape(len(rows), export.n_outputs), indices)

    def measure(self, export: Export, X: NDArray[Any]) -> Measurement:
        """Return the file's size and ONNX Runtime's median latency of one row; the reference evaluator is not timed."""
        rows = thin(self.accept(export, X))
        graph = _graph(export)
        latency = _median_us(_evaluator(graph), rows) if installed("onnxruntime") else None
        return Measurement(flash=len(graph), ram=None, instructions=None, latency_us=latency)


def _graph(export: Export) -> bytes:
    return export.files[export.sources[0]]


def _evaluator(graph: bytes) -> Evaluate:
    if installed("onnxruntime"):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # one row of a small model: threads cost more than they give
        try:
            session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions share no base class but this
            raise ToolError(f"ONNX Runtime refuses the graph: {error}") from error
        return lambda rows: tuple(session.run(["label", "scores"], {"X": rows}))
    from onnx import load_model_from_string
    from onnx.reference import ReferenceEvaluator

    reference = ReferenceEvaluator(load_model_from_string(graph))
    return lambda rows: tuple(reference.run(["label", "scores"], {"X": rows}))


def _classes(graph: bytes, name: str) -> list[int | str]:
    from onnx import load_model_from_string

    properties = {entry.key: entry.value for entry in load_model_from_string(graph).metadata_props}
    try:
        classes = json.loads(properties["classes"])
    except (KeyError, ValueError):
        raise ModelError(f"{name} does not list its classes in its metadata; export it again") from None
    if not isinstance(classes, list):
        raise ModelError(f"the classes in the metadata of {name} are not a list; export it again")
    return classes


def _median_us(evaluate: Evaluate, rows: NDArray[np.float32]) -> float:
    evaluate(rows[:1])
    times = []
    for i in range(TIMED_RUNS):
        row = rows[i % len(rows)][np.newaxis]
        start = time.perf_counter()
        evaluate(row)
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


DEVICES.register("onnxruntime")(OnnxRuntime())
