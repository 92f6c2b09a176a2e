"""CMake: a static library for add_subdirectory, FetchContent or find_package, and an example."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets._wrap import Core, Wrapper


class CMake(Wrapper):
    """A CMake project; its library is ``sparsegen::<name>``, so no name can stand in for a target of somebody else."""

    name = "cmake"
    description = "CMake project with the library sparsegen::NAME, for add_subdirectory, FetchContent or find_package"

    def usage(self, name: str) -> str:
        """Return the commands that configure, build and run the example."""
        build = "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"
        return f"{build} && build/sparsegen_{name}_example"

    def files(self, core: Core) -> dict[str, bytes]:
        """Return the project."""
        return {
            "CMakeLists.txt": core.render("cmake/CMakeLists.txt.j2"),
            f"src/{core.name}.c": core.source,
            f"src/{core.name}.h": core.header,
            "example_main.c": core.main,
        }


TARGETS.register("cmake")(CMake())
