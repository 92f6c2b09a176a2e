"""ONNX graphs as a device: labels become class indices, in ONNX Runtime and in the reference evaluator."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib import metadata
from typing import Any

import numpy as np
import onnx
import pytest
from narrowing import known
from onnx import TensorProto, helper, numpy_helper

from sparsegen.devices.onnx_reference import OnnxReference
from sparsegen.devices.onnxruntime import OnnxRuntime
from sparsegen.errors import ModelError, ToolError
from sparsegen.targets import Export

W = np.array([[1.0, -1.0, 0.5], [0.25, 2.0, -1.0]], dtype=np.float32)
X = np.random.default_rng(3).integers(-8, 9, size=(40, 2)).astype(np.float32) / np.float32(4)


def graph_export(labels, classes, kind="classes"):
    dtype = TensorProto.STRING if isinstance(labels[0], str) else TensorProto.INT64
    values: Any = [s.encode() if isinstance(s, str) else s for s in labels]  # onnx has no type for strings
    names = helper.make_tensor("names", dtype, [3], values)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["X", "W"], ["scores"]),
            helper.make_node("ArgMax", ["scores"], ["index"], axis=1, keepdims=0),
            helper.make_node("Gather", ["names", "index"], ["label"]),
        ],
        "m",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 2])],
        [
            helper.make_tensor_value_info("label", dtype, [None]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, 3]),
        ],
        [numpy_helper.from_array(W, "W"), names],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    if classes is not None:
        helper.set_model_props(model, {"classes": json.dumps(classes), "labels": kind})
    return Export("onnx", "onnx", "m", {"m.onnx": model.SerializeToString()}, ("m.onnx",), 2, 3, 24, "load m.onnx")


@pytest.fixture(params=[OnnxRuntime, OnnxReference])
def device(request):
    device = request.param()
    if device.missing() is not None:
        pytest.skip(device.missing())
    return device


@pytest.mark.parametrize("labels", [[10, -3, 7], ["walk", "läuft", "0"]], ids=["int", "str"])
def test_scores_and_class_indices(device, labels):
    out = device.run(graph_export(labels, labels), X)
    np.testing.assert_array_equal(out.scores, X @ W)
    np.testing.assert_array_equal(out.labels, np.argmax(X @ W, axis=1))
    assert out.labels.dtype == np.int32 and out.scores.dtype == np.float32


def test_labels_may_be_indices(device):
    out = device.run(graph_export([0, 1, 2], ["b", "a", "c"], "indices"), X)
    np.testing.assert_array_equal(out.labels, np.argmax(X @ W, axis=1))
    with pytest.raises(ModelError, match="gave the label '3', which is not among its classes"):
        device.run(graph_export([0, 1, 3], ["b", "a", "c"], "indices"), X)


@pytest.mark.parametrize("off", [0.0, 1e-3])
def test_two_columns_of_one_output_must_be_opposite(device, off, monkeypatch):
    scores = np.column_stack([-X[:, 0] + np.float32(off), X[:, 0]])
    monkeypatch.setattr(type(device), "evaluator", lambda self, graph: lambda rows: (rows[:, 0] > 0, scores))
    export = replace(graph_export([0, 1, 2], [False, True, 2]), n_outputs=1)
    if off:
        with pytest.raises(ModelError, match="m gave two scores of a row that are not opposite numbers"):
            device.run(export, X)
    else:
        np.testing.assert_array_equal(device.run(export, X).scores, X[:, :1])


def test_measure(device):
    export = graph_export([0, 1, 2], [0, 1, 2])
    cost = device.measure(export, X)
    assert cost.flash == len(export.files["m.onnx"]) and cost.ram is None and cost.instructions is None
    assert (cost.latency_us is None) == isinstance(device, OnnxReference)


def test_a_label_outside_the_classes_is_an_error(device):
    with pytest.raises(ModelError, match="which is not among its classes"):
        device.run(graph_export([0, 1, 2], [5, 6, 7]), X)


def test_missing_classes_are_an_error(device):
    with pytest.raises(ModelError, match="does not list its classes"):
        device.run(graph_export([0, 1, 2], None), X)


def test_what_is_not_installed_does_not_run(hide):
    """The reference evaluator once stood in for ONNX Runtime under its name: a run that was not made."""
    hide("onnxruntime")
    assert known(OnnxRuntime().missing()) == "onnxruntime not found; install it with: pip install onnxruntime"
    with pytest.raises(ToolError, match="device onnxruntime cannot run here: onnxruntime not found"):
        OnnxRuntime().run(graph_export([0, 1, 2], [0, 1, 2]), X)
    assert OnnxReference().missing() is None
    hide("onnx")
    assert "pip install onnx" in known(OnnxReference().missing())


def test_an_installation_that_cannot_be_imported_is_one_sentence(monkeypatch):
    monkeypatch.setattr(OnnxRuntime, "missing", lambda self: None)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ToolError, match="onnxruntime is installed but cannot be imported"):
        OnnxRuntime().run(graph_export([0, 1, 2], [0, 1, 2]), X)


def test_each_names_itself_and_its_version(device):
    assert device.made_by() == f"{device.module} {metadata.version(device.package)}"
