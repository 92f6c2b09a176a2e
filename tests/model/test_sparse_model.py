from __future__ import annotations

import copy
import dataclasses
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from sparsegen.errors import ModelError
from sparsegen.kernels import KERNELS
from sparsegen.model import Calibration, SparseModel, Transform
from sparsegen.model.card import CHECKS, MAX_CARD_DEPTH, known_accuracy
from sparsegen.model.file import MAX_HEADER_BYTES, seal


def parts(**changes: Any) -> dict[str, Any]:
    """A hand-written model with three classes, two kernels and a projection, as keyword arguments."""
    made: dict[str, Any] = {
        "vectors": np.array([[0.0, 1.0], [0.5, -0.5]]),
        "coef": np.array([[[1.0, 0.5], [0.25, 0.0]], [[-1.0, 0.0], [0.0, 0.5]], [[0.0, 1.0], [-0.5, 0.0]]]),
        "intercept": np.array([0.0, 0.25, -0.25]),
        "kernels": (KERNELS["rbf"].bind(gamma=0.5), KERNELS["linear"].bind()),
        "transform": Transform(np.array([1.0, 0.0, 2.0]), np.array([0.5, 1.0, 2.0]), np.array([[1, 0, 1], [0, 1, 0]])),
        "classes": ("rest", "walk", "run"),
        "card": {"method": "by hand", "numbers": [1, 2.5, None]},
    }
    return made | changes


def binary(**changes: Any) -> SparseModel:
    made: dict[str, Any] = {
        "vectors": [[0.0, 1.0]],
        "coef": [[[2.0]]],
        "intercept": [-1.0],
        "kernels": (KERNELS["linear"].bind(),),
        "transform": Transform.identity(2),
        "classes": (0, 1),
    }
    return SparseModel(**(made | changes))


@pytest.fixture
def model() -> SparseModel:
    return SparseModel(**parts())


CONTENT = SparseModel(**parts()).to_bytes()
SMALL = binary().to_bytes()


def rebuilt(
    arrays: Callable[[dict[str, Any]], object] = lambda arrays: None,
    document: Callable[[dict[str, Any]], object] = lambda document: None,
    metadata: dict[str, str] | None = None,
) -> bytes:
    """The file of the hand-written model, tampered with."""
    held: dict[str, Any] = dict(load(CONTENT))
    text = header_of(CONTENT)["__metadata__"]["sparsegen"]
    described = json.loads(text)
    arrays(held)
    document(described)
    content = bytes(save(held, metadata={"sparsegen": json.dumps(described)} if metadata is None else metadata))
    return seal(content) if content[8:60] == CONTENT[8:60] else content


def header_of(content: bytes) -> dict[str, Any]:
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def with_header(header: bytes, rest: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + rest


# scoring


def test_scores_are_the_formula(model: SparseModel) -> None:
    X = np.random.default_rng(0).normal(size=(7, 3))
    for x, scores in zip(X, model.scores(X), strict=True):
        seen = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]) @ ((x - [1.0, 0.0, 2.0]) * [0.5, 1.0, 2.0])
        rbf = np.array([np.exp(-0.5 * np.sum((seen - z) ** 2)) for z in model.vectors])
        dot = model.vectors @ seen
        assert np.allclose(scores, model.coef[:, 0] @ rbf + model.coef[:, 1] @ dot + model.intercept, rtol=1e-12)


def test_scores_do_not_depend_on_the_blocks(model: SparseModel, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    whole = model.scores(X)
    monkeypatch.setattr("sparsegen.model.sparse_model.BLOCK_BYTES", 8 * 3 * 7)
    assert np.allclose(model.scores(X), whole, rtol=1e-13)
    assert model.scores(X[:0]).shape == (0, 3)


def test_first_class_wins_a_tie() -> None:
    zeros = SparseModel(**parts(coef=np.zeros((3, 2, 2)), intercept=np.array([0.5, 1.0, 1.0])))
    assert zeros.predict(np.zeros((2, 3))).tolist() == ["walk", "walk"]
    tie = binary(intercept=[0.0])
    assert tie.predict([[5.0, 0.0], [0.0, 1e-300], [0.0, -1.0]]).tolist() == [0, 1, 0]


def test_probabilities_of_two_classes_are_a_sigmoid() -> None:
    made = binary(calibration=Calibration("platt", 1.5, -0.25))
    X = np.array([[0.0, 0.0], [0.0, 3.0], [0.0, -900.0], [0.0, 900.0]])
    scores = 1.5 * made.scores(X)[:, 0] - 0.25
    with np.errstate(over="ignore"):
        assert np.allclose(made.probabilities(X)[:, 1], 1.0 / (1.0 + np.exp(-scores)), atol=1e-15)
    assert np.allclose(made.probabilities(X).sum(axis=1), 1.0)


def test_probabilities_of_several_classes_are_a_softmax() -> None:
    made = SparseModel(**parts(calibration=Calibration("temperature", 2.0)))
    X = np.random.default_rng(0).normal(size=(5, 3))
    exponentials = np.exp(2.0 * made.scores(X))
    assert np.allclose(made.probabilities(X), exponentials / exponentials.sum(axis=1, keepdims=True))


def test_probabilities_need_a_calibration(model: SparseModel) -> None:
    with pytest.raises(ModelError, match="has scores but no probabilities"):
        model.probabilities(np.zeros((1, 3)))


@pytest.mark.parametrize("shape", [(3,), (2, 4), (1, 1, 3)])
def test_rows_of_another_shape_are_refused(model: SparseModel, shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match=r"rows must have shape \(n, 3\)"):
        model.scores(np.zeros(shape))


def test_transform_takes_in_a_scaler_before_it() -> None:
    T = SparseModel(**parts()).transform
    offset, scale = np.array([3.0, -1.0, 0.5]), np.array([2.0, 0.1, 4.0])
    X = np.random.default_rng(0).normal(size=(6, 3))
    assert np.allclose(T.after(offset, scale)(X), T((X - offset) * scale))
    for bad in (0.0, np.inf):
        with pytest.raises(ModelError, match="zero or infinite factor"):
            T.after(offset, np.array([1.0, bad, 1.0]))


# what a model is


def test_model_is_frozen(model: SparseModel) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.vectors = np.zeros(1)  # type: ignore[misc]
    for array in (model.vectors, model.coef, model.intercept, model.transform.offset, model.transform.projection):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(TypeError):
        model.card["method"] = "other"  # type: ignore[index]


def test_model_keeps_its_own_copy() -> None:
    mine = parts()
    made = SparseModel(**mine)
    mine["vectors"][:] = 9.0
    mine["card"]["numbers"].append(9)
    assert made.vectors.max() == 1.0
    assert made.card["numbers"] == [1, 2.5, None]


def test_lists_that_are_given_cannot_change_the_model() -> None:
    kernels, classes = list(parts()["kernels"]), list(parts()["classes"])
    made = SparseModel(**parts(kernels=kernels, classes=classes))
    kernels.clear()
    classes.clear()
    assert (len(made.kernels), len(made.classes)) == (2, 3)


def test_equal_models_are_equal(model: SparseModel) -> None:
    twins = (SparseModel(**parts()), pickle.loads(pickle.dumps(model)), copy.deepcopy(model))
    for twin in twins:
        assert twin == model
        assert hash(twin) == hash(model)
        assert not twin.vectors.flags.writeable
    assert model != SparseModel(**parts(intercept=np.zeros(3)))
    assert model != "model"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": np.zeros((2, 3))}, r"vectors has shape \(2, 3\), but \(2, 2\) is needed"),
        ({"vectors": np.zeros((0, 2)), "coef": np.zeros((3, 2, 0))}, "none of it may be 0"),
        ({"vectors": np.float64(1.0)}, "vectors has shape"),
        ({"vectors": np.array([[np.nan, 0.0], [0.0, 0.0]])}, "vectors holds NaN or infinite"),
        ({"vectors": np.array([["a", "b"], ["c", "d"]])}, "vectors holds <U1 values"),
        ({"vectors": np.zeros((2, 2), dtype=complex)}, "vectors holds complex128 values"),
        ({"coef": np.zeros((3, 1, 2))}, "coef has shape"),
        ({"coef": np.full((3, 2, 2), np.inf)}, "coef holds NaN or infinite"),
        ({"intercept": np.zeros(2)}, "shape"),
        ({"intercept": np.float64(0.0)}, "shape"),
        ({"kernels": ()}, "coef has shape"),
        ({"transform": Transform(np.zeros(3), np.ones(2))}, "shape"),
        ({"transform": Transform(np.zeros(3), np.ones(3))}, "vectors has shape"),
        ({"transform": Transform(np.zeros(3), np.ones(3), np.zeros((2, 4)))}, "projection has shape"),
        ({"transform": Transform(np.zeros(3), np.ones(3), np.array(1.0))}, "shape"),
        ({"transform": Transform(np.array(0.0), np.array(1.0))}, "shape"),
        ({"classes": ("a", "b")}, "intercept has shape"),
        ({"classes": ("a", "b", "b")}, "must differ"),
        ({"classes": ("a", "b", 3)}, "all integers or all strings"),
        ({"classes": (True, 2, 3)}, "all integers or all strings"),
        ({"classes": (1.0, 2.0, 3.0)}, "all integers or all strings"),
        ({"classes": ("a", "b", "")}, "1 to 200 printable"),
        ({"classes": ("a", "b", "c\n")}, "printable"),
        ({"classes": ("a", "b", "c" * 201)}, "printable"),
        ({"classes": ("a", "b", "\ud800")}, "printable"),
        ({"classes": (1, 2, 2**63)}, "64 bits"),
        ({"task": "ranking"}, "task 'ranking' is unknown; it must be one of classification, anomaly, regression"),
        ({"task": "regression"}, "a model for regression cannot decide by largest; it decides by value"),
        ({"task": "regression", "decision": "value"}, "gives values and has no classes, but 3 are named"),
        ({"task": "anomaly"}, "a model for anomaly has the classes anomaly and normal, in this order"),
        ({"decision": "value"}, "a model for classification cannot decide by value"),
        ({"task": 5}, "task 5 is unknown"),
        ({"calibration": Calibration("platt", 1.0)}, "does not suit 3 classes"),
        ({"calibration": Calibration("isotonic", 1.0)}, "does not suit"),
        ({"calibration": Calibration("temperature", np.nan)}, "not finite"),
        ({"calibration": Calibration("temperature", 1.0, "2")}, "not finite"),  # type: ignore[arg-type]
        ({"card": {"x": np.nan}}, "plain JSON"),
        ({"card": {"x": object()}}, "plain JSON"),
        ({"card": {"x": np.zeros(2)}}, "plain JSON"),
    ],
)
def test_contradictions_are_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        SparseModel(**parts(**changes))


def test_one_class_is_not_a_classifier() -> None:
    with pytest.raises(ModelError, match="at least two classes"):
        binary(classes=("a",))


# the file


def test_file_gives_the_model_back(model: SparseModel, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    for made in (model, binary(), binary(calibration=Calibration("platt", 1.5, -0.25))):
        made.save(path)
        back = SparseModel.load(path)
        assert back.to_bytes() == made.to_bytes() == path.read_bytes()
        assert back.classes == made.classes
        assert back.kernels == made.kernels
        assert back.calibration == made.calibration
        assert dict(back.card) == dict(made.card)
        assert back.sha256 == made.sha256


def test_same_model_same_bytes() -> None:
    shuffled = dict(reversed(list(parts().items())))
    assert SparseModel(**shuffled).to_bytes() == CONTENT
    as_fortran = parts(coef=np.asfortranarray(parts()["coef"]))
    assert SparseModel(**as_fortran).to_bytes() == CONTENT


def test_failed_save_leaves_the_old_file(model: SparseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model"
    binary().save(path)

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(ValueError, match="Input/output error"):
        model.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == SMALL


def test_unreadable_paths_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot read model .*No such file"):
        SparseModel.load(tmp_path / "missing")
    with pytest.raises(ModelError, match=r"cannot read model .*directory"):
        SparseModel.load(tmp_path)
    (tmp_path / "bad").write_bytes(b"PK\x03\x04 not a model at all")
    with pytest.raises(ModelError, match="bad is not a usable sparsegen model: it is not a safetensors file"):
        SparseModel.load(tmp_path / "bad")


def test_file_larger_than_any_model_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate((1 << 31) + 1)  # sparse: takes no room
    with pytest.raises(ModelError, match="larger than any model"):
        SparseModel.load(path)


def test_file_cut_anywhere_is_refused() -> None:
    for length in range(len(SMALL)):
        with pytest.raises(ModelError):
            SparseModel.from_bytes(SMALL[:length])
    with pytest.raises(ModelError):
        SparseModel.from_bytes(SMALL + b"\0")


def test_every_flipped_bit_is_noticed() -> None:
    for position in range(len(CONTENT)):
        for bit in range(8):
            content = bytearray(CONTENT)
            content[position] ^= 1 << bit
            with pytest.raises(ModelError):
                SparseModel.from_bytes(bytes(content))


def test_files_of_schema_1_which_have_no_checksum_are_still_read(model: SparseModel) -> None:
    def older(document: dict[str, Any]) -> None:
        del document["sha256"]
        document["schema"] = 1

    assert SparseModel.from_bytes(rebuilt(document=older)) == model


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_bytes_give_a_model_or_a_model_error(damage: list[tuple[int, int]]) -> None:
    content = bytearray(CONTENT)
    for position, value in damage:
        content[position] = value
    accept_or_refuse(bytes(content))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ModelError):
        SparseModel.from_bytes(content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["task", "kernels", "classes", "calibration", "card", "schema"]), json_values)
def test_any_json_in_the_description_gives_a_model_or_a_model_error(key: str, value: Any) -> None:
    accept_or_refuse(rebuilt(document=lambda d: d.update({key: value})))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["name", "params", "gamma"]), json_values)
def test_any_json_in_a_kernel_gives_a_model_or_a_model_error(key: str, value: Any) -> None:
    def tamper(document: dict[str, Any]) -> None:
        (document["kernels"][0]["params"] if key == "gamma" else document["kernels"][0])[key] = value

    accept_or_refuse(rebuilt(document=tamper))


def accept_or_refuse(content: bytes) -> None:
    try:
        made = SparseModel.from_bytes(content)
    except ModelError as error:
        assert len(str(error)) < 500
        return
    with np.errstate(all="ignore"):
        assert made.scores(np.zeros((1, made.n_features))).shape == (1, made.n_outputs)
    assert SparseModel.from_bytes(made.to_bytes()) == made


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a safetensors file"),
        ((2**62).to_bytes(8, "little") + b"{}", "not a safetensors file"),
        ((2**64 - 1).to_bytes(8, "little"), "not a safetensors file"),
        (with_header(b"[" * 100_000), "not a safetensors file"),
        (with_header(b'{"__metadata__":' + b'{"a":' * 5), "not a safetensors file"),
        (with_header(b'{"__metadata__":' + b'{"a":' * 50_000), "it holds 49,999 arrays or more"),
        (
            with_header(b'{"__metadata__":{"sparsegen":"' + b"x" * MAX_HEADER_BYTES + b'"}}'),
            "header takes more than 8 MiB",
        ),
        (with_header(b"{}"), "no sparsegen description"),
        (
            with_header(b'{"coef":{"dtype":"F64","shape":[1099511627776,9],"data_offsets":[0,8]}}', b"0" * 8),
            "not a safetensors file",
        ),
        (with_header(b'{"v":{"dtype":"F99","shape":[1],"data_offsets":[0,8]}}', b"0" * 8), "not a safetensors file"),
        (with_header(b'{"v":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}', b"0" * 8), "it "),
        (rebuilt(metadata={"other": "{}"}), "no sparsegen description"),
        (rebuilt(metadata={"sparsegen": "not json"}), "not JSON"),
        (rebuilt(document=lambda d: d.update(schema=1)), "its checksum is missing or not in its place"),
        (rebuilt(document=lambda d: d.pop("sha256")), "its checksum is missing or not in its place"),
        (rebuilt(document=lambda d: d.update(task=d.pop("task"), sha256=d.pop("sha256"))), "not in its place"),
        (CONTENT.replace(b"rest", b"nest"), "it is damaged"),
        (rebuilt(metadata={"sparsegen": "[" * 100_000}), "not JSON"),
        (rebuilt(metadata={"sparsegen": "9" * 10_000}), "not JSON"),
        (rebuilt(metadata={"sparsegen": "[1]"}), "no schema number"),
        (rebuilt(document=lambda d: d.pop("schema")), "no schema number"),
        (rebuilt(document=lambda d: d.update(schema=True)), "no schema number"),
        (rebuilt(document=lambda d: d.update(schema="1")), "no schema number"),
        (rebuilt(document=lambda d: d.update(schema=3)), "it has schema 3, this sparsegen reads schemas 1 and 2"),
        (rebuilt(document=lambda d: d.pop("classes")), "lacks 'classes'"),
        (rebuilt(document=lambda d: d.pop("card")), "lacks 'card'"),
        (rebuilt(document=lambda d: d.update(classes={"a": 1, "b": 2, "c": 3})), "not a list"),
        (rebuilt(document=lambda d: d.update(classes="abc")), "not a list"),
        (rebuilt(document=lambda d: d.update(classes=["a", 1, None])), "all integers or all strings"),
        (rebuilt(document=lambda d: d.update(classes=[["a"], ["b"], ["c"]])), "all integers or all strings"),
        (rebuilt(document=lambda d: d.update(kernels=[{"name": "rbff", "params": {}}])), "there is no kernel 'rbff'"),
        (rebuilt(document=lambda d: d["kernels"][0].update(params={"gamma": -1.0})), "gamma is -1.0"),
        (rebuilt(document=lambda d: d["kernels"][0].update(params={"gamma": "1"})), "gamma is .1"),
        (rebuilt(document=lambda d: d["kernels"][0].update(params={"self": 1})), "wrong form"),
        (rebuilt(document=lambda d: d.update(calibration={"kind": "platt"})), "wrong form"),
        (rebuilt(document=lambda d: d.update(calibration={"kind": "temperature", "slope": "1"})), "not finite"),
        (rebuilt(document=lambda d: d.update(card={"x": float("nan")})), "plain JSON"),
        (rebuilt(arrays=lambda a: a.pop("coef")), "lacks 'coef'"),
        (rebuilt(arrays=lambda a: (a.pop("projection"), a.update(extra=np.zeros(1)))), "unknown array 'extra'"),
        (rebuilt(arrays=lambda a: a.update(extra=np.zeros(1), fill=np.zeros(3))), "it holds 8 arrays or more"),
        (rebuilt(arrays=lambda a: a.update(coef=a["coef"].astype(np.float32))), "coef holds float32 values"),
        (rebuilt(arrays=lambda a: a.update(intercept=np.zeros(3, dtype=np.int64))), "intercept holds int64 values"),
        (rebuilt(arrays=lambda a: a.update(vectors=np.full((2, 2), np.nan))), "vectors holds NaN"),
        (rebuilt(arrays=lambda a: a.update(offset=np.array(1.0))), "shape"),
        (rebuilt(arrays=lambda a: a.update(fill=np.zeros(2))), "fill has shape"),
        (rebuilt(arrays=lambda a: a.update(fill=np.full(3, np.nan))), "fill holds NaN"),
        (rebuilt(arrays=lambda a: a.update(vectors=np.zeros((0, 2)))), "none of it may be 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_hostile_files_are_one_sentence(content: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        SparseModel.from_bytes(content)
    assert len(str(caught.value)) < 300


def test_nested_cards_are_refused_before_they_overflow_the_stack() -> None:
    for depth in (MAX_CARD_DEPTH + 1, 900, 5_000):
        text = json.dumps(json.loads(header_of(CONTENT)["__metadata__"]["sparsegen"]) | {"card": "CARD"})
        nested = text.replace('"CARD"', '{"a":' * depth + "1" + "}" * depth)
        with pytest.raises(ModelError, match=r"nested|not JSON|plain JSON"):
            SparseModel.from_bytes(rebuilt(metadata={"sparsegen": nested}))


# the card


@pytest.mark.parametrize("value", [10**400, -0.1, 1.1, True, "1", [1], float(2**60)])
def test_an_accuracy_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ModelError, match="the accuracy in its card is not a number from 0 to 1"):
        binary(card={"accuracy": value})


@pytest.mark.parametrize(
    ("card", "told"),
    [
        ({"test_rows": 1.5}, "test rows"),
        ({"test_rows": -1}, "test rows"),
        ({"test_rows": 2**63}, "test rows"),
        ({"test_rows": "\x1b[2J"}, "test rows"),
        ({"method": 1}, "the method"),
        ({"method": ["slmc"]}, "the method"),
        ({"feature_names": "ab"}, "the feature names"),
        ({"feature_names": [1, 2]}, "the feature names"),
        ({"feature_names": ["a", None]}, "the feature names"),
        ({"feature_names": ["a"]}, "not a list of 2 texts"),
        ({"ranges": {"low": [-1e308, 0.0], "high": [1e308, 1.0]}}, "the range of feature 0"),
        ({"ranges": {"low": [0.0, 1e39], "high": [1.0, 1e39]}}, "the range of feature 1"),
        ({"ranges": {"low": [0.0, 2.0], "high": [1.0, 1.0]}}, "the range of feature 1"),
        ({"ranges": {"low": [0.0, 10**400], "high": [1.0, 10**400]}}, "finite numbers"),
        ({"ranges": [[0.0, 0.0], [1.0, 1.0]]}, "finite numbers"),
        ({"test_copies": -1}, "the number of test rows in its card that are copies"),
        ({"test_groups": 0}, "the number of test groups"),
        ({"test_independent": 0.5}, "the number of independent test rows"),
        ({"test_independent": True}, "the number of independent test rows"),
        ({"confusion": [[1, 2]]}, "for each of 2 classes"),
        ({"confusion": [[1, 2], [3]]}, "for each of 2 classes"),
        ({"confusion": [[1, 2], [3, -1]]}, "for each of 2 classes"),
        ({"confusion": [[1, 2], [3, True]]}, "for each of 2 classes"),
        ({"confusion": [1, 2]}, "for each of 2 classes"),
        ({"confusion": [[0, 0], [0, 0]]}, "are all 0"),
        ({"class_counts": [1, 2]}, "for each of 2 classes"),
        ({"class_counts": {"rows": [1, 1], "given": [1, 1]}}, "for each of 2 classes"),
        ({"class_counts": {"rows": [1, 1], "given": [2, 0], "correct": [2, 0]}}, "more right rows than rows"),
        ({"class_counts": {"rows": [1, 1], "given": [2, 1], "correct": [1, 1]}}, "do not add up"),
        ({"held_out": "AAA"}, "not a list of hashes"),
        ({"held_out": ["AAAAAA=="]}, "not a list of hashes"),
        ({"held_out": "\u202e"}, "not a list of hashes"),
        ({"final_rows": 0}, "the number of rows of the final training"),
        ({"final_rows": "all"}, "the number of rows of the final training"),
    ],
)
def test_a_card_must_have_the_form_that_is_read(card: dict[str, Any], told: str) -> None:
    with pytest.raises(ModelError, match=told):
        binary(card=card)


def test_a_card_may_leave_anything_out() -> None:
    names = tuple(CHECKS)
    assert set(binary(card=dict.fromkeys(names)).card.values()) == {None}


def test_a_card_tells_its_accuracy_and_never_a_row_too_many() -> None:
    assert known_accuracy({"accuracy": 0.5}) is None and known_accuracy({"accuracy": 1.0, "test_rows": 0}) is None
    for correct in range(172):
        found = known_accuracy({"accuracy": correct / 171, "test_rows": 171})
        assert found is not None and (found.correct, found.rows) == (correct, 171)
    between = known_accuracy({"accuracy": 0.999, "test_rows": 100, "test_groups": 4, "test_independent": 1e9})
    assert between is not None and (between.correct, between.groups, between.independent) == (99, 4, 100)


def test_a_calibration_beyond_the_largest_double_is_refused() -> None:
    with pytest.raises(ModelError, match="calibration holds values that are not finite"):
        binary(calibration=Calibration("platt", 10**400))


def test_a_card_too_large_to_be_read_again_is_not_written() -> None:
    with pytest.raises(ModelError, match="takes more than 8 MiB"):
        binary(card={"note": "x" * MAX_HEADER_BYTES}).to_bytes()


# what is no file


def test_a_fifo_or_a_device_is_refused_without_being_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(ModelError, match="is a FIFO, not a regular file"):
        SparseModel.load(tmp_path / "fifo")
    with pytest.raises(ModelError, match="is a device, not a regular file"):
        SparseModel.load(tmp_path / "link")
    with pytest.raises(ModelError, match="cannot read model"):
        SparseModel.load("a\0b")


def test_a_header_of_many_arrays_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr("safetensors.numpy.load", never)
    arrays = b",".join(b'"a%d":{"dtype":"F64","shape":[0],"data_offsets":[0,0]}' % i for i in range(50_000))
    with pytest.raises(ModelError, match="it holds 49,999 arrays or more"):
        SparseModel.from_bytes(with_header(b"{" + arrays + b"}"))
