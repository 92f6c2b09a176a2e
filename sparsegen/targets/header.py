"""One header that holds the whole model: declarations, and the code for the one file that asks for it."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets._wrap import Core, Wrapper


class Header(Wrapper):
    """A single header in the manner of the stb libraries."""

    name = "header"
    description = "one C99 and C++ header; NAME_IMPLEMENTATION, defined in one file, brings in the code"

    def usage(self, name: str) -> str:
        """Return the command that builds the example."""
        return f"cc -std=c99 -O2 {name}.c example_main.c -o example"

    def files(self, core: Core) -> dict[str, bytes]:
        """Return the header, the two lines that make code of it, and an example."""
        before, _, after = core.source.decode().partition(f'#include "{core.name}.h"\n')
        code = f"{before.strip()}\n\n{after.strip()}"
        return {
            f"{core.name}.h": core.render("header/model.h.j2", header=core.header.decode().strip(), code=code),
            f"{core.name}.c": core.render("header/model.c.j2"),
            "example_main.c": core.main,
        }


TARGETS.register("header")(Header())
