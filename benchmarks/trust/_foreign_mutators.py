"""Seeds and mutations of models that others write: LIBSVM's text, and ONNX graphs with an SVMClassifier."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import helper

from benchmarks.trust._file_mutators import INTEGERS, NUMBERS, PAIRS, TEXTS, mutate_bytes, mutate_lines

WORDS = (
    b"svm_type", b"kernel_type", b"label", b"nr_sv", b"rho", b"SV", b"c_svc", b"nu_svc", b"one_class", b"rbf",
    b"linear", b"polynomial", b"poly", b"sigmoid", b"precomputed", b"gamma", b"coef0", b"degree", b"probA", b"0", b"1",
    b"-1", b"2", b"3", b"2.5", b"1e300", b"-1e-300", b"1e999", b"nan", b"inf", b"1_0", b"0x1", b"9999999999999999999",
    b"1" * 400, b"\xd9\xa1", b"\x1b[31m", b"1:1", b"0:1", b"2:1e200", b"5:-1", b"1000000:1", b"1000001:1", b"1:",
    b":1", b"1:1:1",
)  # fmt: skip
ML = "ai.onnx.ml"
NAMES = (
    "classlabels_ints", "classlabels_strings", "coefficients", "kernel_params", "kernel_type", "rho", "support_vectors",
    "vectors_per_class", "offset", "scale", "prob_a",
)  # fmt: skip
KINDS = ("SVMClassifier", "Scaler", "Cast", "Identity", "Normalizer", "\x1b[31m", "")

# ---- LIBSVM ----------------------------------------------------------------------------------------------------------


def libsvm_seeds() -> list[bytes]:
    """Return machines of every kernel, of two classes and more, counted from 0 or 1, and some that are refused."""
    two = "nr_class 2\ntotal_sv 3\nrho 0.5\nlabel 1 -1\nnr_sv 2 1\nSV\n0.5 1:1 3:-2 \n1 2:0.25 \n-1.5 1:3 2:1 \n"
    three = (
        "nr_class 3\ntotal_sv 4\nrho 0.1 -0.2 0.3\nlabel 7 3 5\nnr_sv 1 2 1\nSV\n"
        "1 0.5 1:0.5 2:1 \n-1 0.25 1:-1 \n-0.5 1 2:2 \n-0.5 -1 1:1 2:-1 \n"
    )
    texts = [
        f"svm_type c_svc\nkernel_type rbf\ngamma 0.5\n{two}",
        f"svm_type c_svc\nkernel_type rbf\ngamma 0.5\n{two}".replace("\n", "\r\n"),
        f"svm_type nu_svc\nkernel_type linear\n{three}",
        f"svm_type c_svc\nkernel_type polynomial\ndegree 2\ngamma 0.25\ncoef0 1\n{three}",
        f"svm_type c_svc\nkernel_type linear\n{two}".replace(" 1:", " 0:"),
        f"svm_type c_svc\nkernel_type rbf\ngamma 1\nprobA -1.5\nprobB 0.1\n{two}",
        f"svm_type c_svc\nkernel_type sigmoid\ngamma 1\ncoef0 0\n{two}",
        f"svm_type epsilon_svr\nkernel_type linear\n{two}",
        "svm_type c_svc\nkernel_type linear\nSV\n",
    ]
    return [text.encode() for text in texts]


def mutate_libsvm(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change words, lines or bytes."""
    kind = rng.random()
    if kind < 0.2:
        return mutate_lines(rng, data, other)
    if kind < 0.4:
        return mutate_bytes(rng, data, other, PAIRS)
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    words = lines[at].split(b" ")
    place = rng.randrange(len(words))
    if rng.random() < 0.7:
        words[place] = rng.choice(WORDS)
    else:
        words.insert(place, rng.choice(WORDS))
    lines[at] = b" ".join(words)
    return b"\n".join(lines)


# ---- ONNX ------------------------------------------------------------------------------------------------------------


def onnx_seeds() -> list[bytes]:
    """Return machines of every kernel, alone and behind a Scaler, with numbers and texts as labels."""
    two = {
        "classlabels_ints": [0, 1],
        "coefficients": [0.5, 1.0, -1.5],
        "kernel_params": [0.5, 1.0, 2.0],
        "kernel_type": "RBF",
        "rho": [0.25],
        "support_vectors": [1.0, 0.0, 0.5, -1.0, 2.0, 1.0],
        "vectors_per_class": [2, 1],
    }
    three = two | {
        "classlabels_ints": [4, 5, 6],
        "coefficients": [1.0, -1.0, -0.5, 0.5, 0.25, -1.0],
        "rho": [0.1, -0.2, 0.3],
        "vectors_per_class": [1, 1, 1],
    }
    texts = {name: value for name, value in three.items() if name != "classlabels_ints"}
    scaler = helper.make_node("Scaler", ["X"], ["scaled"], domain=ML, offset=[1.0, 2.0], scale=[0.5, 2.0])
    cast = helper.make_node("Cast", ["scaled"], ["cast"], to=onnx.TensorProto.FLOAT)
    return [
        _graph(two, []),
        _graph(three | {"kernel_type": "LINEAR"}, [scaler]),
        _graph(texts | {"classlabels_strings": ["a", "b", "größer"], "kernel_type": "POLY"}, [scaler, cast]),
        _graph(two | {"kernel_type": "SIGMOID"}, []),
        _graph({}, []),
    ]


def _graph(attributes: dict[str, Any], front: list[onnx.NodeProto]) -> bytes:
    at = front[-1].output[0] if front else "X"
    machine = helper.make_node("SVMClassifier", [at], ["label", "scores"], domain=ML, **attributes)
    info, kinds = helper.make_tensor_value_info, onnx.TensorProto
    outputs = [info("label", kinds.INT64, ["n"]), info("scores", kinds.FLOAT, ["n", None])]
    graph = helper.make_graph([*front, machine], "svm", [info("X", kinds.FLOAT, ["n", 2])], outputs)
    return bytes(helper.make_model(graph).SerializeToString())


def mutate_onnx(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change attributes, nodes, or the bytes of the file."""
    if rng.random() < 0.25:
        return mutate_bytes(rng, data, other)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        return mutate_bytes(rng, data, other)
    nodes = model.graph.node
    if not nodes:
        return mutate_bytes(rng, data, other)
    node = rng.choice(nodes)
    with suppress(ValueError, TypeError, DecodeError):  # what protobuf refuses is no file
        if rng.random() < 0.7:
            _mutate_attributes(rng, node)
        else:
            _mutate_nodes(rng, model, node)
    return bytes(model.SerializeToString())


def _mutate_nodes(rng: random.Random, model: onnx.ModelProto, node: onnx.NodeProto) -> None:
    nodes, kind = model.graph.node, rng.randrange(5)
    if kind == 0:
        nodes.append(rng.choice(nodes))
    elif kind == 1:
        nodes.remove(node)
    elif kind == 2:
        node.op_type = rng.choice(KINDS)
    elif kind == 3 and node.input:
        node.input[0] = rng.choice(["X", "scaled", "label", "", *node.output])  # a circle, or nothing that makes it
    else:
        del node.input[:]


def _mutate_attributes(rng: random.Random, node: onnx.NodeProto) -> None:
    kind = rng.randrange(7)
    if not node.attribute or kind == 0:
        node.attribute.append(helper.make_attribute(rng.choice(NAMES), rng.choice((1, 1.5, "RBF", [1.0, 2.0], ["a"]))))
        return
    attribute = rng.choice(node.attribute)
    if kind == 1:
        node.attribute.remove(attribute)
    elif kind == 2:
        attribute.name = rng.choice(NAMES)
    elif kind == 3:
        attribute.type = rng.choice(list(onnx.AttributeProto.AttributeType.values()))
    else:
        _mutate_values(rng, attribute)


def _mutate_values(rng: random.Random, attribute: onnx.AttributeProto) -> None:
    """Change, repeat, remove or add one of the values."""
    if attribute.type == onnx.AttributeProto.STRING:
        attribute.s = rng.choice((b"RBF", b"LINEAR", b"POLY", b"SIGMOID", b"rbf", b"\xff", b"\x1b[31m", b""))
        return
    lists = [values for values in (attribute.floats, attribute.ints, attribute.strings) if values]
    if not lists:
        attribute.f = rng.choice(NUMBERS[:14])
        return
    values: Any = lists[0]
    at, kind = rng.randrange(len(values)), rng.randrange(4)
    if kind == 0:
        del values[at]
    elif kind == 1:
        values.extend(list(values)[: rng.choice((1, 2, len(values)))])
    elif values is attribute.floats:
        values[at] = rng.choice(NUMBERS)
    elif values is attribute.ints:
        values[at] = rng.choice(INTEGERS[:9])
    else:
        values[at] = rng.choice(TEXTS).encode("utf-8", "surrogatepass")
