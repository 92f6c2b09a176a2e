"""Fitted machines of scikit-learn in the formats of others, written as these write them."""

from __future__ import annotations

import numpy as np


def libsvm_text(machine, labels=None) -> bytes:
    """Return what svm-train would have saved; ``labels`` are LIBSVM's whole numbers for the classes, in their order."""
    labels = machine.classes_ if labels is None else labels
    sign = -1.0 if len(machine.classes_) == 2 else 1.0  # scikit-learn turns a machine of two classes round
    lines = ["svm_type c_svc", f"kernel_type {machine.kernel}".replace("poly", "polynomial")]
    if machine.kernel != "linear":
        lines += [f"gamma {float(machine.gamma)!r}"]
    if machine.kernel == "poly":
        lines += [f"coef0 {float(machine.coef0)!r}", f"degree {machine.degree}"]
    lines += [f"nr_class {len(labels)}", f"total_sv {len(machine.support_)}"]
    lines += ["rho " + " ".join(repr(float(-sign * b)) for b in machine.intercept_)]
    lines += ["label " + " ".join(str(int(label)) for label in labels)]
    lines += ["nr_sv " + " ".join(str(int(n)) for n in machine.n_support_), "SV"]
    for coef, vector in zip((sign * machine.dual_coef_).T, machine.support_vectors_, strict=True):
        pairs = [f"{j + 1}:{float(v)!r}" for j, v in enumerate(vector) if v]
        lines.append(" ".join([*(repr(float(c)) for c in coef), *pairs, ""]))
    return ("\n".join(lines) + "\n").encode()


def onnx_svm(machine, scaler=None, before=(), **changed) -> bytes:
    """Return a graph with one SVMClassifier, as skl2onnx writes it; ``changed`` are attributes to set or leave out."""
    import onnx

    sign = -1.0 if len(machine.classes_) == 2 else 1.0
    texts = machine.classes_.dtype.kind == "U"
    attributes = {
        "classlabels_strings" if texts else "classlabels_ints": machine.classes_.tolist(),
        "coefficients": (sign * machine.dual_coef_).ravel().tolist(),
        "kernel_params": [float(machine.gamma), float(machine.coef0), float(machine.degree)],
        "kernel_type": machine.kernel.upper(),
        "rho": (sign * machine.intercept_).tolist(),
        "support_vectors": machine.support_vectors_.ravel().tolist(),
        "vectors_per_class": machine.n_support_.tolist(),
    } | changed
    make, ml = onnx.helper.make_node, "ai.onnx.ml"
    nodes, at = list(before), "X" if not before else before[-1].output[0]
    if scaler is not None:
        scale = {"offset": scaler.mean_.tolist(), "scale": (1.0 / scaler.scale_).tolist()}
        nodes.append(make("Scaler", [at], ["scaled"], domain=ml, **scale))
        at = "scaled"
    known = {name: value for name, value in attributes.items() if value is not None}
    nodes.append(make("SVMClassifier", [at], ["label", "scores"], domain=ml, **known))
    kind = onnx.TensorProto.STRING if texts else onnx.TensorProto.INT64
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes, "svm", [info("X", onnx.TensorProto.FLOAT, ["n", machine.n_features_in_])],
        [info("label", kind, ["n"]), info("scores", onnx.TensorProto.FLOAT, ["n", None])],
    )  # fmt: skip
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid(ml, 1)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with a few bytes changed, cut out, repeated, or put in."""
    raw = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(raw)))
        end = at + int(rng.integers(1, 20))
        match int(rng.integers(4)):
            case 0:
                raw[at] = int(rng.integers(256))
            case 1:
                del raw[at:end]
            case 2:
                raw[at:at] = raw[at:end]
            case 3:
                raw[at:at] = bytes(rng.choice(list(b"0123456789:-.einf \n"), 3).tolist())
        raw = raw or bytearray(b"x")
    return bytes(raw)
