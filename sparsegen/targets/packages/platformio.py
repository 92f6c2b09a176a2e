"""PlatformIO: a library with library.json, and an example that runs on this computer."""

from __future__ import annotations

import json

from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel
from sparsegen.targets.packages.arduino_names import check_header


class PlatformIO(Package):
    """A library for every framework and platform."""

    name = "platformio"
    description = "PlatformIO library (library.json) for every framework, with an example"

    def usage(self, name: str) -> str:
        """Return the command that builds the example and runs it on this computer."""
        check_header(name)
        return "pio run --project-dir examples/native --target exec"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the library and its example."""
        return {
            "library.json": (json.dumps(_manifest(model), indent=2) + "\n").encode(),
            f"src/{model.name}.c": model.source,
            f"src/{model.name}.h": model.header,
            "examples/native/platformio.ini": model.render("platformio/platformio.ini.j2"),
            "examples/native/src/main.c": model.main,
        }


def _manifest(model: PackagedModel) -> dict[str, object]:
    return {
        "name": model.name.replace("_", "-"),
        "version": model.version,
        "description": model.description,
        "license": "0BSD",
        "keywords": [model.kind.replace(" ", "-"), "machine-learning", "tinyml"],
        "frameworks": "*",
        "platforms": "*",
        "headers": f"{model.name}.h",
        "examples": [{"name": "native", "base": "examples/native", "files": ["platformio.ini", "src/main.c"]}],
        "export": {"include": ["library.json", "src", "examples"]},
    }


TARGETS.register("platformio")(PlatformIO())
