"""The ONNX export: a valid graph whose runtime gives the model's scores and labels."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from golden_models import EVERY, SMALL, model, rbf, rows
from onnx.reference import ReferenceEvaluator

from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import Format
from sparsegen.model import Calibration, SparseModel, Transform
from sparsegen.targets import TARGETS
from sparsegen.verify import verify
from sparsegen.version import __version__

GOLDEN = Path(__file__).parent.parent / "golden"
DOCS = GOLDEN.parent.parent / "docs"


CLASSIFIERS = {name: of for name, of in EVERY.items() if of.has_classes}
"""Every kind that gives classes."""
OPSETS = range(9, onnx.defs.onnx_opset_version() + 1)


def graph(of, name="m", **options):
    return TARGETS["onnx"].with_options(**options).export(of, name).files[f"{name}.onnx"]


def run(of, X, **options):
    return evaluate(graph(of, **options), X)


def evaluate(graph, X):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], {"X": X.astype(np.float32)})


def by_the_standard(graph, X):
    labels, scores = ReferenceEvaluator(onnx.load_model_from_string(graph)).run(["label", "scores"], {"X": X})
    return np.array(np.asarray(labels).tolist()), scores


def per_class(scores):
    """Return a column per class: two classes have opposite scores."""
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def agree(of, X, labels, scores):
    expected = per_class(of.scores(X))
    assert scores.shape == expected.shape
    assert np.abs(scores - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max())
    assert labels.tolist() == of.predict(X).tolist()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_runtime_gives_scores_and_labels(name):
    X = rows(EVERY[name])
    agree(EVERY[name], X, *run(EVERY[name], X))


def test_the_document_of_a_detector_speaks_of_normal_and_anomaly():
    proto = onnx.load_model_from_string(graph(SMALL["detector"]))
    assert "tells normal rows from anomalies" in proto.graph.doc_string
    told = {output.name: output.doc_string for output in proto.graph.output}
    assert told["label"] == "the class: normal or anomaly"
    assert told["scores"].startswith("the score of an anomaly, and that of normal, its negative")


@pytest.mark.parametrize("opset", [9, 12, 13, 17])
def test_a_regression_gives_one_value_for_each_row(opset):
    runtime = pytest.importorskip("onnxruntime")
    of = SMALL["value"]
    made, X = graph(of, opset=opset), rows(of).astype(np.float32)
    session = runtime.InferenceSession(made, providers=["CPUExecutionProvider"])
    assert [(one.name, one.shape) for one in session.get_outputs()] == [("value", ["n"])]
    for (values,) in (
        session.run(None, {"X": X}),
        ReferenceEvaluator(onnx.load_model_from_string(made)).run(None, {"X": X}),
    ):
        assert np.allclose(values, of.predict(X), rtol=1e-6)
    properties = {p.key: p.value for p in onnx.load_model_from_string(made).metadata_props}
    assert properties["task"] == "regression" and "classes" not in properties
    with pytest.raises(OptionError, match="values and no labels"):
        graph(of, integer_labels=True)


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
    assert scores.shape == (n, len(of.classes))
    assert labels.tolist() == of.predict(rows(of, 500)[:n]).tolist()


def test_reference_evaluator_agrees():
    for of in CLASSIFIERS.values():
        X = rows(of)
        agree(of, X, *by_the_standard(graph(of), X.astype(np.float32)))


@pytest.mark.parametrize("opset", OPSETS)
def test_every_opset_gives_the_labels(opset):
    """Operators took their axes in another way before 13 and 18, and ArgMax could not say which tie wins before 12."""
    runtime = pytest.importorskip("onnxruntime")
    for name in ("binary_rbf", "laplacian_text", "matern32", "poly", "rbf_filled"):
        of = SMALL[name]
        made, X = graph(of, opset=opset), rows(of)
        proto = onnx.load_model_from_string(made)
        assert [entry.version for entry in proto.opset_import] == [opset]
        agree(of, X, *by_the_standard(made, X.astype(np.float32)))
        state = runtime.capi.onnxruntime_pybind11_state
        try:
            found = evaluate(made, X)
        except (state.Fail, state.InvalidArgument) as error:  # newer than this runtime
            assert opset > 21
            assert re.search("opset|IR version", str(error))
        else:
            agree(of, X, *found)


@pytest.mark.parametrize("opset", [9, 11, 12, 17, 21])
@pytest.mark.parametrize("classes", [(0, 1), ("c", "a", "b")], ids=["binary", "multi"])
def test_the_first_wins_on_ties_at_every_opset(opset, classes):
    n_outputs = 1 if len(classes) == 2 else 3
    of = SparseModel(
        np.zeros((1, 2)), np.zeros((n_outputs, 1, 1)), np.zeros(n_outputs), (KERNELS["rbf"].bind(gamma=1.0),),
        Transform(np.zeros(2), np.ones(2)), classes,
    )  # fmt: skip
    labels, scores = run(of, np.ones((3, 2)), opset=opset)
    assert labels.tolist() == [classes[0]] * 3
    assert not scores.any()


@pytest.mark.parametrize("opset", [8, 0, -1, 1000])
def test_an_opset_that_is_not_known_is_one_sentence(opset):
    with pytest.raises(OptionError, match=f"opset {opset} is none of 9 to {OPSETS[-1]}, which onnx .* knows"):
        TARGETS["onnx"].with_options(opset=opset)


@pytest.mark.parametrize("name", ["binary_rbf", "laplacian_text", "linear"])
def test_indices_stand_for_labels_on_request(name):
    """tract, OpenCV, tinygrad and MNN refuse a graph with texts in it."""
    of, X = SMALL[name], rows(SMALL[name])
    proto = onnx.load_model_from_string(graph(of, integer_labels=True))
    kinds = {constant.data_type for constant in proto.graph.initializer}
    kinds |= {output.type.tensor_type.elem_type for output in proto.graph.output}
    assert kinds <= {onnx.TensorProto.FLOAT, onnx.TensorProto.INT64}
    labels, _ = run(of, X, integer_labels=True)
    assert labels.dtype == np.int64
    assert labels.tolist() == of.predict_index(X).tolist()
    properties = {p.key: p.value for p in proto.metadata_props}
    assert (json.loads(properties["classes"]), properties["labels"]) == (list(of.classes), "indices")


@pytest.mark.parametrize("opset", [9, 17])
def test_float64_rows_are_rounded_first(opset):
    of = SMALL["rbf_buffered"]
    X = rows(of) + 1e-9
    made = graph(of, float64=True, opset=opset)
    agree(of, X, *by_the_standard(made, X))
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(made, providers=["CPUExecutionProvider"])
    for n in (0, 1, 40):
        labels, scores = session.run(None, {"X": X[:n]})
        rounded = run(of, X[:n].astype(np.float32))
        assert labels.tolist() == rounded[0].tolist()
        assert np.array_equal(scores, rounded[1])


def test_two_classes_have_opposite_scores():
    for name in ("binary_rbf", "several_binary", "weighted_squares"):
        labels, scores = run(EVERY[name], rows(EVERY[name]))
        assert np.allclose(scores[:, 0], -scores[:, 1], rtol=1e-6, atol=1e-6)
        assert np.argmax(scores, axis=1).tolist() == labels.tolist()


@pytest.mark.parametrize("opset", [9, 12, 13, 17, max(OPSETS)])
@pytest.mark.parametrize("case", ["two", "two with an offset", "three"])
def test_probabilities_are_the_models_and_rejection_theirs(case, opset):
    base = SMALL["temperature"] if case == "three" else SMALL["binary_rbf"]
    offset = -0.6 if case == "two with an offset" else 0.0
    kind = "temperature" if case == "three" else "platt"
    of = replace(base, calibration=Calibration(kind, 5.0 if case == "three" else 2.0, offset))
    export = TARGETS["onnx"].with_options(opset=opset).export(of, "m", Format(reject=0.75))
    X, content = rows(of), export.files["m.onnx"]
    names = [one.name for one in onnx.load_model_from_string(content).graph.output]
    assert names == ["label", "scores", "probabilities", "predict_or_reject"]
    expected, least = of.probabilities(X), of.predict_or_reject(X, 0.75)
    assert 0 < np.count_nonzero(least == -1) < len(X)
    given = {"X": X.astype(np.float32)}
    found: list[Any] = [ReferenceEvaluator(onnx.load_model_from_string(content)).run(None, given)]
    if opset <= 22:
        runtime = pytest.importorskip("onnxruntime")
        found.append(runtime.InferenceSession(content, providers=["CPUExecutionProvider"]).run(None, given))
    for outputs in found:
        probabilities, index = np.asarray(outputs[2], dtype=np.float64), np.asarray(outputs[3])
        assert probabilities.shape == expected.shape
        np.testing.assert_allclose(probabilities, expected, atol=1e-5)
        clear = np.abs(expected[np.arange(len(X)), of.predict_index(X)] - 0.75) > 1e-5
        assert np.array_equal(index[clear], least[clear])


def test_verify_compares_the_probabilities_of_graphs():
    of = SMALL["temperature"]
    for verdict in verify(of, rows(of), target="onnx"):
        assert verdict.ok
        assert verdict.probability_difference is not None
        assert verdict.probability_difference < 1e-6


def test_an_option_that_no_target_has_is_one_sentence():
    with pytest.raises(
        OptionError, match=r"^target onnx has no option 'loops'; it has opset, integer_labels, float64$"
    ):
        TARGETS["onnx"].with_options(loops="avr")
    assert TARGETS["c"].with_options() is TARGETS["c"]


@pytest.mark.parametrize("name", EVERY)
def test_every_node_is_called_like_the_tensor_it_makes(name):
    proto = onnx.load_model_from_string(graph(EVERY[name]))
    names = [node.name for node in proto.graph.node]
    assert names == [node.output[0] for node in proto.graph.node]
    tensors = [*names, *(t.name for t in proto.graph.initializer), *(i.name for i in proto.graph.input)]
    assert len(set(tensors)) == len(tensors)


def test_names_say_what_a_tensor_holds():
    proto = onnx.load_model_from_string(graph(EVERY["projected_buffered"]))
    names = [node.name for node in proto.graph.node]
    assert names == [
        "centred", "projected", "column0", "differences0", "sizes0", "distances0", "kernel0", "scores", "label"
    ]  # fmt: skip


def test_the_file_documents_itself():
    proto = onnx.load_model_from_string(graph(SMALL["binary_rbf"]))
    assert (proto.producer_name, proto.producer_version) == ("sparsegen", __version__)
    assert "the first wins on ties" in proto.graph.doc_string
    lines = proto.doc_string.splitlines()
    card = json.loads({entry.key: entry.value for entry in proto.metadata_props}["card"])
    assert lines == [f"{key}: {value}" for key, value in card.items()]
    assert "x[2]: größe" in lines
    documented = [*proto.graph.input, *proto.graph.output]
    assert all(value.doc_string for value in documented)


def quantized(made, folder):
    quantize = pytest.importorskip("onnxruntime.quantization").quantize_dynamic
    quantize(onnx.load_model_from_string(made), folder / "q.onnx")
    return (folder / "q.onnx").read_bytes()


def test_quantize_dynamic_changes_no_score(tmp_path):
    """Distances are small differences of large numbers: rounded to 8 bits, nothing was left of them."""
    for of in CLASSIFIERS.values():
        made, X = graph(of), rows(of)
        before, after = evaluate(made, X), evaluate(quantized(made, tmp_path), X)
        assert before[0].tolist() == after[0].tolist()
        assert np.array_equal(before[1], after[1])


def test_without_its_factor_a_product_is_quantized(tmp_path, monkeypatch):
    monkeypatch.setattr("sparsegen.targets.onnx.graph.UNSPLIT", 1.0)
    of = EVERY["weighted_squares"]
    assert not np.allclose(
        evaluate(quantized(graph(of), tmp_path), rows(of))[1], per_class(of.scores(rows(of))), atol=1e-3
    )


def test_the_document_quantizes_the_projection_alone(tmp_path, monkeypatch):
    """The snippets of docs/onnx.md, one after the other."""
    pytest.importorskip("onnxruntime.quantization")
    of = SMALL["rbf_projected"]
    X = rows(of).astype(np.float32)

    class Reader:
        batches = iter([{"X": X}])

        def get_next(self):
            return next(self.batches, None)

    monkeypatch.chdir(tmp_path)
    of.save("model.safetensors")
    names = {"reader": Reader()}
    for snippet in re.findall(r"```python norun\n(.*?)```", (DOCS / "onnx.md").read_text(), re.DOTALL):
        exec(snippet, names)  # noqa: S102
    made = onnx.load("quantized.onnx")
    assert [node.input[0] for node in made.graph.node if node.op_type == "QuantizeLinear"]
    exact, rounded = (evaluate(Path(name).read_bytes(), X) for name in ("folder/model.onnx", "quantized.onnx"))
    assert 0 < np.abs(exact[1] - rounded[1]).max() < 0.1
    assert exact[0].tolist() == of.predict_index(X).tolist()


def test_metadata_holds_classes_and_card():
    properties = {p.key: p.value for p in onnx.load_model_from_string(graph(SMALL["binary_rbf"])).metadata_props}
    assert json.loads(properties["classes"]) == [0, 1]
    assert json.loads(properties["card"])["x[2]"] == "größe"
    assert json.loads(properties["card"])["method"] == "by hand"


def test_same_bytes_every_time():
    assert graph(EVERY["several_kernels"]) == graph(EVERY["several_kernels"])


@pytest.mark.parametrize("name", SMALL)
def test_golden(name, update_golden):
    proto = onnx.load_model_from_string(graph(SMALL[name], name))
    for field in ("doc_string", "producer_version"):  # lines that old parsers refuse; another in every release
        proto.ClearField(field)
    proto.graph.ClearField("doc_string")
    for node in proto.graph.node:  # each is called like its output, and old parsers refuse names
        node.ClearField("name")
    text = onnx.printer.to_text(proto)
    path = GOLDEN / name / f"{name}.onnx.txt"
    if update_golden:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    golden = onnx.printer.to_text(onnx.parser.parse_model(path.read_text()))  # older printers show fewer digits
    assert text == golden, f"{path.name} changed; see pytest --update-golden"
