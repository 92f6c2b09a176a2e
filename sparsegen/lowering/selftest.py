"""Examples that an export carries, to prove at boot that the device computes what Python computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.locate_data import raw_inputs, thinned
from sparsegen.lowering.program import float32
from sparsegen.model import SparseModel, class_indices

EXAMPLES = 4
MAX_CANDIDATES = 256  # vectors to choose from; more would only take time
RELATIVE_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Selftest:
    """Inputs as the program reads them, with the scores and classes that it must compute."""

    inputs: NDArray[Any]
    scores: NDArray[Any]
    classes: NDArray[np.int64]
    tolerance: float
    """Largest allowed error of a score."""
    clear: bool
    """Whether no error within the tolerance can change a class."""


def make_selftest(model: SparseModel) -> Selftest:
    """Return up to four examples with clear decisions, made from the expansion vectors, so that no data is embedded."""
    inputs = raw_inputs(model)
    candidates = float32(thinned(inputs, MAX_CANDIDATES)).astype(np.float64)
    scores = model.scores(candidates)
    margins = np.abs(scores[:, 0]) if model.n_outputs == 1 else np.diff(np.sort(scores, axis=1)[:, -2:]).ravel()
    clear = np.argsort(-margins, kind="stable")[: max(1, len(margins) // 2)]
    # From the clearer half, take one example of every class before a second one of any.
    classes = class_indices(scores)
    rank = [int(np.sum(classes[clear[:i]] == classes[c])) for i, c in enumerate(clear)]
    chosen = clear[np.argsort(rank, kind="stable")[:EXAMPLES]]
    tolerance = RELATIVE_TOLERANCE * max(1.0, float(np.abs(scores[chosen]).max()))
    decided = bool(margins[chosen].min() > 2.0 * tolerance)
    return Selftest(candidates[chosen], scores[chosen], classes[chosen], tolerance, decided)


def integer_selftest(program: IntegerProgram, real: Selftest) -> Selftest:
    """Return the examples as an integer program reads them, with the scores that it must compute bit for bit."""
    inputs = np.unique(program.inputs(real.inputs), axis=0)
    scores = program.scores(inputs)
    return Selftest(inputs, scores, class_indices(scores), tolerance=0.0, clear=True)
