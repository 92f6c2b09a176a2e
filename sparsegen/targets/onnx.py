"""ONNX: one graph of plain operators; input ``X`` (n, d) float32, outputs ``label`` and ``scores``.

The graph computes the same program as the C export, so both agree. The largest score decides the label, and the first
wins on ties.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.errors import OptionError
from sparsegen.kernels.expression import Add, Const, Core, Exp, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.program import Part, Program, float32
from sparsegen.targets import PORTABLE, TARGETS, Export, Target
from sparsegen.targets.card import float_card_lines
from sparsegen.targets.render import check_name

OPSET = 17
IR_VERSION = 8


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
        card = dict(float_card_lines(lowered, program, table_bytes, 0))
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
        self._int64 = int(onnx.TensorProto.INT64)
        self.program = program
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def build(self) -> None:
        """Make every node from ``X`` to ``label`` and ``scores``."""
        program = self.program
        features = "X"
        if program.offset is not None and program.scale is not None:
            features = self._node("Sub", features, self._constant("offset", program.offset))
            features = self._node("Mul", features, self._constant("scale", program.scale))
        if program.projection is not None and program.projection_shift is not None:
            features = self._node("MatMul", features, self._constant("projection", program.projection.T))
            features = self._node("Add", features, self._constant("projection_shift", program.projection_shift))
        total = self._constant("intercept", program.intercept[None, :])
        for index, part in enumerate(program.parts):
            arguments = self._arguments(part, index, features)
            known: dict[Expr, str] = {Core(): arguments}
            for k, outer in enumerate(part.outers):
                value = self._expression(outer, known)
                weights = self._constant(f"coef{index}_{k}", part.coef[:, k, :].T)
                total = self._node("Add", self._node("MatMul", value, weights), total)
        self._node("Identity", total, output="scores")
        self._label()

    def _arguments(self, part: Part, index: int, features: str) -> str:
        vectors, shift = part.vectors, self._constant(f"shift{index}", part.shift)
        if part.form == "dot":
            t = self._node("MatMul", features, self._constant(f"vectors{index}", vectors.T))
            if part.square is not None:
                squares = self._node("Mul", features, features)
                weights = self._constant(f"square{index}", part.square[:, None])
                t = self._node("Add", t, self._node("MatMul", squares, weights))
            return self._node("Add", t, shift)
        column = self._node("Unsqueeze", features, self._integers("middle_axis", [1]))
        difference = self._node("Sub", column, self._constant(f"vectors{index}", vectors))
        size = self._node("Abs", difference) if part.form == "absolute" else self._node("Mul", difference, difference)
        summed = self._node("ReduceSum", size, self._integers("last_axis", [2]), keepdims=0)
        slope = self._constant(f"slope{index}", np.array(part.slope))
        return self._node("Add", self._node("Mul", summed, slope), shift)

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
        classes = self.program.classes
        if isinstance(classes[0], str):
            labels = np.array([str(label).encode() for label in classes], dtype=object)
        else:
            labels = np.array(classes, dtype=np.int64)
        if self.program.n_outputs == 1:
            flat = self._node("Squeeze", "scores", self._integers("output_axis", [1]))
            zero = self._constant("zero", np.array(0.0))
            index = self._node("Cast", self._node("Greater", flat, zero), to=self._int64)
        else:
            index = self._node("ArgMax", "scores", axis=1, keepdims=0, select_last_index=0)
        self.constants.append(self._numpy_helper.from_array(labels, "labels"))
        self._node("Gather", "labels", index, output="label", axis=0)

    def _node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, name: str, values: NDArray[np.float64]) -> str:
        table = np.ascontiguousarray(float32(values)).reshape(values.shape)
        self.constants.append(self._numpy_helper.from_array(table, name))
        return name

    def _integers(self, name: str, values: list[int]) -> str:
        if all(constant.name != name for constant in self.constants):
            self.constants.append(self._numpy_helper.from_array(np.array(values, dtype=np.int64), name))
        return name


TARGETS.register("onnx")(Onnx())
