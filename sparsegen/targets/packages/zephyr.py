"""Zephyr: a module with zephyr/module.yml, CMake and Kconfig, and a sample application."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel


class Zephyr(Package):
    """A Zephyr module, switched on by ``CONFIG_SPARSEGEN_<NAME>=y``."""

    name = "zephyr"
    description = "Zephyr module (module.yml, CMake, Kconfig) with a sample"

    def usage(self, name: str) -> str:
        """Return the command that builds the sample and runs it in QEMU; outside a workspace west has no ``build``."""
        return "west build -b qemu_cortex_m3 samples/predict -t run  # in a west workspace, or with ZEPHYR_BASE set"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the module and its sample."""
        rendered = {
            path: model.render(f"zephyr/{template}.j2")
            for path, template in {
                "zephyr/module.yml": "module.yml",
                "CMakeLists.txt": "CMakeLists.txt",
                "Kconfig": "Kconfig",
                "samples/predict/CMakeLists.txt": "sample_CMakeLists.txt",
                "samples/predict/prj.conf": "sample_prj.conf",
                "samples/predict/sample.yaml": "sample.yaml",
            }.items()
        }
        return {
            **rendered,
            f"src/{model.name}.c": model.source,
            f"src/{model.name}.h": model.header,
            "samples/predict/src/main.c": model.main,
        }


TARGETS.register("zephyr")(Zephyr())
