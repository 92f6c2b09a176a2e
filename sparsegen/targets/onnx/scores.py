"""The scores of a float program as nodes of a graph.

A runtime spends more on starting a node than on its arithmetic for one row, so nodes are few: ``Gemm`` takes a product
and a sum at once. The graph has a column of scores per class, for two classes as well: their scores are opposite
numbers, so that the largest score decides the label of every model. A regression has one column, its value.
"""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels.expression import Add, Const, Core, Exp, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.program import Part, Program
from sparsegen.targets.onnx.graph import Graph

REDUCTION_OF_FORM = {"square": "ReduceSumSquare", "absolute": "ReduceL1"}
"""The operator that adds up differences."""
OPERATOR_OF: dict[type[Expr], str] = {Add: "Add", Mul: "Mul", Exp: "Exp", Reciprocal: "Reciprocal", Pow: "Pow"}


def add_scores(graph: Graph, program: Program, rows: str, *, output: str) -> None:
    """Add every node from the raw rows to the (n, n_classes) scores, or the (n, 1) values."""
    columns = _per_class if program.classes else np.asarray
    features = _prepared(graph, program, rows)
    terms: list[tuple[str, Array]] = []
    for i, part in enumerate(program.parts):
        known: dict[Expr, str] = {Core(): _arguments(graph, part, i, features)}
        for k, outer in enumerate(part.outers):
            terms.append((_expression(graph, outer, known, f"kernel{len(terms)}"), part.coef[:, k, :]))
    total = graph.constant("intercept", columns(program.intercept))
    for k, (values, coef) in enumerate(terms):
        so_far = output if k == len(terms) - 1 else f"sum{k}"
        doc = "kernel values by coefficients"
        total = graph.product(values, columns(coef).T, total, name=f"coef{k}", output=so_far, doc=doc)


def _per_class(outputs: Array) -> Array:
    """Return a row per class from a row per output: one output is the second class's score, minus it the first's."""
    return np.concatenate([-outputs, outputs]) if len(outputs) == 1 else outputs


def _prepared(graph: Graph, program: Program, rows: str) -> str:
    """Return the name of the rows as the kernels see them."""
    if program.offset is not None and program.scale is not None:
        raw = rows
        rows = graph.node("Sub", rows, graph.constant("offset", program.offset), output="centred")
        if np.any(program.scale != 1.0):
            rows = graph.node("Mul", rows, graph.constant("scale", program.scale), output="scaled")
        if program.filled is not None:
            is_nan = graph.node("IsNaN", raw, output="missing")
            rows = graph.node("Where", is_nan, graph.constant("filled_in", program.filled), rows, output="filled")
    if program.projection is not None and program.projection_shift is not None:
        shift = graph.constant("projection_shift", program.projection_shift)
        rows = graph.product(rows, program.projection.T, shift, name="projection", output="projected")
    return rows


def _arguments(graph: Graph, part: Part, index: int, features: str) -> str:
    """Return the name of t, (n, m)."""
    vectors, scaled = f"vectors{index}", "distances from each vector, scaled and shifted as the kernels take them"
    if part.form == "dot" and part.square is None:
        shift, doc = graph.constant(f"shift{index}", part.shift), "x . z, scaled and shifted"
        return graph.product(features, part.vectors.T, shift, name=vectors, output=f"products{index}", doc=doc)
    if part.form == "dot":
        rest = _without_dot_product(graph, part, index, features)
        return graph.product(features, part.vectors.T, rest, name=vectors, output=f"distances{index}", doc=scaled)
    column = graph.over_axes("Unsqueeze", features, [1], output=f"column{index}")
    difference = graph.node("Sub", column, graph.constant(vectors, part.vectors), output=f"differences{index}")
    size = graph.over_axes(REDUCTION_OF_FORM[part.form], difference, [2], output=f"sizes{index}", keepdims=0)
    slope = graph.constant(f"slope{index}", np.array(part.slope))
    if not np.any(part.shift):
        return graph.node("Mul", size, slope, output=f"distances{index}", doc=scaled)
    sloped = graph.node("Mul", size, slope, output=f"sloped{index}")
    shift = graph.constant(f"shift{index}", part.shift)
    return graph.node("Add", sloped, shift, output=f"distances{index}", doc=scaled)


def _without_dot_product(graph: Graph, part: Part, index: int, features: str) -> str:
    """Return the name of t without its dot products: the shift, plus a weight times what a row has of squares."""
    square, shift = np.asarray(part.square), graph.constant(f"shift{index}", part.shift)
    name, weight = f"squares{index}", square[0]
    if np.all(square == weight):
        squares = graph.over_axes("ReduceSumSquare", features, [1], output=name, doc="|x|^2", keepdims=1)
    else:
        each = graph.node("Mul", features, features, output=f"each_square{index}")
        none, weights = graph.constant("none", np.zeros(1)), square[:, None]
        squares = graph.product(each, weights, none, name=f"square{index}", output=name, doc="|x|^2, weighted")
        weight = 1.0
    row, doc = np.full((1, len(part.shift)), weight), "|x|^2 and |z|^2, scaled and shifted"
    return graph.product(squares, row, shift, name=f"square_weight{index}", output=f"norms{index}", doc=doc)


def _expression(graph: Graph, expr: Expr, known: dict[Expr, str], name: str) -> str:
    """Return the name of a kernel's value, which is ``name`` unless it is known by another one already.

    ``known`` holds the values computed so far; those on the way to this one are called after it.
    """
    if expr not in known:
        operands = [_expression(graph, e, known, f"{name}_{i}") for i, e in enumerate(expr.operands)]
        known[expr] = _operation(graph, expr, operands, name)
    return known[expr]


def _operation(graph: Graph, expr: Expr, operands: list[str], name: str) -> str:
    if isinstance(expr, Const):
        return graph.constant(name, np.array(expr.value))
    if isinstance(expr, Sqrt):  # a negative argument counts as 0
        return graph.node("Sqrt", graph.node("Relu", *operands, output=f"{name}_positive"), output=name)
    if type(expr) not in OPERATOR_OF:
        raise TypeError(f"ONNX has no form for {expr}")
    return graph.node(OPERATOR_OF[type(expr)], *operands, output=name)
