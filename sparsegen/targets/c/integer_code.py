"""Integer C: what the templates print for a program. Everything is decided here; the C itself is in templates/c.

The lowering has made sure that nothing overflows. ``unsigned`` has at least 16 bits, enough for an exponent, a kernel
value and a product of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsegen.lowering.curves import (
    FRACTION_BITS,
    INTERVALS,
    NARROW_INTERVALS,
    PLACE_BITS,
    HalfPower,
    SampledCurve,
    half_power_table,
)
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.promised import bound
from sparsegen.targets.c.avr import avr_values
from sparsegen.targets.c.code import WORD, CCode, Table, c_type, index_type
from sparsegen.targets.c.dsp import dsp_values
from sparsegen.targets.c.probability_code import probability_bytes, probability_tables, probability_values
from sparsegen.targets.c.projection_code import ProjectionCode, projection_code
from sparsegen.targets.c.range_code import range_lines, range_values
from sparsegen.targets.c.reader_code import reader_tables, reader_values
from sparsegen.targets.c.row_table import make_row_table
from sparsegen.targets.c.stack import integer_stack
from sparsegen.targets.c.walk import SQUARES_STEP, WRITTEN_OUT, make_walk
from sparsegen.targets.card import card_lines

UINT16_MAX = 2**16 - 1
LEAD_STRIDE = 4  # vectors between two checks of the lead, which take time


@dataclass(frozen=True)
class CurveCode:
    """How one kernel's value is computed from the distance d, and where its coefficients begin and its shift is."""

    function: str
    doubling: int
    end: int
    """The value is 0 from this distance on."""
    coef_at: int
    shift_at: int


@dataclass(frozen=True)
class SampledCode:
    """The function of one sampled curve."""

    function: str
    table: str
    is_wider: bool
    """Whether the narrowest interval has more distances than places: the distance is then shifted to the right."""
    shift: int
    end: int
    halved_from: int | None
    """From this distance on, halve before shifting to the left."""


def integer_code(lowered: Lowered, program: IntegerProgram, name: str, loops: str) -> CCode:
    """Return what the templates print for an integer program, with the wanted loops if they cover it."""
    dsp = dsp_values(program) if loops == "dsp" else None
    avr = avr_values(program) if loops == "avr" else None
    early_exit = lowered.format.early_exit and not program.is_linear
    projection = projection_code(program, has_dsp=dsp is not None, has_assembly=loops == "avr")
    groups, reader, tables = program.feature_groups, program.reader, _tables(program, projection)
    tables += probability_tables(lowered)
    row_table = make_row_table(program, lowered.format, norm_follows_vector=avr is not None)
    table_bytes = sum(table.size for table in tables) + row_table.size
    buffered = not reader.is_identity
    read_bytes = buffered * program.n_features * program.numbers.index_dtype.itemsize
    buffers = read_bytes if groups is None else groups.buffer_bytes
    buffers += 0 if projection is None else program.n_seen * program.numbers.index_dtype.itemsize
    buffers += 0 if dsp is None else dsp.buffer_bytes
    stage = reader.kind.meaning
    stage += "" if groups is None else f", added up in {groups.number} groups"
    stage += "" if projection is None else f", projected to {program.n_seen} values"
    stack = integer_stack(
        buffers,
        program.score_dtype.itemsize * program.n_outputs,
        program.input_dtype.itemsize * program.n_features,
        probability_bytes(lowered),
        is_binary=program.n_outputs == 1,
        reads_floats=reader.kind.is_float,
        projects=projection is not None,
    )
    card = card_lines(lowered, len(program.vectors), stage, table_bytes, stack)
    source = "projected" if projection is not None else "q" if buffered else "x"
    return CCode(
        lowered,
        name,
        table_bytes,
        {
            "is_integer": True,
            "checks_classes": False,  # exact scores leave nothing to check
            "card": [*card, *range_lines(program), *lowered.promises],
            "n_vectors": len(program.vectors),
            "unit": program.unit,
            "value_error": "" if lowered.guarantee is None else bound(float(lowered.guarantee.error.max())),
            "grid": c_type(program.numbers.index_dtype),
            "coef_type": c_type(program.numbers.coef_dtype),
            "has_shifts": program.shift is not None,
            "product": "unsigned" if program.numbers.levels**2 <= UINT16_MAX else "uint32_t",
            "index": index_type(program.n_features),
            "n_seen": program.n_seen,
            "source": source,
            "tables": tables,
            "summed_tables": [*(table.name for table in tables), *(["rows"] if row_table.n_rows else [])],
            "table_sum": (sum(table.byte_sum for table in tables) + row_table.byte_sum) % WORD,
            "is_linear": program.is_linear,
            "is_square": program.form == "square",
            "is_projected": projection is not None,
            "projection": projection,
            "linear_walk": make_walk(program.n_features),
            "squares_walk": make_walk(program.n_seen, SQUARES_STEP),
            "vector_walk": make_walk(program.n_seen, written_out=WRITTEN_OUT),
            "row_table": row_table,
            "n_coef": program.n_outputs * len(program.curves),
            "intercept": int(program.intercept[0]),
            "early_exit": early_exit,
            "n_rest": 2 if program.n_outputs == 1 else 1,
            "lead_stride": LEAD_STRIDE,
            "dsp": dsp,
            "avr": avr,
            **reader_values(reader),
            **range_values(program),
            **_curve_values(program, name),
            **probability_values(lowered),
        },
    )


def _curve_values(program: IntegerProgram, name: str) -> dict[str, object]:
    """Return what the templates print of the kernels' values."""
    curves: Sequence[HalfPower | SampledCurve] = program.curves
    halves = [curve for curve in curves if isinstance(curve, HalfPower)]
    sampled = [curve for curve in curves if isinstance(curve, SampledCurve)]
    suffixes = _suffixes(len(sampled))
    functions = ["half_power"] * len(halves) or [f"kernel{suffix}" for suffix in suffixes]
    codes = [
        CurveCode(
            f"{name}_{function}",
            curve.doubling if isinstance(curve, HalfPower) else 0,
            curve.end,
            i * program.n_outputs,
            i,
        )
        for i, (function, curve) in enumerate(zip(functions, curves, strict=True))
    ]
    octave = halves[0].octave if halves else 0
    return {
        "curves": codes,
        "first_curve": codes[0] if codes else None,
        "has_half_power": bool(halves),
        "sampled_curves": [
            SampledCode(
                f"{name}_kernel{suffix}",
                f"{name}_values{suffix}",
                curve.width > PLACE_BITS,
                abs(curve.width - PLACE_BITS),
                curve.end,
                curve.halved_from,
            )
            for suffix, curve in zip(suffixes, sampled, strict=True)
        ],
        "octave": octave,
        "half_power_end": HalfPower(octave).end,
        "exponent_shifts_right": octave > FRACTION_BITS,
        "exponent_shifts_left": octave < FRACTION_BITS,
        "exponent_shift": abs(octave - FRACTION_BITS),
        "place_bits": PLACE_BITS,
        "fraction_bits": FRACTION_BITS,
        "interval_mask": INTERVALS - 1,
        "intervals": INTERVALS,
        "place_mask": (1 << PLACE_BITS) - 1,
        "narrowest_end": NARROW_INTERVALS << PLACE_BITS,
    }


def _suffixes(n: int) -> list[str]:
    return [""] if n == 1 else [str(i) for i in range(n)]


def _tables(program: IntegerProgram, projection: ProjectionCode | None) -> list[Table]:
    """Return the arrays in the order and layout in which the loops read them."""
    tables = reader_tables(program.reader)
    tables += [] if projection is None else projection.tables
    if program.is_linear:
        comment = "weights: for each output, one per feature"
        tables.append(Table("coef", comment, program.numbers.coef_dtype, program.coef))
    if program.n_outputs > 1:
        comment = "score of each output before any vector is added"
        tables.append(Table("intercept", comment, np.dtype(np.int32), program.intercept))
    tables += _curve_tables(program)
    return [Table(t.name, t.comment, t.dtype, t.values.ravel()) for t in tables]


def _curve_tables(program: IntegerProgram) -> list[Table]:
    first = program.curves[0] if program.curves else None
    if isinstance(first, HalfPower):
        return [Table("powers", "2^15 * 2^-f for f from 0 to 1", np.dtype(np.uint16), half_power_table(first.octave))]
    sampled = [curve for curve in program.curves if isinstance(curve, SampledCurve)]
    comment = "2^15 times the kernel: 32 intervals starting at 0, then 16 twice as wide, 16 four times as wide, ..."
    return [
        Table(f"values{suffix}", comment, np.dtype(np.uint16), curve.values)
        for suffix, curve in zip(_suffixes(len(sampled)), sampled, strict=False)
    ]
