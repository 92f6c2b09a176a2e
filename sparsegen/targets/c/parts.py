"""The parts of a prediction: the same C, in which every part has a name that compilers put beside its instructions.

Templates say with ``#line`` where a part begins, as if each were a file of its own; the compiler's table of lines then
tells the part of every instruction, inlined ones included. An export has no such lines: they are for measuring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.program import Program
from sparsegen.targets import PORTABLE, TARGETS, Export
from sparsegen.targets.c.package import c_code

REST = "rest"
PARTS: Mapping[str, str] = {
    "reader": "features scaled, or placed on the grid",
    "projection": "features weighed and added up to fewer",
    "distances": "distances, or products, of features and vectors",
    "exponentials": "the kernel's value at a distance, such as an exponential",
    "sums": "values of the kernel times coefficients, added up",
    "decision": "from scores to a class",
    REST: "calls and loops",
}
"""The parts of a prediction, in the order in which it runs, with what each does."""
TABLES: Mapping[str, tuple[str, ...]] = {
    "reader": ("offset", "scale", "filled", "exponent", "start", "multiplier", "bias", "shift", "fill"),
    "projection": ("projection", "groups", "blocks"),
    "distances": ("vectors", "square"),
    "exponentials": ("powers", "values"),
    "sums": ("coef", "intercept"),
}
"""How the names of each part's tables begin."""
ROWS = "rows"
"""The table of integer C that holds what two parts read: vectors and coefficients."""


def by_parts(lowered: Lowered, name: str, loops: str = PORTABLE) -> Export:
    """Return the plain C of a program with its parts named; it compiles to the same instructions and tables."""
    export = TARGETS["c"].write(lowered, name, loops)
    return replace(export, files={**export.files, export.sources[0]: c_code(lowered, name, loops).source_by_parts})


def table_parts(program: Program | IntegerProgram, table: str, size: int) -> dict[str, int]:
    """Return how many of a table's bytes belong to each part, by its name without the prefix."""
    if table == ROWS and isinstance(program, IntegerProgram):
        norms = 4 * len(program.vectors) if program.form == "square" else 0
        vectors = program.vectors.size * program.numbers.index_dtype.itemsize + norms
        return {"distances": vectors, "sums": size - vectors}
    known = {name: part for part, names in TABLES.items() for name in names}
    longest = max((name for name in known if table.startswith(name)), key=len, default=None)
    return {REST if longest is None else known[longest]: size}
