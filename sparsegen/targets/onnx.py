"""ONNX: one graph of plain operators; input ``X`` (n, d) float32, outputs ``label`` and ``scores``.

The graph computes the same program as the C export, so both agree. The largest score decides the label, and the first
wins on ties. A runtime spends more on starting a node than on its arithmetic for one row, so nodes are few: ``Gemm``
takes a product and a sum at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.errors import OptionError
from sparsegen.kernels.expression import Add, Const, Core, Exp, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.program import Part, Program, float32
from sparsegen.model import Label
from sparsegen.targets import PORTABLE, TARGETS, Export, Target
from sparsegen.targets.card import float_card_lines
from sparsegen.targets.render import check_name

OPSET = 17
IR_VERSION = 8
REDUCTION_OF_FORM = {"square": "ReduceSumSquare", "absolute": "ReduceL1"}
"""The operator that adds up differences."""


class Onnx(Target):
    """A graph that any ONNX runtime loads."""

    name = "onnx"
    description = "ONNX graph of plain operators, int64 or string labels, free batch dimension"

    runs_as = "onnx"
    base_two = False

    def write(self, lowered: Lowered, name: str, loops: str = PORTABLE) -> Export:
        """Return ``<name>.onnx``; the graph has no loops of its own."""
        import onnx

        check_name(name)
        model, program = lowered.model, lowered.program
        if not isinstance(program, Program):
            raise OptionError("an ONNX graph holds float32 only; export integers as C", change={"target": "c"})
        graph = _Graph(program)
        graph.build()
        text = model.classes and isinstance(model.classes[0], str)
        label_type = onnx.TensorProto.STRING if text else onnx.TensorProto.INT64
        inputs = [onnx.helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, ["n", program.n_features])]
        outputs = [
            onnx.helper.make_tensor_value_info("label", label_type, ["n"]),
            onnx.helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["n", program.n_outputs]),
        ]
        proto = onnx.helper.make_model(
            onnx.helper.make_graph(graph.nodes, name, inputs, outputs, graph.constants),
            opset_imports=[onnx.helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="sparsegen",
        )
        table_bytes = sum(4 * table.size for table in program.tables().values())
        card = dict(float_card_lines(lowered, program, table_bytes))
        onnx.helper.set_model_props(proto, {"classes": json.dumps(list(model.classes)), "card": json.dumps(card)})
        onnx.checker.check_model(proto, full_check=True)
        return Export(
            target=self.name,
            runs_as=self.runs_as,
            name=name,
            files={f"{name}.onnx": proto.SerializeToString(deterministic=True)},
            sources=(f"{name}.onnx",),
            n_features=program.n_features,
            n_outputs=program.n_outputs,
            table_bytes=table_bytes,
            usage=f"onnxruntime.InferenceSession({f'{name}.onnx'!r}).run(None, {{'X': X}})",
            lowered=lowered,
        )


class _Graph:
    """Nodes and constants of the graph, made in the order of the program."""

    def __init__(self, program: Program) -> None:
        import onnx

        self._helper, self._numpy_helper = onnx.helper, onnx.numpy_helper
        self.program = program
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def build(self) -> None:
        """Make every node from ``X`` to ``label`` and ``scores``."""
        program = self.program
        features = "X"
        if program.offset is not None and program.scale is not None:
            features = self._node("Sub", features, self._constant("offset", program.offset))
            if np.any(program.scale != 1.0):
                features = self._node("Mul", features, self._constant("scale", program.scale))
        if program.projection is not None and program.projection_shift is not None:
            projection = self._constant("projection", program.projection.T)
            shift = self._constant("projection_shift", program.projection_shift)
            features = self._node("Gemm", features, projection, shift)
        total = self._constant("intercept", program.intercept)
        values = [value for index, part in enumerate(program.parts) for value in self._values(index, part, features)]
        for value, weights in values[:-1]:
            total = self._node("Gemm", value, weights, total)
        self._node("Gemm", *values[-1], total, output="scores")
        self._label()

    def _values(self, index: int, part: Part, features: str) -> Iterator[tuple[str, str]]:
        """Yield the values of each kernel of a part for all its vectors, and their coefficients."""
        known: dict[Expr, str] = {Core(): self._arguments(part, index, features)}
        for k, outer in enumerate(part.outers):
            yield self._expression(outer, known), self._constant(f"coef{index}_{k}", part.coef[:, k, :].T)

    def _arguments(self, part: Part, index: int, features: str) -> str:
        """Return the name of t, (n, m)."""
        if part.form == "dot":
            vectors = self._constant(f"vectors{index}", part.vectors.T)
            return self._node("Gemm", features, vectors, self._without_dot_product(part, index, features))
        column = self._node("Unsqueeze", features, self._integers("middle_axis", [1]))
        difference = self._node("Sub", column, self._constant(f"vectors{index}", part.vectors))
        distance = self._node(REDUCTION_OF_FORM[part.form], difference, axes=[2], keepdims=0)
        t = self._node("Mul", distance, self._constant(f"slope{index}", np.array(part.slope)))
        return self._node("Add", t, self._constant(f"shift{index}", part.shift)) if np.any(part.shift) else t

    def _without_dot_product(self, part: Part, index: int, features: str) -> str:
        """Return the name of t without its dot products: the shift, plus a weight times what a row has of squares."""
        shift = self._constant(f"shift{index}", part.shift)
        if part.square is None:
            return shift
        if np.all(part.square == part.square[0]):
            weight, squares = part.square[0], self._node("ReduceSumSquare", features, axes=[1], keepdims=1)
        else:
            weights = self._constant(f"square{index}", part.square[:, None])
            weight, squares = 1.0, self._node("MatMul", self._node("Mul", features, features), weights)
        row = self._constant(f"square_weight{index}", np.full((1, len(part.shift)), weight))
        return self._node("Gemm", squares, row, shift)  # a product and a sum in one node

    def _expression(self, expr: Expr, known: dict[Expr, str]) -> str:
        """Return the name of a kernel's value; ``known`` holds the values computed so far."""
        if expr not in known:
            operands = [self._expression(operand, known) for operand in expr.operands]
            known[expr] = self._operation(expr, operands)
        return known[expr]

    def _operation(self, expr: Expr, operands: list[str]) -> str:
        match expr:
            case Const(value):
                return self._constant(f"number{len(self.constants)}", np.array(value))
            case Add():
                return self._node("Add", *operands)
            case Mul():
                return self._node("Mul", *operands)
            case Exp():
                return self._node("Exp", *operands)
            case Reciprocal():
                return self._node("Reciprocal", *operands)
            case Sqrt():  # a negative argument counts as 0
                return self._node("Sqrt", self._node("Relu", *operands))
            case Pow():
                return self._node("Pow", *operands)
        raise TypeError(f"ONNX has no form for {expr}")

    def _label(self) -> None:
        """Make the label: for two classes by the sign of the score, otherwise by the first of the largest."""
        classes = self.program.classes
        if self.program.n_outputs == 1:
            score = self._node("Squeeze", "scores", self._integers("output_axis", [1]))
            positive = self._node("Greater", score, self._constant("zero", np.array(0.0)))
            first, second = (self._labels(f"class{i}", classes[i]) for i in range(2))
            self._node("Where", positive, second, first, output="label")
            return
        if classes == tuple(range(len(classes))):  # the index is the label
            self._first_largest(output="label")
        else:
            labels = self._labels("classes", classes)
            self._node("Gather", labels, self._first_largest(), output="label", axis=0)

    def _first_largest(self, output: str | None = None) -> str:
        return self._node("ArgMax", "scores", output=output, axis=1, keepdims=0, select_last_index=0)

    def _node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, name: str, values: NDArray[np.float64]) -> str:
        table = np.ascontiguousarray(float32(values)).reshape(values.shape)
        self.constants.append(self._numpy_helper.from_array(table, name))
        return name

    def _labels(self, name: str, labels: Label | tuple[Label, ...]) -> str:
        values = np.array(labels)
        if values.dtype.kind == "U":
            values = np.char.encode(values, "utf-8").astype(object)
        self.constants.append(self._numpy_helper.from_array(values, name))
        return name

    def _integers(self, name: str, values: list[int]) -> str:
        if all(constant.name != name for constant in self.constants):
            self.constants.append(self._numpy_helper.from_array(np.array(values, dtype=np.int64), name))
        return name


TARGETS.register("onnx")(Onnx())
