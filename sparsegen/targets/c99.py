"""C99: ``<name>.c`` and ``<name>.h``, float32, no libc and no libm, with an example program.

The loops are built in :mod:`._c_loops`; the templates hold all that every model has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsegen.arrays import Array
from sparsegen.lowering import lower
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.program import Program
from sparsegen.lowering.selftest import Selftest, make_selftest
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS, Export, Target
from sparsegen.targets._c_loops import Body, is_constant
from sparsegen.targets._card import float_card_lines
from sparsegen.targets._decision import decision_lines, index_meaning, score_meaning
from sparsegen.targets._integer import integer_export
from sparsegen.targets._render import c_real, check_name, render

EXP2_COEFFICIENTS = (0.0013264727, 0.009671513, 0.055507336, 0.24022242, 0.693147, 1.0)  # minimax on [-0.5, 0.5]
EXP2_BOUND = "2.0e-7"
HELPERS = ("exp2", "abs", "sqrt")
CONSTANT_IN_CODE = ("scale", "square")  # where all entries are equal; the loops then hold the value

TABLE_COMMENTS = {
    "offset": "subtracted from each raw feature",
    "scale": "then multiplied with it",
    "projection": "rows of the projection, one per projected value",
    "projection_shift": "constant term of the projection",
    "vectors": "expansion vectors, one after the other",
    "square": "weights of the squared features",
    "coef": "coefficients: for each vector, for each kernel, one per output",
    "intercept": "score of each output before any vector is added",
}


LED_VECTORS = "expansion vectors, one after the other, each after the constant term of its kernel argument"


@dataclass(frozen=True)
class Table:
    """A constant array of the generated file."""

    name: str
    comment: str
    values: Array


class C99(Target):
    """Portable C99 source and header."""

    name = "c"
    description = "C99 source and header, float32, no libc, no libm, no heap; also compiles as C++"

    def export(self, model: SparseModel, name: str, numbers: Format = FLOAT32) -> Export:
        """Return ``<name>.c``, ``<name>.h`` and ``example_main.c``."""
        check_name(name)
        if numbers.dtype != FLOAT32.dtype:
            return integer_export(model, name, numbers)
        program = lower(model, base_two=True)
        selftest = make_selftest(model)
        tables = _tables(program)
        table_bytes = 4 * sum(table.values.size for table in tables)
        buffers = _buffer_floats(program)
        command = f"cc -std=c99 -O2 {name}.c example_main.c -o example"
        body = Body(name, program).lines()
        helpers = [helper for helper in HELPERS if any(f"{name}_{helper}(" in line for line in body)]
        values = {
            "name": name,
            "upper": name.upper(),
            "card": float_card_lines(model, program, table_bytes, 4 * (buffers + program.n_outputs)),
            "n_features": program.n_features,
            "n_classes": len(program.classes),
            "n_outputs": program.n_outputs,
            "n_vectors": max(len(part.vectors) for part in program.parts),
            "score_meaning": score_meaning(program.n_outputs),
            "index_meaning": index_meaning(program.n_outputs),
            "headers": ["stdint.h"] if helpers else [],
            "helpers": [f"c/{helper}.c.j2" for helper in helpers],
            "input_type": "float",
            "exp2_bound": EXP2_BOUND,
            "exp2_polynomial": _horner("f", EXP2_COEFFICIENTS),
            "tables": tables,
            "body": body,
            "decision": _decision(name, program.n_outputs),
            "labels": [str(label) for label in program.classes],
            **_selftest_values(name, selftest),
            "compile_command": command,
        }
        files = {
            f"{name}.c": render("c/model.c.j2", **values),
            f"{name}.h": render("c/model.h.j2", **values),
            "example_main.c": render("c/example_main.c.j2", **values),
        }
        return Export(
            target=self.name,
            runs_as="c",
            name=name,
            files=files,
            sources=(f"{name}.c",),
            n_features=program.n_features,
            n_outputs=program.n_outputs,
            table_bytes=table_bytes,
            usage=command,
        )


def _tables(program: Program) -> list[Table]:
    """Return the arrays in the order and layout in which the loops read them."""
    named = program.tables()
    tables = []
    for name, values in named.items():
        stem, suffix = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz_")
        if stem == "shift" or (stem in CONSTANT_IN_CODE and is_constant(values)):
            continue
        comment = TABLE_COMMENTS[stem]
        if stem == "vectors" and not is_constant(shift := named[f"shift{suffix}"]):
            values, comment = np.column_stack([shift, values]), LED_VECTORS
        if stem == "coef":
            values = values.transpose(2, 1, 0)  # vector, kernel, output
        tables.append(Table(name, comment, values.ravel()))
    return tables


def _horner(variable: str, coefficients: Sequence[float]) -> str:
    text = c_real(coefficients[0])
    for i, coefficient in enumerate(coefficients[1:]):
        text = f"{f'({text})' if i else text} * {variable} + {c_real(coefficient)}"
    return text


def _decision(name: str, n_outputs: int) -> list[str]:
    if n_outputs == 1:
        return ["", f"    {name}_scores(x, scores);", "    return scores[0] > 0.0f ? 1 : 0;"]
    return decision_lines(name, n_outputs)


def _buffer_floats(program: Program) -> int:
    scaled = 0 if program.offset is None else program.n_features
    return scaled + (0 if program.projection is None else len(program.projection))


def _selftest_values(name: str, selftest: Selftest) -> dict[str, object]:
    classes = [int(c) for c in selftest.classes]
    # Where a score may be on either side of the boundary within the tolerance, its class proves nothing.
    check = [f"        if ({name}_predict(x) != classes[i]) {{", "            return i + 1;", "        }"]
    return {
        "n_selftest": len(selftest.inputs),
        "selftest_inputs": selftest.inputs.ravel(),
        "selftest_scores": selftest.scores.ravel(),
        "selftest_classes": [classes] if selftest.clear else [],
        "selftest_class_check": check if selftest.clear else [],
        "tolerance": selftest.tolerance,
        "example": selftest.inputs[0],
    }


TARGETS.register("c")(C99())
