"""CMake: a static library for add_subdirectory, FetchContent or find_package, and an example."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel


class CMake(Package):
    """A CMake project; its library is ``sparsegen::<name>``, so no name can clash with somebody else's target."""

    name = "cmake"
    description = "CMake project with the library sparsegen::NAME, for add_subdirectory, FetchContent or find_package"

    def usage(self, name: str) -> str:
        """Return the commands that configure, build and run the example."""
        build = "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"
        return f"{build} && build/sparsegen_{name}_example"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the project."""
        return {
            "CMakeLists.txt": model.render("cmake/CMakeLists.txt.j2", find_version=model.version.rpartition(".")[0]),
            f"src/{model.name}.c": model.source,
            f"src/{model.name}.h": model.header,
            "example_main.c": model.main,
        }


TARGETS.register("cmake")(CMake())
