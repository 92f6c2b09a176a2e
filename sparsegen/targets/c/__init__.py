"""C99: ``<name>.c`` and ``<name>.h``, no libc and no libm, with an example program. The C is in templates/c."""

from __future__ import annotations

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.targets import PORTABLE, TARGETS, Export, Target
from sparsegen.targets.c.code import CCode
from sparsegen.targets.c.float_code import float_code
from sparsegen.targets.c.integer_code import integer_code
from sparsegen.targets.render import check_name


def c_code(lowered: Lowered, name: str, loops: str = PORTABLE) -> CCode:
    """Return the C of a program."""
    check_name(name)
    if isinstance(lowered.program, IntegerProgram):
        return integer_code(lowered, lowered.program, name, loops)
    return float_code(lowered, lowered.program, name)


class C(Target):
    """Portable C99 source and header."""

    name = "c"
    description = "C99 source and header, float32 or integers, no libc, no libm, no heap; also compiles as C++"

    def write(self, lowered: Lowered, name: str, loops: str = PORTABLE) -> Export:
        """Return ``<name>.c``, ``<name>.h`` and ``example_main.c``."""
        code = c_code(lowered, name, loops)
        usage = f"cc -std=c99 -O2 {name}.c example_main.c -o example"
        return Export(
            target=self.name,
            runs_as=self.runs_as,
            name=name,
            files={f"{name}.c": code.source, f"{name}.h": code.header, "example_main.c": code.main(usage)},
            sources=(f"{name}.c",),
            n_features=lowered.n_features,
            n_outputs=lowered.n_outputs,
            table_bytes=code.table_bytes,
            usage=usage,
            input_dtype=lowered.input_dtype,
            score_dtype=lowered.score_dtype,
            lowered=lowered,
        )


TARGETS.register("c")(C())
