"""Arduino: a library in the 1.5 format with library.properties, keywords.txt and an example sketch."""

from __future__ import annotations

from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel
from sparsegen.targets.packages.arduino_names import check_header

SPECIFICATION = "https://arduino.github.io/arduino-cli/latest/library-specification/"
"""The ``url`` of a library that has no page of its own: the field must be there, and must lead somewhere."""


class Arduino(Package):
    """A library for every board; its sketch runs the self-test and prints predictions."""

    name = "arduino"
    description = "Arduino library (library.properties, src, a sketch in examples)"

    def usage(self, name: str) -> str:
        """Return the command that builds the sketch; in the IDE: put the folder under libraries, open the example."""
        check_header(name)
        return f"arduino-cli compile --fqbn arduino:avr:uno --library . examples/{_sketch(name)}"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the library."""
        sketch = _sketch(model.name)
        return {
            "library.properties": model.render("arduino/library.properties.j2", specification=SPECIFICATION),
            "README.md": model.render("arduino/README.md.j2"),
            "LICENSE": model.render("package/LICENSE.j2"),
            "keywords.txt": model.render("arduino/keywords.txt.j2"),
            f"src/{model.name}.c": model.source,
            f"src/{model.name}.h": model.header,
            f"examples/{sketch}/{sketch}.ino": model.render("arduino/sketch.ino.j2"),
        }


def _sketch(name: str) -> str:
    return name[0].upper() + name[1:]


TARGETS.register("arduino")(Arduino())
