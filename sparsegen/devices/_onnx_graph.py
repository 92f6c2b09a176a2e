"""What all evaluators of ONNX graphs share: rows in, labels and scores out, and the graph's own list of its classes."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.devices import Device, Measurement, Outputs, thin
from sparsegen.devices._toolchain import installed, versioned
from sparsegen.errors import ModelError
from sparsegen.targets import Export

OPPOSITE = 1e-5
"""How far the sum of two opposite scores may be from 0, relative to them, or to 1 where they are smaller."""
Evaluate = Callable[[NDArray[Any]], tuple[NDArray[Any], ...]]
"""Gives all outputs of a graph for rows: labels, scores, and probabilities where the graph has them; or values."""


class GraphEvaluator(Device):
    """Runs ``X`` through the graph's ``label`` and ``scores``, or its ``value``, on this computer, with one package."""

    runs = "onnx"
    package: str
    """The package that evaluates."""
    module: str
    """Its module that does."""

    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the device can run here."""
        found = installed(self.package)
        return None if found else f"{self.package} not found; install it with: pip install {self.package}"

    def made_by(self, *, measuring: bool = False) -> str:
        """Return the evaluator's name and version."""
        return versioned(self.module, self.package)

    @abstractmethod
    def evaluator(self, graph: bytes) -> Evaluate:
        """Return what evaluates a graph, loaded."""

    @abstractmethod
    def latency_us(self, evaluate: Evaluate, rows: NDArray[np.float32]) -> float | None:
        """Return the median latency of one row, or ``None`` where it would mean nothing."""

    def run(self, export: Export, X: NDArray[Any]) -> Outputs:
        """Return the scores, and the class indices of the labels, that the graph gives for every row."""
        rows = self.accept(export, X)
        graph = _graph(export)
        if not export.has_classes:
            (values,) = self.evaluator(graph)(rows)
            return Outputs(np.asarray(values, dtype=np.float32)[:, None], np.zeros(len(rows), dtype=np.int32))
        labels, scores, *more = self.evaluator(graph)(rows)
        index = {label: i for i, label in enumerate(_labels(graph, export.name))}
        unknown = sorted({str(label) for label in labels.tolist() if label not in index})
        if unknown:
            raise ModelError(
                f"{export.name} gave the label {unknown[0]!r}, which is not among its classes; export again"
            )
        indices = np.array([index[label] for label in labels.tolist()], dtype=np.int32)
        probabilities = more[0] if more and export.probability_row is not None else None
        return Outputs(_outputs(np.asarray(scores, dtype=np.float32), export), indices, probabilities)

    def measure(self, export: Export, X: NDArray[Any]) -> Measurement:
        """Return the file's size and the median latency of one row."""
        rows = thin(self.accept(export, X))
        graph = _graph(export)
        latency = self.latency_us(self.evaluator(graph), rows)
        return Measurement(flash=len(graph), ram=None, instructions=None, latency_us=latency)


def _graph(export: Export) -> bytes:
    return export.files[export.sources[0]]


def _outputs(scores: NDArray[np.float32], export: Export) -> NDArray[np.float32]:
    """Return the model's own outputs from a column of scores per class: of two classes, they have one.

    The first class's score must be minus the second's, but for rounding; otherwise both would not be the model's.
    """
    if export.n_outputs > 1 or scores.shape[1] == 1:
        return scores
    first, second = scores.T
    if np.any(np.abs(first + second) > OPPOSITE * np.maximum(1.0, np.abs(second))):
        raise ModelError(f"{export.name} gave two scores of a row that are not opposite numbers; export it again")
    return scores[:, 1:]


def _labels(graph: bytes, name: str) -> list[int | str]:
    """Return what ``label`` may hold, in the order of the classes."""
    from onnx import load_model_from_string

    properties = {entry.key: entry.value for entry in load_model_from_string(graph).metadata_props}
    try:
        classes = json.loads(properties["classes"])
    except (KeyError, ValueError):
        raise ModelError(f"{name} does not list its classes in its metadata; export it again") from None
    if not isinstance(classes, list):
        raise ModelError(f"the classes in the metadata of {name} are not a list; export it again")
    return list(range(len(classes))) if properties.get("labels") == "indices" else classes
