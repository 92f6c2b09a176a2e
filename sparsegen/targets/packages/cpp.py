"""C++11: a stateless class over the C source; no exceptions, no RTTI, no heap."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel


class Cpp(Package):
    """A thin class whose array arguments have their lengths checked by the compiler."""

    name = "cpp"
    description = "C++11 class over the C99 source; no exceptions, no RTTI, no heap"

    def usage(self, name: str) -> str:
        """Return the commands that build the example."""
        return f"cc -std=c99 -O2 -c {name}.c && c++ -std=c++11 -O2 example_main.cpp {name}.o -o example"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return ``<name>.hpp``, the C behind it, and an example."""
        first = [one.constant for one in model.code.values["classes"][:1]]
        return {
            f"{model.name}.hpp": model.render("cpp/model.hpp.j2", first_class="".join(first)),
            f"{model.name}.h": model.header,
            f"{model.name}.c": model.source,
            "example_main.cpp": model.render("cpp/example_main.cpp.j2"),
        }


TARGETS.register("cpp")(Cpp())
