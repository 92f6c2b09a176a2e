"""Whether the features of rows are the pixels of an image, and a PNG of such an image."""

from __future__ import annotations

import base64
import math
import re
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array

LEAST_SIDE = 5
MOST_ROWS = 500
LEAST_LIKENESS = 0.3
"""Median correlation of neighbouring pixels, in both directions, from which rows are taken for images."""
NAMED = re.compile(r"\D*(\d{1,4})\D+(\d{1,4})\D*")

Levels = NDArray[np.uint8]


def guess_image(X: Array, names: Sequence[str]) -> tuple[int, int] | None:
    """Return (height, width) where names such as ``pixel_0_7`` or alike neighbours say that rows are images."""
    return _named_size(names) or _square_size(X)


def _named_size(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the size of a grid whose cells the names count, row by row from 0 or 1."""
    found = [NAMED.fullmatch(name) for name in names]
    cells = [(int(match[1]), int(match[2])) for match in found if match is not None]
    if len(cells) < len(names) or len(cells) < LEAST_SIDE**2:
        return None
    (first, left), (last, right) = cells[0], cells[-1]
    size = last - first + 1, right - left + 1
    grid = [(first + y, left + x) for y in range(size[0]) for x in range(size[1])]
    return size if cells == grid and min(size) >= LEAST_SIDE else None


def _square_size(X: Array) -> tuple[int, int] | None:
    side = math.isqrt(X.shape[1])
    if side < LEAST_SIDE or side**2 != X.shape[1] or len(X) < LEAST_SIDE:
        return None
    step = -(-len(X) // MOST_ROWS)
    images = np.nan_to_num(np.asarray(X[::step], dtype=np.float64)).reshape(-1, side, side)
    spread = images.std(axis=0)
    if np.ptp(images) > 20 * float(np.median(spread[spread > 0], axis=None) if (spread > 0).any() else 0.0):
        return None  # features of different units are no pixels
    across, down = _likeness(images[:, :, :-1], images[:, :, 1:]), _likeness(images[:, :-1], images[:, 1:])
    return (side, side) if min(across, down) >= LEAST_LIKENESS else None


def _likeness(a: Array, b: Array) -> float:
    """Return the median correlation of pixels over images, of those that change at all."""
    a, b = (part - part.mean(axis=0) for part in (a, b))
    scale = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    return float(np.median(((a * b).sum(axis=0) / np.where(scale > 0, scale, 1.0))[scale > 0])) if scale.any() else 0.0


def levels(values: Array, low: float, high: float) -> Levels:
    """Return values as levels 0..255 between two ends."""
    spread = high - low if high > low else 1.0
    return np.asarray(np.clip(np.rint(255 * (values - low) / spread), 0, 255), dtype=np.uint8)


def png(image: Levels, palette: Sequence[tuple[int, int, int]] | None = None) -> str:
    """Return an image of levels as the address of a PNG that is all there: grey, or in the colours of a palette."""
    height, width = image.shape
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), image]).tobytes()
    colour_type = 0 if palette is None else 3
    parts = [_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0))]
    if palette is not None:
        parts.append(_chunk(b"PLTE", bytes(level for colour in palette for level in colour)))
    parts += [_chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b"")]
    content = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def palette(stops: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """Return 256 colours that run evenly through the stops."""
    places = np.linspace(0, 255, len(stops))
    mixed = np.rint([np.interp(np.arange(256), places, channel) for channel in np.array(stops).T]).astype(int)
    return tuple((int(r), int(g), int(b)) for r, g, b in mixed.T)


HEAT = palette([(255, 255, 255), (253, 219, 160), (240, 150, 70), (200, 70, 20), (110, 20, 10)])
"""From nothing to much."""
DIVERGING = palette(
    [(0, 63, 112), (0, 114, 178), (150, 200, 230), (250, 250, 250), (250, 190, 130), (213, 94, 0), (120, 45, 0)]
)
"""From negative (blue) over none to positive (orange)."""
