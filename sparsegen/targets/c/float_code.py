"""Float C: what the templates print for a program. Everything is decided here; the C itself is in templates/c."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels.expression import Add, Const, Core, Exp2, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.overflow import safe_power_of_ten
from sparsegen.lowering.program import Part, Program
from sparsegen.targets import FLOAT
from sparsegen.targets.c.code import WORD, CCode, Table, index_type
from sparsegen.targets.c.probability_code import probability_bytes, probability_values
from sparsegen.targets.c.simd import Blocks, make_blocks
from sparsegen.targets.c.stack import float_stack
from sparsegen.targets.c.walk import SQUARES_STEP, WRITTEN_OUT, Walk, make_walk
from sparsegen.targets.card import float_card_lines
from sparsegen.targets.render import c_real

HELPERS = ("exp2", "abs", "sqrt")
"""Functions that the C brings along, named like their templates."""
CONSTANT_IN_CODE = ("scale", "filled", "square")  # tables that the code replaces by a number if all entries are equal

TABLE_COMMENTS = {
    "offset": "subtracted from each raw feature",
    "scale": "factor of each feature, after the subtraction",
    "filled": "what a NaN counts as, after both",
    "projection": "rows of the projection, one per projected value",
    "projection_shift": "constant term of the projection",
    "vectors": "expansion vectors, one after the other",
    "square": "weights of the squared features",
    "coef": "coefficients: for each vector, for each kernel, one per output",
    "intercept": "score of each output before any vector is added",
}
LED_VECTORS = "expansion vectors, one after the other, each preceded by the constant term of its kernel argument"
BLOCKED_VECTORS = "expansion vectors in blocks of {width}: of each block the first features, then the second ones, ..."
LED_BLOCKS = "expansion vectors in blocks of {width}: of each block the constant terms, then the first features, ..."


@dataclass(frozen=True)
class Statement:
    """One assignment of a kernel's value: ``result = left symbol right``, or ``result = function(left)``."""

    result: str
    left: str
    symbol: str = ""
    right: str = ""
    function: str = ""


@dataclass
class KernelCode:
    """The statements that compute kernels from ``t``; what several kernels share is computed once."""

    statements: list[Statement] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    """The names in ``HELPERS`` that they call."""
    _known: dict[Expr, str] = field(default_factory=dict)

    def value(self, expr: Expr) -> str:
        """Return the variable or constant that holds an expression's value."""
        if expr not in self._known:
            self._known[expr] = self._compute(expr)
        return self._known[expr]

    def _compute(self, expr: Expr) -> str:
        match expr:
            case Core():
                return "t"
            case Const(value):
                return c_real(value)
            case Add(a, b):
                return self._store(self.value(a), symbol="+", right=self.value(b))
            case Mul(a, b):
                return self._store(self.value(a), symbol="*", right=self.value(b))
            case Exp2(a):
                return self._store(self.value(a), function="exp2")
            case Reciprocal(a):
                return self._store(c_real(1.0), symbol="/", right=self.value(a))
            case Sqrt(a):
                return self._store(self.value(a), function="sqrt")
            case Pow(a, Const(n)):
                return self._power(self.value(a), int(n))
        raise TypeError(f"C has no form for {expr}")

    def _power(self, base: str, n: int) -> str:
        """Square and multiply."""
        if n == 1:
            return base
        half = self._power(base, n // 2)
        squared = self._store(half, symbol="*", right=half)
        return self._store(squared, symbol="*", right=base) if n % 2 else squared

    def _store(self, left: str, *, symbol: str = "", right: str = "", function: str = "") -> str:
        if function:
            self.functions.add(function)
        statement = Statement(f"k{len(self.statements)}", left, symbol, right, function)
        self.statements.append(statement)
        return statement.result


@dataclass(frozen=True)
class Weighted:
    """A kernel's value, and where its coefficients begin."""

    value: str
    at: int


@dataclass(frozen=True)
class PartCode:
    """One loop over the vectors."""

    suffix: str
    n_vectors: int
    is_dot: bool
    is_square: bool
    has_squares: bool
    """Whether the squared features are part of ``t``."""
    weighs_squares: bool
    """Whether each of them has its own weight."""
    square: float
    """Their common weight."""
    leads: bool
    """Whether each vector is preceded by its constant term."""
    shift: float
    """The constant term that all vectors share."""
    slope: float
    walk: Walk
    statements: Sequence[Statement]
    functions: frozenset[str]
    kernels: Sequence[Weighted]
    advance: int
    """How far the pointer into the coefficients moves."""
    blocks: Blocks | None
    """How the vectors lie where sums are computed side by side."""

    @property
    def adds_shift(self) -> bool:
        """Whether a sum of differences has a constant term."""
        return self.shift != 0.0


def float_code(lowered: Lowered, program: Program, name: str, loops: str) -> CCode:
    """Return what the templates print for a float program, with the wanted loops if there are such for floats."""
    several = len(program.parts) > 1
    side_by_side = loops == "simd"
    parts = [_part(part, str(i) if several else "", program, side_by_side) for i, part in enumerate(program.parts)]
    tables = _tables(program, {part.suffix: part.blocks for part in parts})
    table_bytes = sum(table.size for table in tables)
    is_scaled, is_projected = program.offset is not None, program.projection is not None
    buffers = is_scaled * program.n_features + is_projected * program.n_seen
    buffers += sum(part.blocks.width for part in parts if part.blocks is not None)
    row, scores = (FLOAT.itemsize * n for n in (program.n_features, program.n_outputs))
    stack = float_stack(FLOAT.itemsize * buffers, scores, row, probability_bytes(lowered))
    functions = set().union(*(part.functions for part in parts))
    functions |= {"exp2"} if lowered.probabilities is not None else set()
    helpers = [f"c/{helper}.c.j2" for helper in HELPERS if helper in functions]
    longest = max(program.n_features, program.n_seen, *(part.n_vectors for part in parts))
    selftest = lowered.selftest
    return CCode(
        lowered,
        name,
        table_bytes,
        {
            "is_integer": False,
            "reads_indices": False,
            "card": float_card_lines(lowered, program, table_bytes, stack),
            "unit": 1.0,
            "n_vectors": max(part.n_vectors for part in parts),
            "feature_limit": f"1e{safe_power_of_ten(program)}",
            "summed_tables": [table.name for table in tables],
            "table_sum": sum(table.byte_sum for table in tables) % WORD,
            "helpers": helpers,
            "exponents_rise": any(kernel.exponents_rise for kernel in lowered.model.kernels),
            "tables": tables,
            "index": index_type(longest),
            "parts": parts,
            "squared_parts": [part for part in parts if part.has_squares],
            "commonly_squared_parts": [part for part in parts if part.has_squares and not part.weighs_squares],
            "one_part": not several,
            "is_scaled": is_scaled,
            "is_projected": is_projected,
            "is_raw": not is_scaled and not is_projected,
            "squares_while_scaling": is_scaled and not is_projected,
            "rescales": is_scaled and not _is_one(program.scale),
            "scale_is_constant": is_scaled and is_constant(_given(program.scale)),
            "fills": program.filled is not None,
            "filled_is_constant": program.filled is not None and is_constant(program.filled),
            "common_filled": 0.0 if program.filled is None else float(program.filled[0]),
            "common_scale": 1.0 if program.scale is None else float(program.scale[0]),
            "features": "projected" if is_projected else "scaled" if is_scaled else "x",
            "projected_from": "scaled" if is_scaled else "x",
            "n_seen": program.n_seen,
            "projection_walk": make_walk(program.n_features, written_out=WRITTEN_OUT),
            "squares_walk": make_walk(program.n_seen, SQUARES_STEP),
            "tolerance": selftest.tolerance,
            "checks_classes": selftest.clear and lowered.model.has_classes,
            "selftest_classes": [int(c) for c in selftest.classes],
            **probability_values(lowered),
        },
    )


def _given(values: Array | None) -> Array:
    return np.empty(0) if values is None else values


def _is_one(values: Array | None) -> bool:
    return values is not None and bool(np.all(values == 1.0))


def _part(part: Part, suffix: str, program: Program, side_by_side: bool) -> PartCode:
    code = KernelCode()
    leads = not is_constant(part.shift)
    values = [code.value(outer) for outer in part.outers]
    own = {"abs"} if part.form == "absolute" else set()
    return PartCode(
        suffix=suffix,
        n_vectors=len(part.vectors),
        is_dot=part.form == "dot",
        is_square=part.form == "square",
        has_squares=part.square is not None,
        weighs_squares=part.square is not None and not is_constant(part.square),
        square=0.0 if part.square is None else float(part.square[0]),
        leads=leads,
        shift=float(part.shift[0]),
        slope=part.slope,
        walk=make_walk(program.n_seen, written_out=WRITTEN_OUT, lead=int(leads)),
        statements=code.statements,
        functions=frozenset(code.functions | own),
        kernels=[Weighted(value, i * program.n_outputs) for i, value in enumerate(values)],
        advance=program.n_outputs * len(values),
        blocks=make_blocks(len(part.vectors), leads) if side_by_side else None,
    )


def _tables(program: Program, blocks: Mapping[str, Blocks | None]) -> list[Table]:
    """Return the arrays in the order and layout in which the loops read them."""
    named = program.tables()
    tables = []
    for name, values in named.items():
        stem, suffix = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz_")
        if stem == "shift" or (stem in CONSTANT_IN_CODE and is_constant(values)):
            continue
        comment = TABLE_COMMENTS[stem]
        if stem == "vectors":
            values, comment = _vectors(values, named[f"shift{suffix}"], blocks[suffix])
        if stem == "coef":
            values = values.transpose(2, 1, 0)  # vector, kernel, output
        tables.append(Table(name, comment, FLOAT, values.ravel()))
    return tables


def _vectors(vectors: Array, shift: Array, blocks: Blocks | None) -> tuple[Array, str]:
    """Return the table of vectors, with the constant terms that they do not share, and the comment on it."""
    leads = not is_constant(shift)
    values = np.column_stack([shift, vectors]) if leads else vectors
    if blocks is None:
        return values, LED_VECTORS if leads else TABLE_COMMENTS["vectors"]
    return blocks.table(values), (LED_BLOCKS if leads else BLOCKED_VECTORS).format(width=blocks.width)


def is_constant(values: Array) -> bool:
    """Return whether all entries of a table are equal, so that the code holds the value instead."""
    return bool(np.all(values == values[0]))
