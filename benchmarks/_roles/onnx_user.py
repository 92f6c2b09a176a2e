"""An ONNX user: a graph that their runtime takes, with the names that they know, and labels that survive."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._roles import rows
from benchmarks._roles.visit import Ended, Skip, Visit
from sparsegen import SparseModel
from sparsegen.arrays import Array
from sparsegen.devices import DEVICES

NEWEST, OLDEST = 23, 9


def visit(user: Visit) -> None:
    """From a model to a graph that is run, quantized and looked into."""
    X, y = rows.blobs(user.seed, 200, classes=2)
    table = [[*np.round(row, 4), ("off", "on")[k]] for row, k in zip(X, y, strict=True)]
    rows.write(Path("two.csv"), [*"abcd", "switch"], table)
    user.types(
        "a model of two classes",
        "train two.csv --vectors 6 --gamma 0.2 --C 1 --probability -o two.safetensors",
        "log loss [^,]*,?",
    )
    export(user, "as it is")
    _graph(user, np.round(X, 4).astype(np.float32))
    _versions(user)
    _quantized(user, np.round(X, 4).astype(np.float32))


def export(user: Visit, folder: str, options: str = "") -> Ended:
    """Return how the export ended; the graph is in the folder."""
    return user.command(*f"export two.safetensors --target onnx {options}".split(), "-o", folder)


def _session(folder: str) -> Any:
    if importlib.util.find_spec("onnxruntime") is None:
        raise Skip("onnxruntime is not installed")
    import onnxruntime

    return onnxruntime.InferenceSession(str(Path(folder) / "model.onnx"))


def _graph(user: Visit, X: Array) -> None:
    import onnx

    with user.wish("a graph that says what it is"):
        graph = onnx.load("as it is/model.onnx")
        names = [node.name for node in graph.graph.node]
        user.sees("nodes and tensors with names", ", ".join(names), all(names) and len(set(names)) == len(names))
        made = f"{graph.producer_name} {graph.producer_version}"
        user.sees("who made it", made, graph.producer_name == "sparsegen" and bool(graph.producer_version))
        user.sees("the model card as its documentation", graph.doc_string, "method: slmc" in graph.doc_string)
    with user.wish("labels, scores and probabilities in ONNX Runtime"):
        session, model = _session("as it is"), SparseModel.load("two.safetensors")
        outputs = [one.name for one in session.get_outputs()]
        user.sees("skl2onnx's names", ", ".join(outputs), outputs == ["label", "scores", "probabilities"])
        label, scores, probabilities = session.run(None, {"X": X})
        told = f"scores {scores.shape}, probabilities {probabilities.shape}: the largest of both is the label's"
        at = np.array([list(model.classes).index(one) for one in label])
        agree = (scores.argmax(axis=1) == at).all() and (probabilities.argmax(axis=1) == at).all()
        user.sees("two classes have two columns", told, scores.shape == probabilities.shape == (200, 2) and bool(agree))
        same = int(np.sum(label == model.predict(X)))
        user.sees("labels as in Python", f"{same} of 200", same == 200)
    with user.wish("indices for runtimes without text"):
        assert export(user, "whole", "--integer-labels").code == 0
        found = _session("whole").run(["label"], {"X": X})[0]
        told = f"{found.dtype}: {', '.join(map(str, found[:8]))}, ..."
        user.sees("indices for runtimes without text", told, bool((found == model.predict_index(X)).all()))
    with user.wish("float64 input"):
        assert export(user, "double", "--float64").code == 0
        found = _session("double").run(["label"], {"X": X.astype(np.float64)})[0]
        user.sees("float64 input", f"{np.sum(found == label)} of 200 labels", bool((found == label).all()))
    with user.wish("unknown below a confidence"):
        assert export(user, "unsure", "--reject 0.9").code == 0
        found = _session("unsure").run(["predict_or_reject"], {"X": X})[0]
        told = f"predict_or_reject is -1 for {np.sum(found == -1)} of 200 rows"
        user.sees("unknown below a confidence", told, bool((found == model.predict_or_reject(X, 0.9)).all()))


def _versions(user: Visit) -> None:
    import onnx

    with user.wish("operators of other versions"):
        devices = [name for name in ("onnx-reference", "onnxruntime") if not DEVICES[name].missing()]
        newest = min(NEWEST, onnx.defs.onnx_opset_version())
        for opset in (OLDEST, 13, newest):
            user.types(
                f"opset {opset}",
                f"verify two.safetensors two.csv --target onnx --device {','.join(devices)} --opset {opset}",
                r"of 200 rows 50 were held out in training; accuracy on those: [\d.]+ %",
                *(f"{device} ok 200 0" for device in devices),
            )
        user.types(
            "an opset that is not there", "export two.safetensors --target onnx --opset 8 -o no", "error: .*", code=2
        )
    with user.wish("tract, OpenCV, tinygrad, MNN"):
        raise Skip(
            "they are not tried here; what they ask for is the integer labels above, and opset and float32 to choose"
        )


def _quantized(user: Visit, X: Array) -> None:
    asked = "quantize_dynamic keeps the labels"
    with user.wish(asked):
        session = _session("as it is")
        from onnxruntime.quantization import quantize_dynamic

        Path("quantized").mkdir()
        logging.disable(logging.WARNING)  # it advises to optimize the graph first
        try:
            quantize_dynamic("as it is/model.onnx", "quantized/model.onnx")
        finally:
            logging.disable(logging.NOTSET)
        labels = [of.run(["label"], {"X": X})[0] for of in (session, _session("quantized"))]
        same = int(np.sum(labels[0] == labels[1]))
        user.sees(asked, f"{same} of 200 labels stay, as it passes over these products (docs/onnx.md)", same == 200)
