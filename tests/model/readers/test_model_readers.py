"""Model files of others: the same labels and scores, and whatever bytes a file has, a model or one sentence."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from foreign_files import libsvm_text, mutated, onnx_svm
from golden_models import SMALL
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsegen.errors import ModelError, SparsegenError
from sparsegen.model.readers import MODEL_READERS, read_model

IRIS, SPECIES = load_iris(return_X_y=True)
ROWS = np.round(IRIS - 5.0, 1)  # some values are 0, which LIBSVM leaves out
MACHINES = [
    SVC(gamma=0.3, decision_function_shape="ovo"),
    SVC(kernel="poly", gamma=0.3, coef0=1.5, degree=2, decision_function_shape="ovo"),
    SVC(kernel="linear", gamma=1.0, C=0.1, decision_function_shape="ovo"),
]


def fitted(machine, X=ROWS, n_classes=3):
    y = SPECIES if n_classes == 3 else (SPECIES == 1).astype(int)
    return machine.fit(X[::2], y[::2])


def scores_of(machine, X):
    """Return the scores as LIBSVM has them: positive for the first of two classes."""
    scores = machine.decision_function(X)
    return -scores[:, None] if scores.ndim == 1 else scores


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_libsvm(machine, n_classes, tmp_path):
    machine, path = fitted(machine, n_classes=n_classes), tmp_path / "iris.model"
    path.write_bytes(libsvm_text(machine))
    model = read_model(path)
    assert_allclose(model.scores(ROWS), scores_of(machine, ROWS), rtol=1e-9, atol=1e-9)
    assert_array_equal(model.predict(ROWS), machine.predict(ROWS))
    assert model.card["method"] == "LIBSVM c_svc"
    path.write_bytes(libsvm_text(machine).replace(b"\n", b"\r\n"))
    assert read_model(path) == model


def test_libsvm_names_classes_in_any_order(tmp_path):
    machine, path = fitted(SVC(gamma=0.3)), tmp_path / "m"
    path.write_bytes(libsvm_text(machine, [7, -1, 3]))
    assert_array_equal(read_model(path).predict(ROWS), np.array([7, -1, 3])[machine.predict(ROWS)])


def test_libsvm_leaves_out_zeros_and_so_the_last_features(tmp_path):
    X = np.hstack([ROWS, np.zeros((len(ROWS), 2))])
    machine, path = SVC(gamma=0.3).fit(X, SPECIES), tmp_path / "m"
    path.write_bytes(libsvm_text(machine))
    assert read_model(path).n_features == 4
    model = read_model(path, 6)
    assert model.n_features == 6
    X[:, 5] = 1.0  # makes a difference: the distance to every vector grows
    assert_array_equal(model.predict(X), machine.predict(X))


def test_a_file_of_libsvm_itself(tmp_path):
    svmutil = pytest.importorskip("libsvm.svmutil")
    path = tmp_path / "m.model"
    labels = [[5, 2, 9][k] for k in SPECIES[::2]]
    pairs = [{j + 1: float(v) for j, v in enumerate(row)} for row in ROWS]
    theirs = svmutil.svm_train(labels, pairs[::2], "-q -c 5 -g 0.2")
    svmutil.svm_save_model(str(path), theirs)
    model = read_model(path)
    expected, _, scores = svmutil.svm_predict([0] * len(pairs), pairs, theirs, "-q")
    assert_array_equal(model.predict(ROWS), expected)
    assert_allclose(model.scores(ROWS), scores, rtol=1e-6, atol=1e-9)


@cache
def text() -> bytes:
    return libsvm_text(fitted(SVC(gamma=0.3)))


BROKEN = {
    "a regression": (b"c_svc", b"epsilon_svr", "no classifier"),
    "an unknown kernel": (b" rbf", b" sigmoid", "kernel 'sigmoid', which has no export"),
    "no gamma": (b"gamma 0.3\n", b"", "does not say the gamma"),
    "gamma below 0": (b"gamma 0.3", b"gamma -1", "gamma"),
    "gamma no number": (b"gamma 0.3", b"gamma nan", "not a finite number"),
    "no vectors": (b"SV\n", b"", "no line SV"),
    "a word for a count": (b"nr_sv ", b"nr_sv many ", "not a whole number"),
    "one vector too many": (b"SV\n", b"SV\n1 1 1:1\n", "not as many support vectors"),
    "no coefficients": (b"SV\n", b"SV\n1:1 ", "does not begin with 2 finite numbers"),
    "label a word": (b"label 0", b"label zero", "not a whole number"),
    "labels equal": (b"label 0 1", b"label 1 1", "must differ"),
    "one label too few": (b"label 0 1 2", b"label 0 1", "2 labels and 3 counts"),
    "twice": (b"gamma", b"rho 1\ngamma", "says something twice"),
    "not text": (b"gamma", b"\xff", "not plain text"),
    "an index far out": (b" 3:", b" 999999:", "index up to 100,000"),
    "a value not finite": (b" 3:", b" 3:inf", "not index:value"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_libsvm_file_gets_a_sentence(name, tmp_path):
    whole, by, part = BROKEN[name]
    path = tmp_path / "m.model"
    path.write_bytes(text().replace(whole, by, 1))
    with pytest.raises(ModelError, match=part) as caught:
        read_model(path)
    assert str(caught.value).isprintable()


def test_a_small_text_cannot_ask_for_much_memory(tmp_path):
    n = 200_000
    head = f"svm_type c_svc\nkernel_type rbf\ngamma 1\nlabel 0 1\nrho 0\nnr_sv {n} 0\nSV\n"
    path = tmp_path / "m.model"
    path.write_bytes(head.encode() + b"1 1:1\n" * (n - 1) + b"1 90000:1\n")
    with pytest.raises(ModelError, match="almost all zeros"):
        read_model(path)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("machine", MACHINES[:2], ids=str)
def test_onnx(machine, n_classes, tmp_path):
    scaler = StandardScaler().fit(ROWS)
    X = scaler.transform(ROWS)
    machine, path = fitted(machine, X, n_classes), tmp_path / "m.onnx"
    path.write_bytes(onnx_svm(machine, scaler))
    model, expected = read_model(path), scores_of(machine, X)
    assert_allclose(model.scores(ROWS), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())  # it holds float32
    runtime = pytest.importorskip("onnxruntime")
    theirs, _ = runtime.InferenceSession(path.read_bytes()).run(None, {"X": ROWS.astype(np.float32)})
    assert_array_equal(model.predict(ROWS), theirs)


def test_onnx_with_text_labels_and_a_cast_in_front(tmp_path):
    import onnx

    machine = SVC(gamma=0.3).fit(ROWS, np.array(["setosa", "versi", "virgi"])[SPECIES])
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_svm(machine, before=[onnx.helper.make_node("Cast", ["X"], ["cast"], to=1)]))
    model = read_model(path)
    assert model.classes == ("setosa", "versi", "virgi")
    assert_array_equal(model.predict(ROWS), machine.predict(ROWS))


BROKEN_GRAPHS: dict[str, tuple[dict[str, Any], str]] = {
    "another operator": ({"before": [("Abs", "X", "v")]}, "'Abs' in front"),
    "a cast to int64": ({"before": [("Cast", "X", "v", {"to": 7})]}, "rounds features"),
    "a cast to nothing": ({"before": [("Cast", "X", "v")]}, "rounds features"),
    "a circle": ({"before": [("Identity", "b", "a"), ("Identity", "a", "b")]}, "goes in a circle"),
    "no vectors": ({"support_vectors": None}, "has 0 features"),
    "too few coefficients": ({"coefficients": [1.0, 2.0]}, "do not match"),
    "negative counts": ({"vectors_per_class": [-1, 5, 9]}, "do not match"),
    "not finite": ({"rho": [float("nan"), 0.0, 0.0]}, "something else than finite numbers"),
    "texts for numbers": ({"rho": ["a", "b", "c"]}, "something else than finite numbers"),
    "one class": ({"classlabels_ints": [1]}, "names 1 classes"),
    "sigmoid": ({"kernel_type": "SIGMOID"}, "kernel 'sigmoid'"),
    "no kernel": ({"kernel_type": 5}, "kernel 'unknown'"),
    "no parameters": ({"kernel_params": None}, "does not say the gamma"),
}


@pytest.mark.parametrize("name", BROKEN_GRAPHS)
def test_a_broken_onnx_graph_gets_a_sentence(name, tmp_path):
    import onnx

    changed, part = BROKEN_GRAPHS[name]
    before = [
        onnx.helper.make_node(operator, [a], [b], **(dict(*given)))
        for operator, a, b, *given in changed.get("before", ())
    ]
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_svm(fitted(SVC(gamma=0.3)), **{**changed, "before": before}))
    with pytest.raises(ModelError, match=part) as caught:
        read_model(path)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("content", [b"\x08\x09not a graph", b"", b"\xff" * 50])
def test_what_is_no_onnx_graph_gets_a_sentence(content, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"not an ONNX file|0 SVMClassifier nodes"):
        read_model(path)


@pytest.mark.parametrize("kind", ["libsvm", "onnx"])
def test_damaged_files_give_a_model_or_a_sentence(kind):
    rng = np.random.default_rng(0)
    whole = text() if kind == "libsvm" else onnx_svm(fitted(SVC(gamma=0.3)), StandardScaler().fit(ROWS))
    read, refused = MODEL_READERS[kind].read, 0
    for _ in range(400):
        try:
            read(mutated(whole, rng), "fuzzed", 4)
        except SparsegenError as error:
            refused += 1
            assert str(error).isprintable() and len(str(error)) < 600
    assert 0 < refused < 400


def test_our_own_files_are_read_too(tmp_path):
    path = tmp_path / "m.safetensors"
    SMALL["votes"].save(path)
    assert read_model(path) == SMALL["votes"]
    path.write_bytes(b"something else")
    with pytest.raises(ModelError, match="not a usable sparsegen model"):
        read_model(path)
    with pytest.raises(ModelError, match="cannot read model"):
        read_model(tmp_path / "none")
