"""Descent by minibatches: Adam with a rate that fades to zero, on arrays that are changed in place.

    first  <- first  + 0.1  (g   - first)         running means of the gradient and of its square,
    second <- second + 0.01 (g^2 - second)        freed of their bias towards zero below
    theta  <- theta - rate fade(t) first / sqrt(second),   fade(t) = (1 + cos(pi t / steps)) / 2

Symbols: theta the parameters, g their gradients on a minibatch, t the step, from 1.

Note: the means forget faster (0.1, 0.01) than Adam's usual ones (0.1, 0.001): descents here are a few thousand steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegen import progress

FIRST, SECOND = 0.1, 0.01
TINY = 1e-8

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]
Batch = TypeVar("Batch")


def adam(
    theta: Sequence[Floats],
    rates: Sequence[float],
    gradients: Callable[[Batch], Sequence[Floats]],
    batches: Iterable[Batch],
    *,
    steps: int,
    advance: progress.Advance,
) -> None:
    """Change the arrays ``theta`` by ``steps`` steps; ``gradients(batch)`` gives theirs on one of the minibatches."""
    first = [np.zeros_like(one) for one in theta]
    second = [np.zeros_like(one) for one in theta]
    for t, batch in zip(range(1, steps + 1), batches, strict=False):
        fade = 0.5 * (1.0 + np.cos(np.pi * t / steps))
        bias_first, bias_second = 1.0 - (1.0 - FIRST) ** t, 1.0 - (1.0 - SECOND) ** t
        found = gradients(batch)
        for one, rate, g, mean, square in zip(theta, rates, found, first, second, strict=True):
            mean += FIRST * (g - mean)
            square += SECOND * (g * g - square)
            one -= (rate * fade / bias_first) * mean / (np.sqrt(square / bias_second) + TINY)
        advance("")


def minibatches(n_rows: int, size: int, rng: np.random.RandomState) -> Iterator[Rows]:
    """Yield minibatches of rows without end.

    Every epoch goes through the rows in an order of its own; the last rows, too few for a minibatch, sit it out.
    """
    size = min(size, n_rows)
    while True:
        order = rng.permutation(n_rows)
        for start in range(0, n_rows - size + 1, size):
            yield order[start : start + size]
