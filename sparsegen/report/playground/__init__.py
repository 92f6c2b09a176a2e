"""The playground: the exported C as WebAssembly, and the part of a page where visitors try it.

The module is built from the files of ``sparsegen export``, unchanged, and the page puts features through the reader
that a device has. Scripts and styles are files of ``templates/report/playground``; all that is particular to a model is
data.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.devices._toolchain import entry
from sparsegen.devices._wasm import build_module
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.lowered import Lowered
from sparsegen.model import LARGEST
from sparsegen.model.draw import check_size
from sparsegen.model.task import ANOMALY
from sparsegen.report.html import fill, text_of
from sparsegen.report.playground.controls import Controls, controls
from sparsegen.report.playground.drawing import drawing
from sparsegen.report.playground.examples import Example, choose_examples
from sparsegen.targets import TARGETS, Export

SCRIPTS = ("machine", "elements", "sliders", "profile", "canvas", "strokes", "drawing", "results", "page")
"""The files of the script, in order: each uses what those before it define."""
SLIDERS = 16
"""The most features that have a slider each; more are one curve."""


@dataclass(frozen=True)
class Playground:
    """What a page needs: all text is safe to place as it is, and the same input gives the same bytes."""

    html: Markup
    """One element, ``<div id="playground">``; the script fills it."""
    data: Mapping[str, Any]
    """The document of the JSON block with the id ``playground-data``: the module, ranges, examples, names."""
    style: str
    """For a ``<style>`` of the page; every rule begins with ``#playground``."""
    script: str
    """For a ``<script>`` at the end of the page's body; a policy must let in its hash and ``'wasm-unsafe-eval'``."""
    wasm: bytes
    """The module, which ``data`` holds as base64."""


def playground(
    lowered: Lowered,
    X: Array,
    y: NDArray[Any] | None = None,
    *,
    feature_names: tuple[str, ...] | None = None,
    image_shape: tuple[int, int] | None = None,
    name: str = "model",
) -> Playground:
    """Return the playground of a lowered model (float or integer).

    Rows ``X`` give the range of every control and, with labels ``y``, the examples to choose from. ``image_shape``
    (rows, columns) turns the controls into a canvas to draw on. Feature names default to those of the model's card.
    """
    if image_shape is not None:
        check_size(image_shape, lowered.n_features)
    rows = np.asarray(X, dtype=np.float64)
    export = TARGETS["c"].write(lowered, name)
    module = build_module(export)
    seen = controls(rows, whole=lowered.input_dtype.kind in "iu" and not _reads_grid(lowered))
    mode = "image" if image_shape is not None else "sliders" if lowered.n_features <= SLIDERS else "profile"
    examples = choose_examples(lowered, rows, y)
    document = {
        "mode": mode,
        "wasm": base64.b64encode(module).decode("ascii"),
        "wasmBytes": len(module),
        "name": name,
        "dtype": lowered.format.dtype,
        "entry": entry(export).removeprefix(f"{name}_"),
        "decision": _decision(lowered),
        "values": None if lowered.model.classes else _span(examples),
        "outputs": lowered.n_outputs,
        "scoreType": export.score_dtype.name,
        "unit": lowered.program.unit if isinstance(lowered.program, IntegerProgram) else 1.0,
        "classes": [str(label) for label in lowered.model.classes],
        "input": _input(lowered),
        "probability": _probability(lowered, export),
        "checksRange": isinstance(lowered.program, IntegerProgram),
        "isDetector": lowered.model.task == ANOMALY,
        "selftests": len(lowered.selftest.inputs),
        **_features(lowered, seen, feature_names),
        "drawing": None if image_shape is None else drawing(rows.reshape(-1, *image_shape)),
        "examples": [
            {
                "row": _numbers(lowered, example.row),
                "label": example.label,
                "given": example.given,
                "isWrong": example.is_wrong,
            }
            for example in examples
        ],
    }
    return Playground(fill("playground/playground.html.j2"), document, _style(), _script(), module)


def _style() -> str:
    return text_of("playground/playground.css")


def _script() -> str:
    parts = "\n".join(text_of(f"playground/{name}.js") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n\n{parts}}})();\n'


def _decision(lowered: Lowered) -> str:
    decision = lowered.model.decision
    return "sign" if decision == LARGEST and lowered.n_outputs == 1 else decision


def _span(examples: list[Example]) -> list[float]:
    """Return the ends of the bar of a regression: the smallest and the largest value of the examples."""
    values = [v for example in examples for v in (example.label, example.given) if v is not None]
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [low, high] if high > low else [low, low + 1.0]


def _reads_grid(lowered: Lowered) -> bool:
    return isinstance(lowered.program, IntegerProgram) and lowered.program.reader.kind.is_grid


def _input(lowered: Lowered) -> dict[str, Any]:
    """Return how the page makes what the program reads of raw features, as ``Lowered.inputs`` does."""
    dtype, fill_of = lowered.input_dtype, lowered.model.transform.fill
    told: dict[str, Any] = {"type": dtype.name, "fill": None if fill_of is None else fill_of.tolist()}
    if isinstance(lowered.program, IntegerProgram) and _reads_grid(lowered):
        program = lowered.program
        return {
            **told,
            "kind": "grid",
            "low": program.low.tolist(),
            "step": program.step.tolist(),
            "levels": program.reader.levels,
        }
    if dtype.kind == "f":
        return {**told, "kind": "float"}
    limits = np.iinfo(dtype)
    return {**told, "kind": "whole", "least": int(limits.min), "most": int(limits.max)}


def _probability(lowered: Lowered, export: Export) -> dict[str, Any] | None:
    made, row = lowered.probabilities, export.probability_row
    return None if made is None or row is None else {"type": row.base.name, "one": made.one}


def _features(lowered: Lowered, seen: Controls, names: tuple[str, ...] | None) -> dict[str, Any]:
    told = names or lowered.model.card.get("feature_names") or ()
    known = [str(name) for name in told] if len(told) == lowered.n_features else None
    return {
        "names": known or [f"x[{j}]" for j in range(lowered.n_features)],
        "low": _numbers(lowered, seen.low),
        "high": _numbers(lowered, seen.high),
        "from": _numbers(lowered, seen.begin),
        "to": _numbers(lowered, seen.end),
        "start": _numbers(lowered, seen.middle),
        "step": seen.step.tolist(),
        "sharesAxis": seen.shares_axis,
    }


def _numbers(lowered: Lowered, row: Array) -> list[float | None]:
    """Return a raw row for JSON, in few digits where the program reads float32 anyway; a NaN becomes ``None``."""
    if lowered.input_dtype.kind == "f":
        return [None if np.isnan(value) else float(str(value)) for value in row.astype(np.float32)]
    return [None if np.isnan(value) else float(value) for value in row]
