"""Rust: a crate around the C with a safe, ``no_std`` face; it needs nothing but ``cc``, which compiles the C."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.errors import OptionError
from sparsegen.model.task import ANOMALY_CLASSES
from sparsegen.targets import TARGETS
from sparsegen.targets.c.package import Package, PackagedModel
from sparsegen.targets.class_names import variants
from sparsegen.targets.render import c_real

TYPES = {"float32": "f32", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32"}
"""Rust's names of the types that exports read and write."""

# Words of Rust that are none of C, and crates that come with the compiler: no dependency can have such a name.
TAKEN_WORDS = (
    "abstract alloc as async await become box core crate dyn final fn impl in let loop macro match mod move mut "
    "override priv proc_macro pub ref self std super test trait try type unsafe unsized use where yield"
)
TAKEN = frozenset(TAKEN_WORDS.split())


@dataclass(frozen=True)
class RustClass:
    """One variant of the enumeration of classes."""

    variant: str
    index: int


class Rust(Package):
    """A crate; arrays have the right length, an index is a class, and no program can hold two models of one name."""

    name = "rust"
    description = "Rust crate: safe, no_std, an enum of the classes, tests; the C is compiled by the crate cc"

    def usage(self, name: str) -> str:
        """Return the command that runs the tests and the example."""
        if name.lower() in TAKEN:
            raise OptionError(f"name {name!r} would give the crate a name that Rust keeps for itself; choose another")
        return "cargo test && cargo run --example predict"

    def files(self, model: PackagedModel) -> dict[str, bytes]:
        """Return the crate."""
        crate = model.name.lower()
        return {
            "Cargo.toml": model.render("rust/Cargo.toml.j2", crate=crate),
            "LICENSE": model.render("package/LICENSE.j2"),
            "build.rs": model.render("rust/build.rs.j2"),
            f"src/{model.name}.c": model.source,
            f"src/{model.name}.h": model.header,
            "src/lib.rs": _library(model),
            "examples/predict.rs": model.render(
                "rust/predict.rs.j2", crate=crate, rust_anomaly=variants(ANOMALY_CLASSES)[0]
            ),
        }


def _library(model: PackagedModel) -> bytes:
    lowered, values = model.code.lowered, model.code.values
    probabilities = lowered.probabilities
    named = variants(lowered.model.classes)
    return model.render(
        "rust/lib.rs.j2",
        rust_input=TYPES[lowered.input_dtype.name],
        rust_score=TYPES[lowered.score_dtype.name],
        rust_unit=_real(values["unit"]),
        rust_example=[_number(v) for v in lowered.selftest.inputs[0].tolist()],
        rust_probability="" if probabilities is None else TYPES[probabilities.dtype.name],
        rust_reject_below=_number(values.get("reject_below", 0)),
        rust_classes=[RustClass(variant, i) for i, variant in enumerate(named)],
    )


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else _real(value)


def _real(value: float) -> str:
    """Return a constant that reads back as the same float32."""
    return c_real(value).removesuffix("f")


TARGETS.register("rust")(Rust())
