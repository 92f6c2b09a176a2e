"""Expansion vectors as pictures: in the terminal with block characters, or as a PNG."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sparsegen.arrays import Array
from sparsegen.errors import OptionError, ToolError
from sparsegen.files import write_atomic
from sparsegen.model import SparseModel

SHADES = " ░▒▓█"
GAP = "  "


def vector_images(model: SparseModel, size: tuple[int, int]) -> Array:
    """Return the expansion vectors as raw images (m, height, width), each stretched to 0..1."""
    if size[0] * size[1] != model.n_features:
        raise OptionError(
            f"an image of {size[0]}x{size[1]} has {size[0] * size[1]} pixels, but the model has "
            f"{model.n_features} features; choose a size with as many pixels"
        )
    images = model.transform.inverse(model.vectors).reshape(-1, *size)
    low = images.min(axis=(1, 2), keepdims=True)
    spread = images.max(axis=(1, 2), keepdims=True) - low
    return np.asarray((images - low) / np.where(spread > 0, spread, 1.0))


def as_text(images: Array, columns: int) -> str:
    """Return the images side by side, as many to a row as fit into ``columns`` characters."""
    _, height, width = images.shape
    per_row = max(1, (columns + len(GAP)) // (2 * width + len(GAP)))
    shades = np.minimum((images * len(SHADES)).astype(int), len(SHADES) - 1)
    lines: list[str] = []
    for first in range(0, len(images), per_row):
        group = shades[first : first + per_row]
        for y in range(height):
            lines.append(GAP.join("".join(SHADES[v] * 2 for v in image[y]) for image in group))
        lines.append("")
    return "\n".join(lines)


def write_png(images: Array, path: Path) -> None:
    """Write the images as one PNG."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ToolError("drawing a PNG needs matplotlib; install it with: pip install 'sparsegen[plot]'") from None
    import io

    columns = min(10, len(images))
    rows = -(-len(images) // columns)
    figure = Figure(figsize=(columns, rows), dpi=100)
    for axes, image in zip(np.ravel(figure.subplots(rows, columns, squeeze=False)), images, strict=False):
        axes.imshow(image, cmap="gray_r", interpolation="nearest")
    for axes in figure.axes:
        axes.set_axis_off()
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.99, 0.05, 0.05)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    write_atomic(path, buffer.getvalue())
