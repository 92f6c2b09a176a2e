"""The playground: the exported C as WebAssembly, and the part of a page where visitors try it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.lowering.lowered import Lowered


@dataclass(frozen=True)
class Playground:
    """What a page needs: all text is safe to place as it is, and the same input gives the same bytes."""

    html: str
    """A ``<section id="playground">``; the data stands in a JSON block inside it."""
    style: str
    """For a ``<style>`` of the page; every rule begins with ``#playground``, colours are the page's CSS variables."""
    script: str
    """For a ``<script>`` at the end of the page's body. It needs ``'wasm-unsafe-eval'`` and its own hash in a CSP."""
    wasm: bytes
    """The module, which the JSON block holds as base64."""


def playground(
    lowered: Lowered,
    X: Array,
    y: NDArray[Any] | None = None,
    *,
    feature_names: tuple[str, ...] | None = None,
    image_shape: tuple[int, int] | None = None,
) -> Playground:
    """Return the playground of a lowered model (float or integer).

    Rows ``X`` give the range of every control and, with labels ``y``, the examples to choose from. ``image_shape``
    (rows, columns) turns the controls into a canvas to draw on. Names default to those of the model's card.
    """
    raise NotImplementedError
