"""Random models, rows with all extremes of a type, and many exports in one program, compared row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.kernels import KERNELS
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.model import LARGEST, VALUE, VOTES, SparseModel, Transform
from sparsegen.model.decision import DECISIONS
from sparsegen.model.task import CLASSIFICATION, REGRESSION
from sparsegen.targets import Export
from sparsegen.targets.c.code import c_type

EXTREME_FLOATS = [np.nan, 3e38, -3e38, 1e-40]


@dataclass(frozen=True)
class IntegerCase:
    """A model, and the data it might come from."""

    model: SparseModel
    rows: Array
    """Raw rows to calibrate on."""


def make_integer_case(
    seed: int,
    name: str = "rbf",
    *,
    octaves: Sequence[float] = (0,),
    m: int = 6,
    d: int = 5,
    n_classes: int = 2,
    decision: str = LARGEST,
    projected: bool = False,
    size: float = 1.0,
    far: float = 1.0,
    centre: float = 0.0,
    constant: bool = False,
    raw: bool = False,
) -> IntegerCase:
    """Return a model whose gammas are ``octaves`` apart, with coefficients of a size and vectors so far out.

    Two classes decide by the largest score where ``decision`` asks for votes; a model of values has no classes.

    ``raw`` puts the features where whole numbers up to 255 make sense.
    """
    rng = np.random.default_rng(seed)
    p = max(1, d // 2) if projected else d
    spread = 40.0 * np.ones(d) if raw else 10.0 ** rng.uniform(-2, 2, d)
    offset = 128.0 * np.ones(d) if raw else centre * spread * rng.normal(size=d)
    signs = rng.choice([-1.0, 1.0], d)
    projection = rng.normal(size=(p, d)) / np.sqrt(d) if projected else None
    transform = Transform(offset, signs / spread, projection)
    rows = offset + spread * rng.normal(size=(50, d))
    if constant:
        rows[:, 0] = offset[0]
    vectors = far * transform(offset + spread * rng.normal(size=(m, d)))
    gamma = 10.0 ** rng.uniform(-1.5, 0.5) / p
    scale = KERNELS[name].scale_parameter
    kernels = tuple(KERNELS[name].bind(**({} if scale is None else {scale: gamma * 2.0**a})) for a in octaves)
    decision = LARGEST if n_classes == 2 and decision == VOTES else decision
    coef = size * rng.normal(size=(DECISIONS[decision].n_outputs(n_classes), len(kernels), m))
    intercept = 0.3 * size * rng.normal(size=len(coef))
    task, classes = (REGRESSION, ()) if decision == VALUE else (CLASSIFICATION, tuple(range(n_classes)))
    made = SparseModel(vectors, coef, intercept, kernels, transform, classes, task, decision=decision)
    return IntegerCase(made, rows)


def integer_program(export: Export) -> IntegerProgram:
    """Return the program of an export in integers."""
    assert isinstance(export.program, IntegerProgram)
    return export.program


def ends(program: IntegerProgram) -> tuple[float, float]:
    """Return the least and largest input there is."""
    if program.reader.kind.is_float:
        return -np.inf, np.inf
    if program.reader.kind.is_grid:
        return 0, program.reader.levels
    limits = np.iinfo(program.input_dtype)
    return int(limits.min), int(limits.max)


def extreme_inputs(program: IntegerProgram, rows: Array, seed: int = 0) -> NDArray[Any]:
    """Return inputs: rows, rows far outside, every feature at either end of the type, NaN."""
    rng = np.random.default_rng(seed)
    far = program.low + program.step * program.reader.levels * rng.normal(size=(20, program.n_features)) * 4.0
    inputs = [program.inputs(rows), program.inputs(far)]
    if program.projection is None and program.form != "linear":
        inputs.append(program.inputs(program.low + program.vectors * program.step))  # a distance of 0
    kinds = [*ends(program), 0]
    if program.reader.kind.is_float:
        kinds += EXTREME_FLOATS
    n = program.n_features
    inputs += [np.full((1, n), kind).astype(program.input_dtype) for kind in kinds]
    inputs += [np.array(rng.choice(kinds, (10, n))).astype(program.input_dtype)]
    mixed = program.inputs(far)
    mixed[rng.random(mixed.shape) < 0.3] = kinds[1]
    return np.vstack([*inputs, mixed])


def together(exports: Sequence[Export], name: str = "all") -> Export:
    """Return one export that runs many on the first features of one row: their scores, then their class indices.

    Its class index is the number of self-tests that failed.
    """
    first = exports[0]
    assert {(e.input_dtype, e.score_dtype) for e in exports} == {(first.input_dtype, first.score_dtype)}
    kind, score = c_type(first.input_dtype), c_type(first.score_dtype)
    n_scores = sum(e.n_outputs for e in exports)
    calls, at = [], 0
    for i, e in enumerate(exports):
        calls += [
            f"    {e.name}_scores(x, scores + {at});",
            f"    scores[{n_scores + i}] = ({score}){e.name}_predict(x);",
        ]
        at += e.n_outputs
    functions = {f"{name}_scores": f"void {name}_scores(const {kind} *x, {score} *scores)"}
    lines = [
        *(f'#include "{e.name}.c"' for e in exports),
        f'#include "{name}.h"',
        functions[f"{name}_scores"], "{", *calls, "}",
        f"int {name}_predict(const {kind} *x)", "{", "    int failed = 0;", "    (void)x;",
        *(f"    failed += {e.name}_selftest() != 0;" for e in exports), "    return failed;", "}", "",
    ]  # fmt: skip
    header = ["#include <stdint.h>", f"{functions[f'{name}_scores']};", f"int {name}_predict(const {kind} *x);", ""]
    files = {file: content for e in exports for file, content in e.files.items() if file != "example_main.c"}
    files |= {f"{name}.c": "\n".join(lines).encode(), f"{name}.h": "\n".join(header).encode()}
    return Export(
        "c", "c", name, files, (f"{name}.c",), max(e.n_features for e in exports), n_scores + len(exports), 0, "",
        input_dtype=first.input_dtype, score_dtype=first.score_dtype,
    )  # fmt: skip


def simulated(exports: Sequence[Export], inputs: NDArray[Any]) -> NDArray[np.int32]:
    """Return what :func:`together` must give for rows of the widest export."""
    programs = [integer_program(e) for e in exports]
    scores = [p.scores(inputs[:, : p.n_features]) for p in programs]
    labels = [p.predict_index(inputs[:, : p.n_features])[:, None] for p in programs]
    return np.hstack([*scores, *labels]).astype(np.int32)


def shared_inputs(exports: Sequence[Export], seed: int = 0) -> NDArray[Any]:
    """Return rows for :func:`together`, extremes included; none is beyond the smallest grid."""
    programs = [integer_program(e) for e in exports]
    widest = max(programs, key=lambda p: p.n_features)
    rng = np.random.default_rng(seed)
    inside = widest.low + widest.step * widest.reader.levels * rng.random((20, widest.n_features))
    inputs = extreme_inputs(widest, inside, seed)
    if widest.reader.kind.is_grid:
        inputs = np.minimum(inputs, min(p.reader.levels for p in programs))
    return inputs.astype(widest.input_dtype)
