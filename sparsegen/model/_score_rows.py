"""The loop of a prepared predictor.

A model is a list of steps, each over all vectors at once and into a row of its own of a table of values. The tables
hold one column per vector, so that the inner loops run over vectors, side by side in memory, and no sum is reordered.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.compiled import compiled

CONSTANT, DOT, SQDIST, L1DIST, ADD, MULTIPLY, EXP, EXP2, RECIPROCAL, SQRT, POWER, SCORE = range(12)
"""What a step does: see :func:`score_rows`."""


@compiled
def score_rows(
    X: Array,
    affine: Array,
    projection: Array,
    vectors: Array,
    coef: Array,
    intercept: Array,
    steps: NDArray[np.int64],
    constants: Array,
    out: Array,
) -> None:
    """Write the scores of raw rows to ``out``.

    ``affine`` holds offset and scale, ``projection`` is (d, p) or empty, ``vectors`` (p, m), ``coef`` (kernels, m,
    outputs). A step is a code and the two earlier steps that it reads; ``SCORE`` reads one, and adds it to the scores
    with the coefficients of the kernel that its other number names. ``constants`` has an entry per step.
    """
    p, m = vectors.shape
    seen = np.empty(p)
    values = np.empty((steps.shape[0], m))
    for i in range(X.shape[0]):
        if projection.size > 0:
            for v in range(p):
                seen[v] = 0.0
            for j in range(X.shape[1]):
                scaled = (X[i, j] - affine[0, j]) * affine[1, j]
                for v in range(p):
                    seen[v] += scaled * projection[j, v]
        else:
            for v in range(p):
                seen[v] = (X[i, v] - affine[0, v]) * affine[1, v]
        for k in range(out.shape[1]):
            out[i, k] = intercept[k]
        for step in range(steps.shape[0]):
            code, a, b = steps[step, 0], steps[step, 1], steps[step, 2]
            if code == SCORE:
                for u in range(m):
                    for k in range(out.shape[1]):
                        out[i, k] += values[a, u] * coef[b, u, k]
                continue
            for u in range(m):
                values[step, u] = constants[step]
            if code == DOT:
                for v in range(p):
                    for u in range(m):
                        values[step, u] += seen[v] * vectors[v, u]
            elif code == SQDIST:
                for v in range(p):
                    for u in range(m):
                        difference = seen[v] - vectors[v, u]
                        values[step, u] += difference * difference
            elif code == L1DIST:
                for v in range(p):
                    for u in range(m):
                        values[step, u] += abs(seen[v] - vectors[v, u])
            elif code == ADD:
                for u in range(m):
                    values[step, u] = values[a, u] + values[b, u]
            elif code == MULTIPLY:
                for u in range(m):
                    values[step, u] = values[a, u] * values[b, u]
            elif code == EXP:
                for u in range(m):
                    values[step, u] = math.exp(values[a, u])
            elif code == EXP2:
                for u in range(m):
                    values[step, u] = 2.0 ** values[a, u]
            elif code == RECIPROCAL:
                for u in range(m):
                    values[step, u] = (
                        1.0 / values[a, u] if values[a, u] != 0.0 else math.copysign(math.inf, values[a, u])
                    )
            elif code == SQRT:  # a negative argument counts as 0
                for u in range(m):
                    values[step, u] = math.sqrt(0.0 if values[a, u] < 0.0 else values[a, u])
            elif code == POWER:
                for u in range(m):
                    values[step, u] = values[a, u] ** constants[step]
