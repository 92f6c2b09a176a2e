"""MicroPython: a native module, built into ``<name>.mpy`` by MicroPython's own dynruntime.mk, imported by its name."""

from __future__ import annotations

import keyword

import numpy as np

from sparsegen.errors import OptionError
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel

TYPECODES = {"float32": ["'f'"], "int16": ["'h'"], "uint16": ["'H'"], "uint8": ["'B'", "BYTEARRAY_TYPECODE"]}
"""Typecodes of arrays that the model reads in place."""

# Modules of the firmware and of its libraries: one of these would be imported instead of the model.
MODULE_WORDS = (
    "aioble argparse array asyncio base64 binascii bluetooth btree builtins cmath collections copy cryptolib datetime "
    "deflate dht ds18x20 errno esp esp32 framebuf functools gc gzip hashlib heapq inspect io itertools json logging "
    "lwip machine main boot marshal math micropython mip neopixel network ntptime onewire openamp operator os pathlib "
    "pickle platform pprint pyb random re requests rp2 select shutil socket ssd1306 ssl stat stm string struct sys "
    "tarfile threading time tls types uctypes unittest urequests usb vfs weakref webrepl websocket zephyr zlib"
)
MODULES = frozenset(MODULE_WORDS.split())


class MicroPython(Package):
    """Sources of a native module with ``predict``, ``scores``, ``label`` and ``selftest``."""

    name = "micropython"
    description = "MicroPython native module: C sources and a Makefile that makes NAME.mpy"

    def usage(self, name: str) -> str:
        """Return the command that builds the module for a Cortex-M4F."""
        if name in MODULES or name.removeprefix("u") in MODULES:  # ujson is an older name of json, and so on
            raise OptionError(f"name {name!r} is a module that MicroPython already has; choose another")
        if keyword.iskeyword(name):
            raise OptionError(f"name {name!r} is a keyword of Python, which cannot import it; choose another")
        return "make ARCH=armv7emsp MPY_DIR=path/of/micropython"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the sources and the Makefile."""
        dtype, program = model.code.lowered.input_dtype, model.code.lowered.program
        low, high, in_place = 0, 0, True
        if dtype.kind != "f":
            low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        if isinstance(program, IntegerProgram) and program.reader.kind.is_grid:
            in_place = high == program.reader.levels  # an array may hold indices that the grid does not have
            high = program.reader.levels
        module = model.render(
            "micropython/module.c.j2",
            typecodes=TYPECODES[dtype.name],
            is_float=dtype.kind == "f",
            reads_in_place=in_place,
            low=low,
            high=high,
        )
        return {
            "Makefile": model.render("micropython/Makefile.j2"),
            f"{model.name}_mpy.c": module,
            f"{model.name}.c": model.source,
            f"{model.name}.h": model.header,
        }


TARGETS.register("micropython")(MicroPython())
