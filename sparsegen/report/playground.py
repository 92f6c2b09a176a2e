"""The playground: the exported C as WebAssembly, and the part of a page where visitors try it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.lowered import Lowered


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
    """For a ``<script>`` at the end of the page's body. A policy must let it in by its hash, and ``'wasm-unsafe-eval'``."""
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
    raise NotImplementedError
