"""Adam as it is written down: one number at a time, in double precision."""

from __future__ import annotations

import math

import numpy as np


def slow_adam(theta, rates, gradients, n_rows, batch, steps, seed):
    """Return the parameters after the steps; ``gradients(theta, rows)`` gives theirs."""
    rng = np.random.RandomState(seed)
    theta = [one.copy() for one in theta]
    first = [np.zeros(one.size) for one in theta]
    second = [np.zeros(one.size) for one in theta]
    t = 0
    while True:
        order = rng.permutation(n_rows)
        for k in range(n_rows // batch):
            t += 1
            fade = 0.5 * (1.0 + math.cos(math.pi * t / steps))
            found = gradients(theta, order[k * batch : (k + 1) * batch])
            for one, rate, g, mean, square in zip(theta, rates, found, first, second, strict=True):
                for j, slope in enumerate(np.asarray(g, np.float64).ravel()):
                    mean[j] = 0.9 * mean[j] + 0.1 * slope
                    square[j] = 0.99 * square[j] + 0.01 * slope * slope
                    towards = mean[j] / (1.0 - 0.9**t)
                    size = math.sqrt(square[j] / (1.0 - 0.99**t))
                    one.flat[j] -= rate * fade * towards / (size + 1e-8)
            if t == steps:
                return theta
