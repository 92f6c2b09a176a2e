"""C99: ``<name>.c`` and ``<name>.h``, no libc and no libm, with an example program. The C is in templates/c."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel


class C(Package):
    """Portable C99 source and header."""

    name = "c"
    description = "C99 source and header, float32 or integers, no libc, no libm, no heap; also compiles as C++"

    def usage(self, name: str) -> str:
        """Return the command that builds the example."""
        return f"cc -std=c99 -O2 {name}.c example_main.c -o example"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the source, the header and an example."""
        return {f"{model.name}.c": model.source, f"{model.name}.h": model.header, "example_main.c": model.main}


TARGETS.register("c")(C())
