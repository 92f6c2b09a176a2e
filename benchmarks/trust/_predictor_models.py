"""Random models in every number format, and the C that lets libFuzzer compare each with the real-valued model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.kernels.expression import Add, Base, Const, Exp, Expr, Mul, Pow, Reciprocal, Sqrt, base_of
from sparsegen.lowering.formats import INPUT_KINDS, INTEGERS, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.model import SparseModel, Transform
from sparsegen.targets import PORTABLE, TARGETS
from sparsegen.targets.c.code import c_type
from sparsegen.targets.c.package import SPECIAL_LOOPS, c_code
from sparsegen.targets.render import c_array, c_string

FEATURES = (1, 3, 4, 8, 17, 33)  # around the steps of unrolled loops
BASE_NUMBER = {"dot": 0, "sqdist": 1, "l1dist": 2}
FLOAT_TOLERANCE = 1e-4  # of a float32 score, relative to the sum of its absolute terms, where the data lies
ANCHORS = 20


@dataclass(frozen=True)
class Plan:
    """What a predictor is generated from."""

    kernel: str
    dtype: str = "f32"
    reads: str = "f32"
    n_kernels: int = 1
    n_classes: int = 2
    n_features: int = 4
    n_vectors: int = 5
    is_projected: bool = False
    early_exit: bool = False
    loops: str = PORTABLE

    @property
    def title(self) -> str:
        """The plan in words."""
        words = [
            self.kernel,
            self.dtype,
            f"reads {self.reads}",
            f"{self.n_classes} classes",
            f"{self.n_features} features",
        ]
        words += [f"{self.n_kernels} kernels"] * (self.n_kernels > 1) + ["projected"] * self.is_projected
        return ", ".join(words + ["early exit"] * self.early_exit + [f"{self.loops} loops"] * (self.loops != PORTABLE))


@dataclass(frozen=True)
class Predictor:
    """The files of one predictor under test."""

    plan: Plan
    name: str
    files: dict[str, bytes]
    """The generated C, and ``<name>_case.c``, which includes it."""
    anchors: bytes
    """Rows where the data lies, as the predictor reads them."""
    row_bytes: int


def plans(*, integer: bool, seed: int) -> list[Plan]:
    """Return every kernel in every format and input kind, with the other choices drawn; the order is drawn too."""
    rng = np.random.default_rng(seed)
    names = [name for name, kernel in KERNELS.items() if not integer or kernel.bind().falls or kernel.bind().is_linear]
    formats = [numbers.name for numbers in INTEGERS] if integer else ["f32"]
    combined = itertools.product(names, formats, INPUT_KINDS if integer else ("f32",) * 4)
    drawn = [_drawn(rng, Plan(kernel, dtype, reads)) for kernel, dtype, reads in combined]
    return [drawn[i] for i in rng.permutation(len(drawn))]


def _drawn(rng: np.random.Generator, plan: Plan) -> Plan:
    is_integer = plan.dtype != "f32"
    return replace(
        plan,
        n_kernels=1 if KERNELS[plan.kernel].scale_parameter is None else int(rng.choice([1, 1, 2])),
        n_classes=int(rng.choice([2, 3, 5])),
        n_features=int(rng.choice(FEATURES)),
        n_vectors=int(rng.choice([1, 5, 12])),
        is_projected=bool(rng.random() < 0.4),
        early_exit=is_integer and bool(rng.random() < 0.5),
        loops=str(rng.choice([PORTABLE, PORTABLE, *SPECIAL_LOOPS])),
    )


def make_predictor(plan: Plan, name: str, seed: int) -> Predictor:
    """Return a random model's predictor and the case around it."""
    model, rows = random_model(plan, np.random.default_rng(seed))
    numbers = Format(plan.dtype, plan.reads, early_exit=plan.early_exit, rows=rows if plan.dtype != "f32" else None)
    target = TARGETS["c"]
    lowered = target.lower(model, numbers)
    export = target.write(lowered, name, plan.loops)
    inputs = lowered.inputs(rows[:ANCHORS])
    files = {file: content for file, content in export.files.items() if file != "example_main.c"}
    files[f"{name}_case.c"] = "\n".join(_case(plan, name, lowered, rows, inputs)).encode()
    return Predictor(plan, name, files, inputs.tobytes(), inputs[0].nbytes)


def random_model(plan: Plan, rng: np.random.Generator) -> tuple[SparseModel, Array]:
    """Return a model and rows where its data lies: whole numbers up to 255 if it reads those."""
    d = plan.n_features
    p = max(1, d // 2) if plan.is_projected else d
    reads_integers = INPUT_KINDS[plan.reads].is_raw_integer
    spread = np.full(d, 40.0) if reads_integers else 10.0 ** rng.uniform(-2, 2, d)
    offset = np.full(d, 128.0) if reads_integers else spread * rng.normal(size=d) * rng.choice([0.0, 3.0])
    projection = rng.normal(size=(p, d)) / np.sqrt(d) if plan.is_projected else None
    transform = Transform(offset, rng.choice([-1.0, 1.0], d) / spread, projection)
    rows = np.asarray((offset + spread * rng.normal(size=(60, d))).astype(np.float32), dtype=np.float64)
    vectors = transform(offset + spread * rng.normal(size=(plan.n_vectors, d)))
    family = KERNELS[plan.kernel]
    gamma = 10.0 ** rng.uniform(-1.5, 0.5) / p
    scales = [
        {} if family.scale_parameter is None else {family.scale_parameter: gamma * 2.0**i}
        for i in range(plan.n_kernels)
    ]
    kernels = tuple(family.bind(**scale) for scale in scales)
    coef = rng.normal(size=(1 if plan.n_classes == 2 else plan.n_classes, len(kernels), plan.n_vectors))
    classes = tuple(f'class "{i}"' for i in range(plan.n_classes))
    return SparseModel(vectors, coef, 0.3 * rng.normal(size=len(coef)), kernels, transform, classes), rows


# ---- The case in C ---------------------------------------------------------------------------------------------------


def _case(plan: Plan, name: str, lowered: Lowered, rows: Array, inputs: Any) -> Iterator[str]:
    model, program, upper = lowered.model, lowered.program, name.upper()
    is_integer, T = isinstance(program, IntegerProgram), model.transform
    limits = np.finfo(np.float32) if lowered.input_dtype.kind == "f" else np.iinfo(lowered.input_dtype)
    yield f'#include "{name}.c"'
    yield f"#define NAME(suffix) {name}_##suffix"
    yield f"#define CASE {name}_case"
    yield f"#define TITLE {c_string(plan.title)}"
    yield f"typedef {c_type(lowered.input_dtype)} input_t;"
    yield f"typedef {c_type(lowered.score_dtype)} score_t;"
    numbers: dict[str, float] = {
        "SEEN": T.n_projected, "VECTORS": model.n_vectors, "KERNELS": len(model.kernels), "ANCHORS": len(inputs),
        "IS_INTEGER": int(is_integer), "IS_PROJECTED": int(T.projection is not None),
        "INPUT_MIN": float(limits.min), "INPUT_MAX": float(limits.max),
    }  # fmt: skip
    for macro in ("FEATURES", "OUTPUTS", "CLASSES"):
        yield f"#define {macro} {upper}_{macro}"
    tables: dict[str, Array] = {
        "offset": T.offset, "scale": T.scale, "projection": np.zeros(1) if T.projection is None else T.projection,
        "vectors": model.vectors, "coef": model.coef, "intercept": model.intercept,
    }  # fmt: skip
    if isinstance(program, IntegerProgram) and lowered.guarantee is not None:
        least, largest = lowered.guarantee.intervals["score"]
        numbers |= {"HAS_INDICES": int(program.reader.kind.is_grid), "LEVELS": program.reader.levels}
        numbers |= {"UNIT": program.unit, "LEAST": least, "LARGEST": largest}
        tables |= {"first": program.low, "step": program.step, "error": lowered.guarantee.error}
        tables |= {"low": program.range.low, "high": program.range.high}
    else:
        stated = c_code(lowered, name).values["feature_limit"]
        numbers |= {"FEATURE_LIMIT": float(stated)}
        numbers |= {"HAS_INDICES": 0, "LEVELS": 0, "UNIT": 1, "LEAST": 0, "LARGEST": 0}
        tables |= {"low": rows.min(axis=0), "high": rows.max(axis=0)}
        tables |= {"first": np.zeros(T.n_features), "step": np.ones(T.n_features)}
        tables |= {"error": np.full(model.n_outputs, FLOAT_TOLERANCE)}
    yield from (f"#define {macro} ({value!r})" for macro, value in numbers.items())
    yield from (_doubles(table, values) for table, values in tables.items())
    yield f"static const input_t anchors[] = {c_array(inputs.ravel())};"
    yield f"static const char *const labels[] = {{{', '.join(c_string(str(label)) for label in model.classes)}}};"
    yield "#include <math.h>"
    yield from _kernels(model.kernels)
    yield '#include "case.c"'
    yield ""


def _doubles(name: str, values: Array) -> str:
    return f"static const double {name}[] = {{{', '.join(map(repr, np.ravel(values).tolist()))}}};"


def _kernels(kernels: Sequence[BoundKernel]) -> Iterator[str]:
    for i, kernel in enumerate(kernels):
        yield f"static double kernel{i}(double base) {{ return {_expression(kernel.expression)}; }}"
    yield f"static double (*const kernels[])(double) = {{{', '.join(f'kernel{i}' for i in range(len(kernels)))}}};"
    numbers = [str(BASE_NUMBER[base_of(kernel.expression).name]) for kernel in kernels]
    yield f"static const int bases[] = {{{', '.join(numbers)}}};"


def _expression(expr: Expr) -> str:
    """Return a kernel's expression in double arithmetic with libm."""
    match expr:
        case Const(value):
            return f"({value!r})"
        case Base():
            return "base"
        case Add(a, b):
            return f"({_expression(a)} + {_expression(b)})"
        case Mul(a, b):
            return f"({_expression(a)} * {_expression(b)})"
        case Exp(a):
            return f"exp({_expression(a)})"
        case Reciprocal(a):
            return f"(1.0 / {_expression(a)})"
        case Sqrt(a):
            return f"sqrt(fmax({_expression(a)}, 0.0))"
        case Pow(a, b):
            return f"pow({_expression(a)}, {_expression(b)})"
    raise TypeError(f"the reference has no form for {expr}")
