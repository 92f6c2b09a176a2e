"""The body of ``<name>_scores`` in C, built as lines from a program; the templates only place them.

Tables are read front to back. The inner loop is written out for up to 16 features and in steps of 8 beyond: compilers
for small devices do not unroll at -Os, and the loop's own instructions would cost more than the arithmetic.
"""

from __future__ import annotations

import numpy as np

from sparsegen.arrays import Array
from sparsegen.kernels.expression import Add, Const, Core, Exp2, Expr, Mul, Pow, Reciprocal, Sqrt
from sparsegen.lowering.program import Part, Program
from sparsegen.targets._render import c_real

WRITTEN_OUT = 16
STEP = 8
SQUARES_STEP = 4
INT_MAX = 32767  # of the narrowest int that C allows, which AVR and MSP430 have


class Body:
    """The lines of ``<name>_scores``."""

    def __init__(self, name: str, program: Program) -> None:
        self.name, self.program = name, program
        self.table_pointer = f"const {name.upper()}_ROM float"
        self.seen = program.n_features if program.projection is None else len(program.projection)
        several = len(program.parts) > 1
        self.parts = [(part, str(i) if several else "") for i, part in enumerate(program.parts)]

    def lines(self) -> list[str]:
        """Return declarations, input stage and the loop of every part."""
        features, input_stage = self._input_stage()
        pointers, loops = self._part(*self.parts[0], features)
        if len(self.parts) > 1:  # every part has its own v and c
            parts = [self._part(part, suffix, features) for part, suffix in self.parts]
            pointers, loops = [], [line for part in parts for line in _block([*part[0], "", *part[1]])]
        start, end = self._ends()
        statements = [*start, *input_stage, *loops, *end]
        return [*self._variables(), *pointers, *_indices(statements, self._longest()), "", *statements]

    def _longest(self) -> int:
        return max(self.program.n_features, self.seen, *(len(part.vectors) for part, _ in self.parts))

    def _variables(self) -> list[str]:
        program, lines = self.program, []
        if program.offset is not None:
            lines.append(f"    float scaled[{program.n_features}];")
        if program.projection is not None:
            lines.append(f"    float projected[{self.seen}];")
            lines.append(f"    {self.table_pointer} *p = {self.name}_projection;")
        if program.n_outputs == 1:
            lines.append(f"    float score = {self.name}_intercept[0];")
        for part, suffix in self.parts:
            if part.square is not None:
                lines.append(f"    float squares{suffix} = {c_real(0.0)};")
        return lines

    def _ends(self) -> tuple[list[str], list[str]]:
        """Return how the scores begin and how they are handed over: a single one stays in a register until then."""
        if self.program.n_outputs == 1:
            return [], ["    scores[0] = score;"]
        begin = [
            f"    for (k = 0; k < {self.program.n_outputs}; ++k) {{",
            f"        scores[k] = {self.name}_intercept[k];",
            "    }",
        ]
        return begin, []

    def _input_stage(self) -> tuple[str, list[str]]:
        """Return what the features are called once prepared, and the lines that prepare them and sum their squares."""
        program, lines, features = self.program, [], "x"
        projected = program.projection is not None
        if program.offset is not None and program.scale is not None:
            factor = _constant_or(program.scale, f"{self.name}_scale[j]")
            scaled = f"x[j] - {self.name}_offset[j]"
            lines += [
                f"    for (j = 0; j < {program.n_features}; ++j) {{",
                f"        scaled[j] = {scaled if factor == '1.0f' else f'({scaled}) * {factor}'};",
                *([] if projected else self._squares("scaled", "j", "        ")),
                "    }",
            ]
            features = "scaled"
        if projected:
            lines += [
                f"    for (i = 0; i < {self.seen}; ++i) {{",
                f"        float t = {self.name}_projection_shift[i];",
                "",
                *_sum_over("dot", features, "p", program.n_features, "        "),
                "        projected[i] = t;",
                *self._squares("projected", "i", "        "),
                "    }",
            ]
            features = "projected"
        if features == "x":
            lines += self._raw_squares()
        return features, [*lines, *self._weighted_squares()]

    def _squares(self, features: str, index: str, pad: str) -> list[str]:
        """Return the lines that add one feature's square, weighted where features differ, for every part."""
        lines = []
        for part, suffix in self.parts:
            if part.square is not None:
                weight = "" if is_constant(part.square) else f"{self.name}_square{suffix}[{index}] * "
                lines.append(f"{pad}squares{suffix} += {weight}{features}[{index}] * {features}[{index}];")
        return lines

    def _raw_squares(self) -> list[str]:
        """Return the loop that adds the squares of raw features, in short steps."""
        rest = self.seen % SQUARES_STEP
        inner = [line for i in range(SQUARES_STEP) for line in self._squares("x", f"j + {i}" if i else "j", "        ")]
        if not inner:
            return []
        loop = [f"    for (j = 0; j < {self.seen - rest}; j += {SQUARES_STEP}) {{", *inner, "    }"]
        tail = [line for j in range(self.seen - rest, self.seen) for line in self._squares("x", str(j), "    ")]
        return [*(loop if self.seen > rest else []), *tail]

    def _weighted_squares(self) -> list[str]:
        return [
            f"    squares{suffix} *= {c_real(part.square[0])};"
            for part, suffix in self.parts
            if part.square is not None and is_constant(part.square)
        ]

    def _part(self, part: Part, suffix: str, features: str) -> tuple[list[str], list[str]]:
        """Return the pointers and the loop of one part."""
        pointers = [
            f"    {self.table_pointer} *v = {self.name}_vectors{suffix};",
            f"    {self.table_pointer} *c = {self.name}_coef{suffix};",
        ]
        shift = _constant_or(part.shift, "v[0]")
        led = int(not is_constant(part.shift))
        start = c_real(0.0) if part.form != "dot" else shift if part.square is None else f"squares{suffix} + {shift}"
        lines = [
            f"    for (u = 0; u < {len(part.vectors)}; ++u) {{",
            f"        float t = {start};",
            "",
            *_sum_over(part.form, features, "v", self.seen, "        ", self.name, led),
        ]
        if part.form != "dot":
            tail = "" if shift == c_real(0.0) else f" + {shift}"
            lines.append(f"        t = t * {c_real(part.slope)}{tail};")
        return pointers, [*lines, *self._accumulate(part), "    }"]

    def _accumulate(self, part: Part) -> list[str]:
        """Return the lines that add each kernel's value, times its coefficients, to the scores, and advance c."""
        n_outputs = self.program.n_outputs
        lines: list[str] = []
        known: dict[Expr, str] = {}
        values = [_expression_lines(outer, self.name, lines, known) for outer in part.outers]
        if n_outputs == 1:
            lines += [f"        score += c[{i}] * {value};" for i, value in enumerate(values)]
        else:
            terms = " + ".join(f"c[{f'{i * n_outputs} + ' if i else ''}k] * {value}" for i, value in enumerate(values))
            lines += [
                f"        for (k = 0; k < {n_outputs}; ++k) {{",
                f"            scores[k] += {terms};",
                "        }",
            ]
        return [*lines, f"        c += {n_outputs * len(values)};"]


def _block(lines: list[str]) -> list[str]:
    return ["    {", *(f"    {line}" if line else line for line in lines), "    }"]


def _indices(statements: list[str], longest: int) -> list[str]:
    used = [index for index in "ijku" if any(f"({index} = 0;" in line for line in statements)]
    return [f"    {'int' if longest <= INT_MAX else 'long'} {', '.join(used)};"]


def is_constant(values: Array) -> bool:
    """Return whether all entries of a table are equal, so that the code holds the value instead."""
    return bool(np.all(values == values[0]))


def _constant_or(values: Array, text: str) -> str:
    """Return the one value of a table as a constant, else ``text``, which reads the table."""
    return c_real(values[0]) if is_constant(values) else text


def _sum_over(form: str, features: str, pointer: str, n: int, pad: str, name: str = "", led: int = 0) -> list[str]:
    """Return the lines that add ``form(features[j], pointer[led + j])`` over n features to t and move the pointer."""
    if n <= WRITTEN_OUT:
        return [*_terms(form, features, pointer, led, range(n), "", pad, name), f"{pad}{pointer} += {n + led};"]
    rest = n % STEP
    lines = [
        f"{pad}for (j = 0; j < {n - rest}; j += {STEP}) {{",
        *_terms(form, features, pointer, led, range(STEP), "j", pad + "    ", name),
        f"{pad}    {pointer} += {STEP};",
        f"{pad}}}",
    ]
    lines += _terms(form, features, pointer, led, range(n - rest, n), "", pad, name)
    return [*lines, f"{pad}{pointer} += {rest + led};"] if rest + led else lines


def _terms(form: str, features: str, pointer: str, led: int, at: range, index: str, pad: str, name: str) -> list[str]:
    lines = []
    for i, j in enumerate(at):
        subscript = f"{index} + {i}" if index and i else index or str(j)
        x, v = f"{features}[{subscript}]", f"{pointer}[{i + led}]"
        term = {"dot": f"{x} * {v}", "square": f"({x} - {v}) * ({x} - {v})", "absolute": f"{name}_abs({x} - {v})"}
        lines.append(f"{pad}t += {term[form]};")
    return lines


def _expression_lines(expr: Expr, name: str, lines: list[str], known: dict[Expr, str]) -> str:
    """Append the statements that compute a kernel from t; return the name or constant that holds its value.

    ``known`` holds what earlier kernels have computed, which is not computed again.
    """

    def visit(node: Expr) -> str:
        if node not in known:
            known[node] = compute(node)
        return known[node]

    def compute(node: Expr) -> str:
        match node:
            case Core():
                return "t"
            case Const(value):
                return c_real(value)
            case Add(a, b):
                return store(f"{visit(a)} + {visit(b)}")
            case Mul(a, b):
                return store(f"{visit(a)} * {visit(b)}")
            case Exp2(a):
                return store(f"{name}_exp2({visit(a)})")
            case Reciprocal(a):
                return store(f"{c_real(1.0)} / {visit(a)}")
            case Sqrt(a):
                return store(f"{name}_sqrt({visit(a)})")
            case Pow(a, Const(n)):
                return power(visit(a), int(n))
        raise TypeError(f"C has no form for {node}")

    def store(text: str) -> str:
        variable = f"k{len(lines)}"
        lines.append(f"        const float {variable} = {text};")
        return variable

    def power(base: str, n: int) -> str:
        """Square and multiply."""
        if n == 1:
            return base
        half = power(base, n // 2)
        squared = store(f"{half} * {half}")
        return store(f"{squared} * {base}") if n % 2 else squared

    return visit(expr)
