"""Put the vectors with the most weight first, and bound what the rest can still change, so a prediction can stop early.

Kernel values lie between 0 and ``LARGEST_VALUE``. So the rest of a binary score lies between the sums of its negative
and of its positive coefficients, times ``LARGEST_VALUE``. The lead of one class over another changes by at most the sum
over the remaining vectors of their largest coefficient minus their smallest, times ``LARGEST_VALUE``.

Bounds are in units of 2^16, rounded up, and compared with scores rounded down: stopping is always safe.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsegen.lowering.curves import LARGEST_VALUE, Integers
from sparsegen.lowering.integer_program import IntegerProgram

UNIT_BITS = 16
NEVER = 2**16 - 1  # no score exceeds this, in these units


def order_for_early_exit(program: IntegerProgram) -> IntegerProgram:
    """Return the program with its vectors sorted by falling weight; scores and labels stay the same."""
    if program.is_linear:
        return program
    weight = np.abs(program.coef).sum(axis=1).max(axis=0)
    order = np.argsort(-weight, kind="stable")
    shift = None if program.shift is None else program.shift[:, order]
    return replace(program, vectors=program.vectors[order], coef=program.coef[:, :, order], shift=shift)


def remaining_change(program: IntegerProgram) -> Integers:
    """Return, for every vector, bounds on what all later vectors can change.

    A binary program has two, on how far the score can fall and rise; any other has one, on the lead.
    """
    if program.n_outputs == 1:
        down = np.maximum(-program.coef, 0).sum(axis=(0, 1))
        up = np.maximum(program.coef, 0).sum(axis=(0, 1))
        change = np.stack([down, up], axis=1)
    else:
        change = (program.coef.max(axis=0) - program.coef.min(axis=0)).sum(axis=0)[:, None]
    after = (np.cumsum(change[::-1], axis=0)[::-1] - change) * LARGEST_VALUE
    return np.asarray(np.minimum(-(-after >> UNIT_BITS), NEVER), dtype=np.int64)
