"""Examples that an export carries, to prove at boot that the device computes what Python computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.locate_data import raw_inputs, thinned
from sparsegen.lowering.program import float32
from sparsegen.model import SparseModel

EXAMPLES = 4
MAX_CANDIDATES = 256  # of thousands of vectors, these are choice enough
RELATIVE_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Selftest:
    """Inputs as the program reads them, with the scores and classes that it must give."""

    inputs: NDArray[Any]
    scores: NDArray[Any]
    classes: NDArray[np.int64]
    tolerance: float
    """Of each score."""
    clear: bool
    """Whether scores within the tolerance cannot change any of the classes."""


def make_selftest(model: SparseModel) -> Selftest:
    """Return up to four examples with clear decisions, made from the expansion vectors, so that no data is embedded."""
    inputs = raw_inputs(model)
    candidates = float32(thinned(inputs, MAX_CANDIDATES)).astype(np.float64)
    scores = model.scores(candidates)
    margins = np.abs(scores[:, 0]) if model.n_outputs == 1 else np.diff(np.sort(scores, axis=1)[:, -2:]).ravel()
    clear = np.argsort(-margins, kind="stable")[: max(1, len(margins) // 2)]
    # Of the clearer half, take examples spread over the classes before second ones of a class.
    classes = model.predict_index(candidates)
    rank = [int(np.sum(classes[clear[:i]] == classes[c])) for i, c in enumerate(clear)]
    chosen = clear[np.argsort(rank, kind="stable")[:EXAMPLES]]
    tolerance = RELATIVE_TOLERANCE * max(1.0, float(np.abs(scores[chosen]).max()))
    decided = bool(margins[chosen].min() > 2.0 * tolerance)
    return Selftest(candidates[chosen], scores[chosen], classes[chosen], tolerance, decided)


def integer_selftest(program: IntegerProgram, real: Selftest) -> Selftest:
    """Return the examples as an integer program reads them, with the scores that it must give bit by bit."""
    inputs = np.unique(program.inputs(real.inputs), axis=0)
    scores = program.scores(inputs)
    return Selftest(inputs, scores, program.predict_index(inputs), tolerance=0.0, clear=True)
