"""PlatformIO: a library with library.json, and an example that runs on this computer."""

from __future__ import annotations

import json

from sparsegen.targets import TARGETS
from sparsegen.targets._arduino_names import check_header
from sparsegen.targets._wrap import Core, Wrapper


class PlatformIO(Wrapper):
    """A library for every framework and platform."""

    name = "platformio"
    description = "PlatformIO library (library.json) for every framework, with an example"

    def usage(self, name: str) -> str:
        """Return the command that builds the example and runs it on this computer."""
        check_header(name)
        return "pio run --project-dir examples/native --target exec"

    def files(self, core: Core) -> dict[str, bytes]:
        """Return the library and its example."""
        return {
            "library.json": (json.dumps(_manifest(core), indent=2) + "\n").encode(),
            f"src/{core.name}.c": core.source,
            f"src/{core.name}.h": core.header,
            "examples/native/platformio.ini": core.render("platformio/platformio.ini.j2"),
            "examples/native/src/main.c": core.main,
        }


def _manifest(core: Core) -> dict[str, object]:
    return {
        "name": core.name.replace("_", "-"),
        "version": core.values["version"],
        "description": core.values["description"],
        "keywords": ["classifier", "machine-learning", "tinyml"],
        "frameworks": "*",
        "platforms": "*",
        "headers": f"{core.name}.h",
        "examples": [{"name": "native", "base": "examples/native", "files": ["platformio.ini", "src/main.c"]}],
        "export": {"include": ["library.json", "src", "examples"]},
    }


TARGETS.register("platformio")(PlatformIO())
