"""The body of ``<name>_scores`` in integer C, built as lines from an integer program; the templates only place them.

What is exact and what cannot overflow is decided in the lowering; here the same operations are written down in the same
order of magnitude: ``unsigned`` holds at least 16 bits, which is all an exponent and a kernel value need.
"""

from __future__ import annotations

from collections.abc import Sequence

from sparsegen.lowering.integer_program import FRACTION_BITS, INTERVALS, OCTAVES, PLACE_BITS, IntegerProgram
from sparsegen.targets import C_TYPES
from sparsegen.targets._avr_loops import has_avr_form
from sparsegen.targets._dsp_loops import DSP_LEAST, dsp_products, dsp_squares, either

WRITTEN_OUT = 16
STEP = 8
SQUARES_STEP = 4
VOLATILE = "read anew for every vector, not kept on the stack"
INT_MAX = 32767  # of the narrowest int that C allows, which AVR and MSP430 have


class IntegerBody:
    """The lines of ``<name>_scores`` and what it needs beside them."""

    def __init__(
        self, name: str, program: IntegerProgram, loops: str = "portable", *, early_exit: bool = False
    ) -> None:
        self.name, self.program = name, program
        self.early_exit = early_exit and program.form != "linear"
        self.rom = f"{name.upper()}_ROM"
        self.grid = "uint8_t" if program.dtype == "q7" else "uint16_t"
        self.weight = "int8_t" if program.dtype == "q7" else "int16_t"
        self.seen = program.n_features if program.projection is None else len(program.projection.weights)
        self.direct = program.reader.is_identity
        self.linear = program.form == "linear"
        self.avr = loops == "avr" and has_avr_form(program, self.seen)
        self.dsp = loops == "dsp" and program.form == "square" and self.seen >= DSP_LEAST[program.dtype]

    @property
    def input_type(self) -> str:
        """The C type of one feature."""
        return C_TYPES[self.program.input_dtype.name]

    def lines(self, *, stop: Sequence[str] = ()) -> list[str]:
        """Return declarations, input stage and the loop over the vectors, which ends with the lines ``stop``."""
        source, reading = ("x", []) if self.direct else ("q", self._read())
        if self.program.projection is not None:
            reading += self._project(source)
            source = "projected"
        loop = self._linear(source) if self.linear else [*self._squares(source), *self._vectors(stop)]
        start, end = self._ends(decide=bool(stop))
        statements = [*start, *reading, *loop, *end]
        return [*self._variables(source), *self._indices(statements), "", *statements]

    def buffer_bytes(self) -> int:
        """Return the bytes of the arrays on the stack."""
        size = 1 if self.program.dtype == "q7" else 2
        read = 0 if self.direct else self.program.n_features
        projected = 0 if self.program.projection is None else self.seen
        widened = 2 * (self.seen // 4) * 4 if self.dsp and self.program.dtype == "q7" else 0
        return size * (read + projected) + widened

    def _variables(self, source: str) -> list[str]:
        program, lines = self.program, []
        if not self.direct:
            lines.append(f"    {self.grid} q[{program.n_features}];")
        if program.projection is not None:
            lines.append(f"    {self.grid} projected[{self.seen}];")
            lines.append(f"    const {self.rom} {self.weight} *p = {self.name}_projection;")
        if self.linear:
            lines.append(f"    const {self.rom} int16_t *c = {self.name}_coef;")
        else:
            features = [f"    const volatile {self.grid} *const f = {source}; /* {VOLATILE} */"]
            if self.dsp and program.dtype == "q7":
                pairs = (
                    f"    volatile uint64_t pairs[{self.seen // 4}]; /* 0 2 1 3 of every four features, 16 bits each */"
                )
                features = either([pairs, *(features if self.seen % 4 else [])], features)
            lines += features
            lines.append(f"    const {self.rom} struct {self.name}_row *r;")
        if program.n_outputs == 1:
            lines.append(f"    int32_t score = {c_int(int(program.intercept[0]))};")
        if program.form == "square":
            lines.append("    uint32_t squares = 0u;")
        return lines

    def _indices(self, statements: Sequence[str]) -> list[str]:
        used = [index for index in "ijk" if any(f"({index} = 0;" in line for line in statements)]
        return [f"    {'int' if self.program.n_features <= INT_MAX else 'long'} {', '.join(used)};"] if used else []

    def _ends(self, *, decide: bool) -> tuple[list[str], list[str]]:
        """Return how the scores begin, and what follows the last vector."""
        if self.program.n_outputs == 1:
            return [], ["    return score > 0 ? 1 : 0;" if decide else "    return score;"]
        n = self.program.n_outputs
        return [f"    for (k = 0; k < {n}; ++k) {{", f"        scores[k] = {self.name}_intercept[k];", "    }"], []

    def _read(self) -> list[str]:
        """Return the loop that puts every raw feature on the grid."""
        name, reader = self.name, self.program.reader
        n, levels = self.program.n_features, reader.levels
        if reader.kind == "f32":
            index = f"t > 0.0f ? (t < {levels}.0f ? ({self.grid})t : {levels}) : 0"
            inner = [
                f"        const float t = (x[j] - {name}_offset[j]) * {name}_factor[j];",
                "",
                f"        q[j] = ({self.grid})({index}); /* a NaN becomes 0 */",
            ]
        else:
            same = len(set(reader.shift.tolist())) == 1
            shift = str(int(reader.shift[0])) if same else f"{name}_shift[j]"
            inner = [
                f"        const int32_t t = (int32_t)x[j] * {name}_multiplier[j] + {name}_bias[j];",
                f"        const int32_t index = t > 0 ? t >> {shift} : 0;",
                "",
                f"        q[j] = ({self.grid})(index < {levels} ? index : {levels});",
            ]
        return [f"    for (j = 0; j < {n}; ++j) {{", *inner, "    }"]

    def _project(self, features: str) -> list[str]:
        """Return the loop that takes the features from their grid to the one of the kernels."""
        projection = self.program.projection
        if projection is None:
            return []
        return [
            f"    for (i = 0; i < {self.seen}; ++i) {{",
            f"        int32_t t = {self.name}_projection_bias[i];",
            "",
            *_walk([f"t += (int32_t){features}[{{x}}] * {{v}};"], self.program.n_features, "p", "        "),
            f"        t = t > 0 ? t >> {projection.shift} : 0;",
            f"        projected[i] = ({self.grid})(t < {projection.levels} ? t : {projection.levels});",
            "    }",
        ]

    def _product(self, a: str, b: str) -> str:
        """Return the product of two indices as an unsigned number."""
        return f"({'unsigned' if self.program.dtype == 'q7' else 'uint32_t'}){a} * {b}"

    def _squares(self, source: str) -> list[str]:
        """Return the lines that sum the squares of the features."""
        if self.program.form != "square":
            return []
        rest = self.seen % SQUARES_STEP
        portable = []
        if self.dsp and self.program.dtype == "q15" and self.seen <= WRITTEN_OUT:
            rest = self.seen  # the form beside it has no loop either, and an index that only one form has is a warning
        if self.seen > rest:
            indices = ["j", *(f"j + {i}" for i in range(1, SQUARES_STEP))]
            terms = [f"        squares += {self._product(f'{source}[{i}]', f'{source}[{i}]')};" for i in indices]
            portable += [f"    for (j = 0; j < {self.seen - rest}; j += {SQUARES_STEP}) {{", *terms, "    }"]
        tail = range(self.seen - rest, self.seen)
        portable += [f"    squares += {self._product(f'{source}[{j}]', f'{source}[{j}]')};" for j in tail]
        return (
            either(dsp_squares(self.name, self.program.dtype, self.seen, source, WRITTEN_OUT), portable)
            if self.dsp
            else portable
        )

    def _vectors(self, stop: Sequence[str]) -> list[str]:
        """Return the loop over the vectors: distance, kernel values, scores."""
        if self.program.form == "square":
            head, end = (
                ["        uint32_t dot = 0u;", "        uint32_t d;"],
                ["        d = squares + r->norm - 2u * dot;"],
            )
            terms = [f"dot += {self._product('f[{x}]', '{v}')};"]
        else:
            head, end = ["        uint32_t d = 0u;", "        unsigned t;"], []
            terms = ["t = f[{x}];", "d += t > {v} ? t - {v} : {v} - t;"]
        if self.seen > WRITTEN_OUT:
            head.append(f"        const {self.rom} {self.grid} *v = r->at;")
        inner = _sum_over(terms, self.seen, "r->at", "        ")
        if self.dsp:
            inner = either(dsp_products(self.name, self.program.dtype, self.seen, WRITTEN_OUT), inner)
        body = [*head, "", *inner, *end, *self._accumulate()]
        if self.avr:
            value = f"{self.name}_value((const {self.grid} *)f, r->at, squares)"
            body = either(
                [f"        const int value = {value};", "", *self._add(0, "        ")], body, f"{self.name.upper()}_ASM"
            )
        m = len(self.program.vectors)
        return [f"    for (r = {self.name}_rows; r != {self.name}_rows + {m}; ++r) {{", *body, *stop, "    }"]

    def _accumulate(self) -> list[str]:
        """Return the lines that add each kernel's value, times its coefficients, to the scores."""
        lines = []
        for i, doubling in enumerate(self.program.doublings):
            cut = (OCTAVES << self.program.octave) >> doubling
            argument = f"d << {doubling}" if doubling else "d"
            value = f"const int value = {self.name}_half_power({argument});"
            lines += [
                f"        if (d < {cut}u) {{",
                f"            {value}",
                "",
                *self._add(i, "            "),
                "        }",
            ]
        return lines

    def _add(self, i: int, pad: str) -> list[str]:
        """Return the lines that add kernel i's value, times its coefficients, to the scores."""
        n = self.program.n_outputs
        if n == 1:
            return [f"{pad}score += (int32_t)r->coef[{i}] * value;"]
        at = f"{i * n} + " if i else ""
        term = f"{pad}    scores[k] += (int32_t)r->coef[{at}k] * value;"
        return [f"{pad}for (k = 0; k < {n}; ++k) {{", term, f"{pad}}}"]

    def _linear(self, features: str) -> list[str]:
        """Return the lines that add every feature times its weight to the scores."""
        n = self.program.n_outputs
        if n == 1:
            return _walk([f"score += (int32_t){features}[{{x}}] * {{v}};"], self.seen, "c", "    ")
        inner = _walk([f"scores[k] += (int32_t){features}[{{x}}] * {{v}};"], self.seen, "c", "        ")
        return [f"    for (k = 0; k < {n}; ++k) {{", *inner, "    }"]


def half_power_values(program: IntegerProgram) -> dict[str, object]:
    """Return what the template of ``<name>_half_power`` prints."""
    octave = program.octave
    z = f"d >> {octave - FRACTION_BITS}" if octave > FRACTION_BITS else f"d << {FRACTION_BITS - octave}"
    return {
        "exponent": "d" if octave == FRACTION_BITS else z,
        "octave": octave,
        "cut": OCTAVES << octave,
        "place_bits": PLACE_BITS,
        "fraction_bits": FRACTION_BITS,
        "interval_mask": INTERVALS - 1,
        "place_mask": (1 << PLACE_BITS) - 1,
    }


def c_int(value: int) -> str:
    """Return a constant that fits the type it is used with; the least int32 needs care and is never used."""
    return f"{value}" if abs(value) <= INT_MAX else f"{value}L"


def _sum_over(terms: Sequence[str], n: int, array: str, pad: str) -> list[str]:
    """Return ``terms`` for n features, written out, or in steps with the pointer ``v`` into ``array``."""
    if n > WRITTEN_OUT:
        return _walk(terms, n, "v", pad)
    return [pad + term.format(x=j, v=f"{array}[{j}]") for j in range(n) for term in terms]


def _walk(terms: Sequence[str], n: int, pointer: str, pad: str) -> list[str]:
    """Return ``terms`` for n features in steps, with a pointer that ends behind the last of its values."""
    rest = n % STEP
    lines = []
    if n > rest:
        lines.append(f"{pad}for (j = 0; j < {n - rest}; j += {STEP}) {{")
        for i in range(STEP):
            lines += [f"{pad}    {term.format(x=f'j + {i}' if i else 'j', v=f'{pointer}[{i}]')}" for term in terms]
        lines += [f"{pad}    {pointer} += {STEP};", f"{pad}}}"]
    for i in range(rest):
        lines += [pad + term.format(x=n - rest + i, v=f"{pointer}[{i}]") for term in terms]
    return [*lines, f"{pad}{pointer} += {rest};"] if rest else lines
