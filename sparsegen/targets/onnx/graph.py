"""The nodes, constants and documentation of one graph, in the form that its opset asks for.

Every tensor has a name that says what it holds, and every node is called like the tensor that it makes: what a viewer
shows, and what a quantizer is told to leave alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering.program import float32
from sparsegen.model import Label
from sparsegen.targets import FLOAT

if TYPE_CHECKING:
    import onnx

AXES_ARE_AN_INPUT_SINCE = {"Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13, "ReduceL1": 18, "ReduceSumSquare": 18}
"""The opset from which an operator takes its axes as a tensor; they are an attribute before."""
FIRST_LARGEST_SINCE = 12
"""The opset from which ArgMax says which of several equal scores it means. Runtimes take the first before it, too."""

UNSPLIT = 2.0
"""What every product is multiplied by, its table being halved for it.

``quantize_dynamic`` of ONNX Runtime takes a Gemm apart where this factor is 1, and rounds what it multiplies to 8 bits:
of distances, which are small differences of large numbers, nothing is left. It passes over a Gemm with another factor.
"""


class Graph:
    """Nodes and constants, in the order in which they are made."""

    def __init__(self, opset: int) -> None:
        import onnx

        self._helper, self._numpy_helper = onnx.helper, onnx.numpy_helper
        self.opset = opset
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    @property
    def table_bytes(self) -> int:
        """Bytes of the numbers among the constants."""
        return sum(len(constant.raw_data) for constant in self._constants.values())

    @property
    def float32(self) -> int:
        """What ONNX calls the type that the graph computes in."""
        return int(self._helper.np_dtype_to_tensor_dtype(FLOAT))

    def rows(self, name: str, n_features: int, dtype: np.dtype[Any]) -> str:
        """Declare the input; return the name of its rows as float32."""
        self._inputs.append(self._declared(name, dtype, n_features, "raw rows, not scaled"))
        if dtype == np.float32:
            return name
        return self.node("Cast", name, output=f"{name}_float32", to=self.float32)

    def output(self, name: str, dtype: np.dtype[Any], width: int | None = None, doc: str = "") -> None:
        """Declare a tensor as an output, with a value for each row, or with some columns."""
        self._outputs.append(self._declared(name, dtype, width, doc))

    def _declared(self, name: str, dtype: np.dtype[Any], width: int | None, doc: str) -> onnx.ValueInfoProto:
        shape: list[str | int | None] = ["n"] if width is None else ["n", width]
        kind = self._helper.np_dtype_to_tensor_dtype(dtype)
        return self._helper.make_tensor_value_info(name, kind, shape, doc_string=doc)

    def proto(self, name: str, graph_doc: str, model_doc: str, version: str) -> onnx.ModelProto:
        """Return the model with this graph, in the oldest form of the file that has the opset."""
        graph = self._helper.make_graph(
            self._nodes, name, self._inputs, self._outputs, list(self._constants.values()), doc_string=graph_doc
        )
        opsets = [self._helper.make_opsetid("", self.opset)]
        return self._helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=self._helper.find_min_ir_version_for(opsets),
            producer_name="sparsegen",
            producer_version=version,
            doc_string=model_doc,
        )

    def node(self, operator: str, *inputs: str, output: str, doc: str = "", **attributes: Any) -> str:
        """Add a node that makes the tensor ``output``; return that name."""
        self._nodes.append(
            self._helper.make_node(operator, inputs, [output], name=output, doc_string=doc or None, **attributes)
        )
        return output

    def over_axes(
        self, operator: str, value: str, axes: list[int], *, output: str, doc: str = "", **attributes: Any
    ) -> str:
        """Add a node that works along some axes."""
        if self.opset < AXES_ARE_AN_INPUT_SINCE[operator]:
            return self.node(operator, value, output=output, doc=doc, axes=axes, **attributes)
        name = f"axis{''.join(map(str, axes))}"
        self._add(name, np.array(axes, dtype=np.int64))
        return self.node(operator, value, name, output=output, doc=doc, **attributes)

    def product(self, rows: str, table: Array, plus: str, *, name: str, output: str, doc: str = "") -> str:
        """Add a node for rows times a table, called ``name``, plus something: one node starts faster than two."""
        halved = self.constant(name, table / UNSPLIT)  # exact
        return self.node("Gemm", rows, halved, plus, output=output, doc=doc, alpha=UNSPLIT)

    def first_largest(self, scores: str, *, output: str, doc: str = "") -> str:
        """Add a node for the index of the largest score of each row; the first wins on ties."""
        ties = {"select_last_index": 0} if self.opset >= FIRST_LARGEST_SINCE else {}
        return self.node("ArgMax", scores, output=output, doc=doc, axis=1, keepdims=0, **ties)

    def constant(self, name: str, values: Array) -> str:
        """Add numbers as float32; return their name."""
        return self._add(name, np.ascontiguousarray(float32(values)).reshape(values.shape))

    def whole_numbers(self, name: str, values: list[int] | int) -> str:
        """Add whole numbers; return their name."""
        return self._add(name, np.array(values, dtype=np.int64))

    def labels(self, name: str, labels: Iterable[Label]) -> str:
        """Add labels, whole numbers or texts; return their name."""
        values = np.array(list(labels))
        return self._add(name, np.char.encode(values, "utf-8").astype(object) if values.dtype.kind == "U" else values)

    def _add(self, name: str, values: np.ndarray[Any, Any]) -> str:
        self._constants.setdefault(name, self._numpy_helper.from_array(values, name))
        return name
