"""A shifted image, one pixel at a time."""

from __future__ import annotations

import numpy as np


def slow_shift(image, down, across):
    """Return the image moved down and to the right; what was never seen repeats the nearest pixel."""
    height, width = image.shape
    shifted = np.empty_like(image)
    for r in range(height):
        for c in range(width):
            from_r, from_c = r - down, c - across
            if from_r < 0:
                from_r = 0
            if from_r > height - 1:
                from_r = height - 1
            if from_c < 0:
                from_c = 0
            if from_c > width - 1:
                from_c = width - 1
            shifted[r, c] = image[from_r, from_c]
    return shifted
