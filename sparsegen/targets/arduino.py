"""Arduino: a library in the 1.5 format with library.properties, keywords.txt and an example sketch."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets._arduino_names import check_header
from sparsegen.targets._wrap import Core, Wrapper


class Arduino(Wrapper):
    """A library for every board; its sketch runs the self-test and prints predictions."""

    name = "arduino"
    description = "Arduino library (library.properties, src, a sketch in examples)"

    def usage(self, name: str) -> str:
        """Return the command that builds the sketch; in the IDE: put the folder under libraries, open the example."""
        check_header(name)
        return f"arduino-cli compile --fqbn arduino:avr:uno --library . examples/{_sketch(name)}"

    def files(self, core: Core) -> dict[str, bytes]:
        """Return the library."""
        sketch = _sketch(core.name)
        return {
            "library.properties": core.render("arduino/library.properties.j2"),
            "keywords.txt": core.render("arduino/keywords.txt.j2"),
            f"src/{core.name}.c": core.source,
            f"src/{core.name}.h": core.header,
            f"examples/{sketch}/{sketch}.ino": core.render("arduino/sketch.ino.j2"),
        }


def _sketch(name: str) -> str:
    return name[0].upper() + name[1:]


TARGETS.register("arduino")(Arduino())
