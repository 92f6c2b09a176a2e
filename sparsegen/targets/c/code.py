"""CCode: the C of one program, as the templates print it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.model import VOTES, Label
from sparsegen.model.task import ANOMALY, ANOMALY_CLASSES
from sparsegen.targets.class_names import constants
from sparsegen.targets.render import INT_MAX, render

WORD = 2**32  # sums of bytes are modulo this
C_TYPES = {
    "float32": "float",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
}


def c_type(dtype: np.dtype[Any]) -> str:
    """Return the C type of a NumPy type."""
    return C_TYPES[dtype.name]


def index_type(longest: int) -> str:
    """Return the C type of an index that counts up to ``longest``."""
    return "int" if longest <= INT_MAX else "long"


def byte_sum(values: NDArray[Any]) -> int:
    """Return the sum of ``b * b + b`` over the bytes b of numbers, as the self-test computes it."""
    b = np.frombuffer(np.ascontiguousarray(values).tobytes(), dtype=np.uint8).astype(np.int64)
    return int((b * b + b).sum())


@dataclass(frozen=True)
class Table:
    """A constant array of the generated file."""

    name: str
    comment: str
    dtype: np.dtype[Any]
    """Of an entry in C; the values themselves are wider."""
    values: NDArray[Any]
    """In one dimension."""

    @property
    def type(self) -> str:
        """The C type of an entry."""
        return c_type(self.dtype)

    @property
    def size(self) -> int:
        """Bytes of flash."""
        return self.dtype.itemsize * int(self.values.size)

    @property
    def byte_sum(self) -> int:
        """What the self-test adds up over its bytes."""
        return byte_sum(self.values.astype(self.dtype))


@dataclass(frozen=True)
class ClassCode:
    """One entry of the enumeration of classes."""

    constant: str
    index: int
    label: str
    """Untrusted text."""


def class_codes(labels: Sequence[Label], prefix: str) -> list[ClassCode]:
    """Return the entries for the classes of a model whose macros have a prefix."""
    named = zip(constants(labels, prefix), labels, strict=True)
    return [ClassCode(constant, i, str(label)) for i, (constant, label) in enumerate(named)]


@dataclass(frozen=True)
class CCode:
    """A program with everything the templates print about it. Only its labels and its card may be untrusted text."""

    lowered: Lowered
    name: str
    table_bytes: int
    own_values: Mapping[str, Any]
    """The values that only float programs have, or only integer ones."""

    @property
    def values(self) -> dict[str, Any]:
        """What the templates print."""
        return {**self._own_content, "export_id": self._export_id}

    @cached_property
    def _export_id(self) -> str:
        """A C constant that tells this header and source from those of any other export."""
        unnamed = {**self._own_content, "export_id": ""}
        content = render("c/model.h.j2", **unnamed) + render("c/model.c.j2", **unnamed)
        return f"0x{hashlib.sha256(content).hexdigest()[:8]}u"

    @cached_property
    def _own_content(self) -> dict[str, Any]:
        lowered = self.lowered
        n_outputs, selftest = lowered.n_outputs, lowered.selftest
        inputs, fills = selftest.inputs.ravel(), bool(np.isnan(selftest.inputs).any())
        return {
            "name": self.name,
            "upper": self.name.upper(),
            "n_features": lowered.n_features,
            "n_classes": len(lowered.model.classes),
            "n_outputs": n_outputs,
            "has_classes": lowered.model.has_classes,
            "is_detector": lowered.model.task == ANOMALY,
            "asks_range": lowered.model.task == ANOMALY and isinstance(lowered.program, IntegerProgram),
            "anomaly": constants(ANOMALY_CLASSES, self.name.upper())[0],
            "has_one_score": n_outputs == 1,  # two classes, or a regression
            "votes": lowered.model.decision == VOTES,
            "input_type": c_type(lowered.input_dtype),
            "score_type": c_type(lowered.score_dtype),
            "table_bytes": self.table_bytes,
            "labels": [str(label) for label in lowered.model.classes],
            "classes": class_codes(lowered.model.classes, self.name.upper()),
            "n_selftest": len(selftest.inputs),
            "selftest_inputs": inputs.astype(np.float32).view(np.uint32) if fills else inputs,
            "selftest_holds_bits": fills,  # C has no constant for a NaN
            "selftest_type": "uint32_t" if fills else c_type(lowered.input_dtype),
            "selftest_scores": selftest.scores.ravel(),
            "example": selftest.inputs[0],
            **self.own_values,
        }

    @cached_property
    def source(self) -> bytes:
        """The C source, which includes ``<name>.h`` from its own folder."""
        return self.render("c/model.c.j2")

    @cached_property
    def source_by_parts(self) -> bytes:
        """The same source with a ``#line`` before each part, such as the distances: compilers then name the parts."""
        return self.render("c/model.c.j2", names_parts=True)

    @cached_property
    def header(self) -> bytes:
        """The C header."""
        return self.render("c/model.h.j2")

    def main(self, usage: str) -> bytes:
        """Return a C program that predicts one example and runs the self-test; its first line says how to build it."""
        return self.render("c/example_main.c.j2", usage=usage)

    def render(self, template: str, **more: Any) -> bytes:
        """Return a template filled with ``values`` and ``more``."""
        return render(template, **self.values, **more)
