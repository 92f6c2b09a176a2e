"""One header that holds the whole model: declarations, and the code for the one file that asks for it."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel


class Header(Package):
    """A single header in the style of the stb libraries."""

    name = "header"
    description = "one C99 and C++ header; NAME_IMPLEMENTATION, defined in one file, brings in the code"

    def usage(self, name: str) -> str:
        """Return the command that builds the example."""
        return f"cc -std=c99 -O2 {name}.c example_main.c -o example"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the header, a source file of two lines that compiles it, and an example."""
        return {
            f"{model.name}.h": model.render("header/model.h.j2"),
            f"{model.name}.c": model.render("header/model.c.j2"),
            "example_main.c": model.main,
        }


TARGETS.register("header")(Header())
