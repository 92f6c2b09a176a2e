"""ONNX graphs with one SVMClassifier on support vectors, alone or behind a Scaler, as skl2onnx writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.data.checks import MAX_FEATURES
from sparsegen.errors import ModelError
from sparsegen.model.decision import MAX_VOTING_CLASSES
from sparsegen.model.one_vs_one import libsvm_kernel, libsvm_model
from sparsegen.model.readers import MODEL_READERS, ModelReader
from sparsegen.model.sparse_model import SparseModel
from sparsegen.model.transform import Transform

if TYPE_CHECKING:
    import onnx

PARAMETERS = ("gamma", "coef0", "degree")
"""The entries of the attribute kernel_params."""
FLOATS = (1, 11)
"""ONNX's numbers for float32 and float64: a cast to these changes nothing, but for rounding."""


def read(content: bytes, source: str, n_features: int | None) -> SparseModel:
    """Return the machine of the graph's only SVMClassifier; what stands behind it is left out."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        graph = onnx.load_model_from_string(content).graph
    except (DecodeError, ValueError, RecursionError):
        raise ModelError(f"{source} is not an ONNX file, or is damaged; export it again") from None
    machines = [node for node in graph.node if node.op_type == "SVMClassifier" and node.input]
    if len(machines) != 1:
        raise ModelError(f"{source} has {len(machines)} SVMClassifier nodes; a graph with just one can be read")
    attributes = _attributes(machines[0], source)
    classes = _classes(attributes, source)
    k = len(classes)
    n_support = _floats(attributes, "vectors_per_class", source).astype(np.int64)
    m = int(n_support.sum()) if len(n_support) == k and np.all(n_support >= 0) else 0
    coef, vectors = _floats(attributes, "coefficients", source), _floats(attributes, "support_vectors", source)
    rho = _floats(attributes, "rho", source)
    d = len(vectors) // m if m else 0
    if m == 0 or len(coef) != (k - 1) * m or len(vectors) != d * m or len(rho) != k * (k - 1) // 2:
        raise ModelError(f"the SVMClassifier of {source} has no support vectors, or tables of sizes that do not match")
    if not 1 <= d <= MAX_FEATURES:
        raise ModelError(f"the SVMClassifier of {source} has {d:,} features; 1 to {MAX_FEATURES:,} can be read")
    kind = attributes.get("kernel_type", b"LINEAR")
    kind = kind.decode("ascii", "replace").lower() if isinstance(kind, bytes) else "unknown"
    parameters = _floats(attributes, "kernel_params", source).tolist()
    kernel = libsvm_kernel(kind, source, **dict(zip(PARAMETERS, parameters, strict=False)))
    return libsvm_model(
        vectors.reshape(m, d),
        coef.reshape(k - 1, m),
        rho,  # added, unlike LIBSVM's
        n_support,
        kernel,
        classes,
        transform=_in_front(graph, machines[0].input[0], d, source),
        card={"method": "ONNX SVMClassifier"},
    )


def _attributes(node: onnx.NodeProto, source: str) -> dict[str, Any]:
    import onnx

    try:
        return {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    except ValueError:
        raise ModelError(
            f"an attribute of {node.op_type[:40]!r} in {source} has no known type; export it again"
        ) from None


def _floats(attributes: dict[str, Any], name: str, source: str) -> Array:
    try:
        values = np.atleast_1d(np.asarray(attributes.get(name, []), dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ModelError(f"the attribute {name} in {source} holds something else than finite numbers; export it again")
    return values


def _classes(attributes: dict[str, Any], source: str) -> list[int | str]:
    texts = attributes.get("classlabels_strings") or []
    try:
        labels = [text.decode() for text in texts] or [int(label) for label in attributes.get("classlabels_ints") or []]
    except (AttributeError, OverflowError, TypeError, ValueError):
        labels = []
    if not 2 <= len(labels) <= MAX_VOTING_CLASSES:
        raise ModelError(f"{source} names {len(labels)} classes; 2 to {MAX_VOTING_CLASSES} can be read")
    return labels


def _in_front(graph: onnx.GraphProto, name: str, d: int, source: str) -> Transform:
    """Return what happens to a raw row before the machine sees it."""
    makers = {output: node for node in graph.node for output in node.output}
    transform = Transform.identity(d)
    for _ in range(len(graph.node) + 1):
        node = makers.get(name)
        if node is None:
            return transform
        if node.op_type == "Scaler":
            attributes = _attributes(node, source)
            offset, scale = (_floats(attributes, key, source) for key in ("offset", "scale"))
            if len(offset) not in (1, d) or len(scale) not in (1, d):
                raise ModelError(f"the Scaler of {source} is not for {d} features; export it again")
            transform = transform.after(np.broadcast_to(offset, d), np.broadcast_to(scale, d))
        elif node.op_type == "Cast":
            if _attributes(node, source).get("to") not in FLOATS:
                raise ModelError(f"{source} rounds features before its SVMClassifier; leave that out")
        elif node.op_type != "Identity":
            raise ModelError(
                f"{source} has a {node.op_type!r:.40} in front of its SVMClassifier; only a Scaler can be read there"
            )
        if not node.input:
            break
        name = node.input[0]
    raise ModelError(f"the graph of {source} goes in a circle; export it again")


MODEL_READERS.register("onnx")(
    ModelReader("ONNX with an SVMClassifier", lambda content, suffix: suffix == ".onnx", read)
)
