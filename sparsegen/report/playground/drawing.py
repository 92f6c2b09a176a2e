"""What the page must know to draw pictures like those in the rows: paper, ink, the pen, and how a drawing is placed."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsegen.arrays import Array

INKED = 0.25
"""The share of ink from which a pixel belongs to a drawing."""
STROKES = 1.7
"""How long the lines of a drawing are, in its longer sides: a guess that suits digits. It gives the pen."""
FILLED = 0.7
"""How much of the canvas visitors fill: what they draw is scaled, and the pen's width with it. A guess as well."""
PENS = 0.8, 4.0
"""The narrowest and the widest pen to start with, in pixels."""


def drawing(images: Array) -> dict[str, Any]:
    """Return for raw images (n, rows, columns) how the page draws one.

    ``paper`` and ``ink`` are the values of an empty and of a full pixel: paper is the end of the range that the border
    is nearer to. A drawing is scaled to ``side`` pixels, the usual longer side of what is drawn, and its centre of mass
    moved to ``centre``; ``pen`` is the width of a stroke, in pixels, that then gives about as much ink as an image has.
    """
    _, rows, columns = images.shape
    low, high = float(np.nanmin(images)), float(np.nanmax(images))
    high = high if high > low else low + 1.0
    border = np.concatenate(
        [images[:, 0].ravel(), images[:, -1].ravel(), images[:, :, 0].ravel(), images[:, :, -1].ravel()]
    )
    paper, ink = (low, high) if float(np.nanmedian(border)) <= (low + high) / 2.0 else (high, low)
    shares = np.nan_to_num((images - paper) / (ink - paper), nan=0.0)
    mass = shares.sum(axis=(1, 2))
    weights = np.where(mass > 0.0, mass, 1.0)
    row = (shares.sum(axis=2) @ (np.arange(rows) + 0.5)) / weights
    column = (shares.sum(axis=1) @ (np.arange(columns) + 0.5)) / weights
    drawn = mass > 0.0
    sides = np.maximum(_extent(shares.max(axis=2)), _extent(shares.max(axis=1)))
    side = max(1.0, float(np.median(sides[drawn]))) if drawn.any() else float(max(rows, columns))
    scale = side / (FILLED * max(rows, columns))
    pen = float(np.clip(np.median(mass) / (STROKES * side * scale), *PENS))
    centre = (float(np.median(row[drawn])), float(np.median(column[drawn]))) if drawn.any() else (rows / 2, columns / 2)
    return {
        "rows": rows,
        "columns": columns,
        "paper": paper,
        "ink": ink,
        "pen": round(pen, 2),
        "side": side,
        "centre": [round(place, 3) for place in centre],
    }


def _extent(profile: Array) -> Array:
    """Return from the first to the last inked entry of every row, both included."""
    inked = profile >= INKED
    first, last = inked.argmax(axis=1), profile.shape[1] - 1 - inked[:, ::-1].argmax(axis=1)
    return np.where(inked.any(axis=1), last - first + 1, 0)
