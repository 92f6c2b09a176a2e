"""The ONNX export: a valid graph whose runtime gives the model's scores and labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from golden_models import EVERY, SMALL, model, rbf, rows
from onnx.reference import ReferenceEvaluator

from sparsegen.kernels import KERNELS
from sparsegen.targets import TARGETS

GOLDEN = Path(__file__).parent.parent / "golden"


def graph(of, name="m"):
    return TARGETS["onnx"].export(of, name).files[f"{name}.onnx"]


def run(of, X):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(graph(of), providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], {"X": X.astype(np.float32)})


def agree(of, X, labels, scores):
    expected = of.scores(X)
    assert scores.shape == expected.shape
    assert np.abs(scores - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max())
    assert labels.tolist() == of.predict(X).tolist()


@pytest.mark.parametrize("name", EVERY)
def test_runtime_gives_scores_and_labels(name):
    X = rows(EVERY[name])
    agree(EVERY[name], X, *run(EVERY[name], X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [(0, 1), ("a", "b", "c")], ids=["binary", "multi"])
def test_every_kernel(kernel, classes):
    of = model([(kernel, {})], 5, 4, classes)
    onnx.checker.check_model(onnx.load_model_from_string(graph(of)), full_check=True)
    agree(of, rows(of), *run(of, rows(of)))


@pytest.mark.parametrize(
    "classes",
    [
        (-5, 3),
        (-(2**63), 2**63 - 1, 0),
        (2**40, 2**40 + 1),
        ("größe", "日本"),
        ("a", "b", "🎈 c"),
        ('"', "\\", "%s"),
        ("1", "2"),
    ],
)
def test_labels_are_the_classes_themselves(classes):
    of = model([rbf()], 4, 3, classes)
    labels, _ = run(of, rows(of, 30))
    assert labels.tolist() == of.predict(rows(of, 30)).tolist()
    assert len(set(labels.tolist())) > 1
    assert labels.dtype == (np.int64 if isinstance(classes[0], int) else object)


@pytest.mark.parametrize("n", [0, 1, 2, 500])
@pytest.mark.parametrize("name", ["binary_rbf", "laplacian_text"])
def test_any_number_of_rows(name, n):
    of = SMALL[name]
    labels, scores = run(of, rows(of, 500)[:n])
    assert labels.shape == (n,)
    assert scores.shape == (n, of.n_outputs)
    assert labels.tolist() == of.predict(rows(of, 500)[:n]).tolist()


def test_reference_evaluator_agrees():
    for of in SMALL.values():
        X = rows(of)
        labels, scores = ReferenceEvaluator(onnx.load_model_from_string(graph(of))).run(
            None, {"X": X.astype(np.float32)}
        )
        agree(of, X, np.array(np.asarray(labels).tolist()), scores)


def test_metadata_holds_classes_and_card():
    properties = {p.key: p.value for p in onnx.load_model_from_string(graph(SMALL["binary_rbf"])).metadata_props}
    assert json.loads(properties["classes"]) == [0, 1]
    assert json.loads(properties["card"])["x[2]"] == "größe"
    assert json.loads(properties["card"])["method"] == "by hand"


def test_same_bytes_every_time():
    assert graph(EVERY["several_kernels"]) == graph(EVERY["several_kernels"])


@pytest.mark.parametrize("name", SMALL)
def test_golden(name, update_golden):
    text = onnx.printer.to_text(onnx.load_model_from_string(graph(SMALL[name], name)))
    path = GOLDEN / name / f"{name}.onnx.txt"
    if update_golden:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    golden = onnx.printer.to_text(onnx.parser.parse_model(path.read_text()))  # older printers show fewer digits
    assert text == golden, f"{path.name} changed; see pytest --update-golden"
