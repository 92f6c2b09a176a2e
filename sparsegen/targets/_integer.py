"""Integer C (q15 or q7): the functions of float32 C, with int32 scores that are exact to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.errors import OptionError
from sparsegen.lowering.agreement import agreement
from sparsegen.lowering.formats import Format
from sparsegen.lowering.guarantee import guarantee
from sparsegen.lowering.integer_program import IntegerProgram, half_power_table
from sparsegen.lowering.order_for_early_exit import order_for_early_exit, what_remains
from sparsegen.lowering.quantize import DTYPES, quantize
from sparsegen.lowering.selftest import make_selftest
from sparsegen.model import SparseModel
from sparsegen.targets import C_TYPES, Export
from sparsegen.targets._avr_loops import avr_value
from sparsegen.targets._card import MAX_NAMED_FEATURES, card_lines
from sparsegen.targets._decision import index_meaning, score_meaning
from sparsegen.targets._dsp_loops import dsp_helper
from sparsegen.targets._integer_functions import REST, functions
from sparsegen.targets._integer_loops import IntegerBody, half_power_values
from sparsegen.targets._render import render


@dataclass(frozen=True)
class IntegerTable:
    """A constant array of the generated file."""

    name: str
    comment: str
    type: str
    values: NDArray[Any]


@dataclass(frozen=True)
class RowTable:
    """A constant array of structs: the declarations of their members, and the members' values row by row."""

    fields: list[str]
    rows: list[list[NDArray[Any]]]


def integer_export(model: SparseModel, name: str, numbers: Format) -> Export:
    """Return ``<name>.c``, ``<name>.h`` and ``example_main.c`` of a model in integers."""
    if numbers.dtype not in DTYPES:
        raise OptionError(f"dtype {numbers.dtype!r} is unknown; choose one of: {', '.join(DTYPES)}")
    program = quantize(model, numbers.dtype, numbers.input, numbers.rows)
    if numbers.early_exit:
        program = order_for_early_exit(program)
    body = IntegerBody(name, program, numbers.loops, early_exit=numbers.early_exit)
    tables = _tables(program, body)
    table_bytes = sum(table.values.size * _size(table.type) for table in tables) + _row_bytes(program, body)
    promises = _promises(program, model, numbers)
    examples = np.unique(program.inputs(make_selftest(model).inputs), axis=0)
    command = f"cc -std=c99 -O2 {name}.c example_main.c -o example"
    values = {
        "name": name,
        "upper": name.upper(),
        "card": [*_card(model, program, table_bytes, body.buffer_bytes()), *_range_lines(program), *promises],
        "n_features": program.n_features,
        "n_classes": len(program.classes),
        "n_outputs": program.n_outputs,
        "n_vectors": len(program.vectors),
        "unit": program.unit,
        "score_meaning": score_meaning(program.n_outputs),
        "index_meaning": index_meaning(program.n_outputs),
        "input_meaning": _input_meaning(program),
        "input_type": body.input_type,
        "tables": tables,
        "row_tables": _row_tables(program, body),
        "helpers": _helpers(program, body),
        "dsp_lines": dsp_helper(name, program.dtype),
        "avr_lines": avr_value(name, program, body.seen) if body.avr else [],
        "functions": functions(name, body),
        "labels": [str(label) for label in program.classes],
        "n_selftest": len(examples),
        "selftest_inputs": examples.ravel(),
        "selftest_scores": program.scores(examples).ravel(),
        "example": examples[0],
        "compile_command": command,
        **half_power_values(program),
    }
    files = {
        f"{name}.c": render("c/integer_model.c.j2", **values),
        f"{name}.h": render("c/integer_model.h.j2", **values),
        "example_main.c": render("c/example_main.c.j2", **values),
    }
    return Export(
        target="c",
        runs_as="c",
        name=name,
        files=files,
        sources=(f"{name}.c",),
        n_features=program.n_features,
        n_outputs=program.n_outputs,
        table_bytes=table_bytes,
        usage=command,
        format=numbers,
        integer=program,
        promises=promises,
    )


def _promises(program: IntegerProgram, model: SparseModel, numbers: Format) -> tuple[tuple[str, str], ...]:
    """Return what holds for every input, and what was measured."""
    proof = guarantee(program, model)
    what = "score" if program.n_outputs == 1 else "lead"
    condition = "" if program.projection is None else " whose projection stays within its grid"
    down, up = proof.intervals["score"]
    beyond = program.reader.kind == "grid" and np.iinfo(program.input_dtype).max > program.reader.levels
    inputs = f"for indices up to {program.reader.levels}" if beyond else "for every input"
    return (
        ("score error", f"at most {proof.error.max():.3g} for features within their range{condition}"),
        ("label", f"cannot differ from the real-valued model's where its {what} exceeds {proof.margin:.3g}"),
        ("overflow", f"ruled out {inputs}; scores stay within {down} and {up}"),
        ("agreement", str(agreement(program, model, numbers.rows, numbers.labels))),
    )


def _tables(program: IntegerProgram, body: IntegerBody) -> list[IntegerTable]:
    """Return the arrays in the order and layout in which the loops read them."""
    tables, reader = [], program.reader
    if not body.direct and reader.kind == "f32":
        tables += [
            IntegerTable("offset", "subtracted from each raw feature", "float", reader.offset),
            IntegerTable("factor", "then multiplied with it", "float", reader.factor),
        ]
    elif not body.direct:
        tables += [
            IntegerTable("multiplier", "each raw feature is multiplied with this", "int16_t", reader.multiplier),
            IntegerTable("bias", "then this is added", "int32_t", reader.bias),
        ]
        if len(np.unique(reader.shift)) > 1:
            tables.append(IntegerTable("shift", "then it is shifted to the right", "uint8_t", reader.shift))
    if program.projection is not None:
        comment = "rows of the projection, one per projected value"
        tables += [
            IntegerTable("projection", comment, body.weight, program.projection.weights),
            IntegerTable("projection_bias", "constant term of the projection", "int32_t", program.projection.bias),
        ]
    if program.form == "linear":
        comment = "weights: for each output, one per feature"
        tables.append(IntegerTable("coef", comment, "int16_t", program.coef))
    if program.n_outputs > 1:
        comment = "score of each output before any vector is added"
        tables.append(IntegerTable("intercept", comment, "int32_t", program.intercept))
    if program.form != "linear":
        comment = "2^15 * 2^-f for f from 0 to 1"
        tables.append(IntegerTable("powers", comment, "uint16_t", half_power_table(program.octave)))
    return [IntegerTable(t.name, t.comment, t.type, t.values.ravel()) for t in tables]


def _row_tables(program: IntegerProgram, body: IntegerBody) -> list[RowTable]:
    """Return the table of vectors, which a linear kernel does not have."""
    if program.form == "linear":
        return []
    return [RowTable(_row_fields(program, body), _rows(program, body))]


def _row_fields(program: IntegerProgram, body: IntegerBody) -> list[str]:
    """Return the members of a row: a vector with all that the loop reads beside it."""
    norm = ["uint32_t norm; /* squared length */"] if program.form == "square" else []
    n_coef = program.n_outputs * len(program.doublings)
    meaning = "for each kernel, one per output"
    fields = [f"{body.grid} at[{body.seen}];", *norm, f"int16_t coef[{n_coef}]; /* {meaning} */"]
    if body.early_exit:
        fields.append(f"uint16_t rest[{len(what_remains(program)[0])}]; /* {REST} */")
    return fields


def _rows(program: IntegerProgram, body: IntegerBody) -> list[list[NDArray[Any]]]:
    """Return the values of every row, member by member."""
    rest, rows = what_remains(program), []
    for u, vector in enumerate(program.vectors):
        norm = [np.array(int(vector @ vector))] if program.form == "square" else []
        rows.append([vector, *norm, program.coef[:, :, u].T.ravel(), *([rest[u]] if body.early_exit else [])])
    return rows


def _helpers(program: IntegerProgram, body: IntegerBody) -> list[str]:
    if program.form == "linear":
        return []
    if body.avr:
        return ["c/avr.c.j2"]
    return [*(["c/dsp.c.j2"] if body.dsp else []), "c/half_power.c.j2"]


def _row_bytes(program: IntegerProgram, body: IntegerBody) -> int:
    """Return the bytes of all rows where words are aligned."""
    if program.form == "linear":
        return 0
    norm = 4 if program.form == "square" else 0
    unit = 4 if norm else 2
    vector = -(-body.seen * _size(body.grid) // unit) * unit
    rest = norm + 2 * program.n_outputs * len(program.doublings)
    if body.early_exit:
        rest += 4 if program.n_outputs == 1 else 2
    return len(program.vectors) * -(-(vector + rest) // unit) * unit


def _size(c_type: str) -> int:
    return np.dtype(next(name for name, text in C_TYPES.items() if text == c_type)).itemsize


def _input_meaning(program: IntegerProgram) -> str:
    if program.reader.kind == "grid":
        return f"Features are indices of the model's grid, from 0 to {program.reader.levels}."
    nan = ", a NaN as its start" if program.reader.kind == "f32" else ""
    return f"Features are raw; one beyond the range of training counts as its end{nan}."


def _range_lines(program: IntegerProgram) -> list[tuple[str, str]]:
    """Return the range of every raw feature, and for indices how whoever calls the export makes them."""
    if program.n_features > MAX_NAMED_FEATURES:
        return []
    if program.reader.kind != "grid":
        both = zip(program.low.tolist(), program.high.tolist(), strict=True)
        return [(f"range of x[{j}]", f"{low:.6g} to {high:.6g}") for j, (low, high) in enumerate(both)]
    ends = zip(program.low.tolist(), program.step.tolist(), strict=True)
    return [(f"x[{j}]", f"index 0 is {low:.9g}, one step is {step:.9g}") for j, (low, step) in enumerate(ends)]


def _card(model: SparseModel, program: IntegerProgram, table_bytes: int, buffer_bytes: int) -> list[tuple[str, str]]:
    stage = {"f32": "raw features", "grid": "indices of the grid"}.get(program.reader.kind, "raw whole numbers")
    if program.projection is not None:
        stage += f", projected to {len(program.projection.weights)} values"
    numbers = f"{program.dtype}: {8 if program.dtype == 'q7' else 16}-bit vectors and indices, 16-bit coefficients"
    return card_lines(model, len(program.vectors), stage, numbers, table_bytes, buffer_bytes)
