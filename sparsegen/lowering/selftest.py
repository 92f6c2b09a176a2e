"""Examples that an export carries, to prove at boot that the device computes what Python computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import ModelError
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.locate_data import data_like, thinned
from sparsegen.lowering.program import Program, float32
from sparsegen.lowering.rounding import form_errors, sum_errors, thinned_for
from sparsegen.lowering.score_size import score_size
from sparsegen.lowering.selftest_rows import choose_rows, noticed_in_floats, noticed_in_integers
from sparsegen.lowering.simulate import float32_scores
from sparsegen.model import SparseModel, class_indices
from sparsegen.model.decision import DECISIONS

EXAMPLES = 4
MAX_CANDIDATES = 256  # rows to choose from; more would only take time
ESTIMATES_ALLOWED = 4.0  # compilers add in another order, or with fused products, and errors are estimated
ERRORS_ALLOWED = 4.0  # times what the simulated device is off
MAX_ENTRIES = 1 << 22  # candidates x entries of vectors
MAX_TOLERANCE = 1e-3  # of what scores are compared with: a device that is further off computes something else


@dataclass(frozen=True)
class Selftest:
    """Inputs as the program reads them, with the scores and classes that it must compute."""

    rows: Array
    """The same examples as raw features."""
    inputs: NDArray[Any]
    scores: NDArray[Any]
    classes: NDArray[np.int64]
    tolerance: float
    """Largest allowed error of a score."""
    clear: bool
    """Whether no error within the tolerance can change a class."""


def float_selftest(program: Program, model: SparseModel) -> Selftest:
    """Return up to four examples in which damage to any constant shows, made from the expansion vectors.

    No data is embedded. Raises a ModelError where float32 is so far off that the test would fail on every device.
    """
    with np.errstate(all="ignore"):  # what overflows is refused below
        rows = thinned_for(program, _candidates(model))
        scores = model.scores(rows)
        errors = np.nan_to_num(form_errors(program, rows) + sum_errors(program, rows), nan=np.inf).max(axis=1)
        estimates = ESTIMATES_ALLOWED * np.maximum(errors, np.finfo(np.float32).tiny)
        chosen = choose_rows(
            noticed_in_floats(program, rows, estimates), class_indices(scores, model.decision), EXAMPLES
        )
        rows = np.vstack([rows[chosen], _empty_row(model)])
        scores = model.scores(rows)
        off = float(np.abs(float32_scores(program, rows) - scores).max())
    most = MAX_TOLERANCE * score_size(model, scores)
    if not 2.0 * off <= most:
        wrong = f"are off by {off:.3g}" if np.isfinite(off) else "overflow"
        raise ModelError(
            f"in float32 the model's scores {wrong}, so its self-test would fail on every device; rescale the "
            "features, or train with a wider kernel (a smaller gamma)"
        )
    tolerance = min(max(float(estimates[chosen].max()), ERRORS_ALLOWED * off), most)
    decided = bool(DECISIONS[model.decision].leads(scores).min() > 2.0 * tolerance)
    return Selftest(rows, rows, scores, class_indices(scores, model.decision), tolerance, decided)


def integer_selftest(program: IntegerProgram, model: SparseModel) -> Selftest:
    """Return up to four examples that visit most vectors and table entries; scores must agree bit for bit."""
    rows = thinned(_candidates(model), max(1, min(MAX_CANDIDATES, MAX_ENTRIES // max(1, program.vectors.size))))
    inputs = program.inputs(rows)
    classes = program.predict_index(inputs)
    chosen = choose_rows(noticed_in_integers(program, program.seen(inputs)), classes, EXAMPLES)
    rows = rows[chosen]
    if program.reader.kind.is_float:
        rows = np.vstack([rows, _empty_row(model)])
    inputs = program.inputs(rows)
    scores = program.scores(inputs)
    return Selftest(rows, inputs, scores, class_indices(scores, model.decision), tolerance=0.0, clear=True)


def _empty_row(model: SparseModel) -> Array:
    """Return a row of nothing but NaN where that counts as something; otherwise no row."""
    return np.full((0 if model.transform.fill is None else 1, model.n_features), np.nan)


def _candidates(model: SparseModel) -> Array:
    """Return raw rows where the data lies, as float32 holds them."""
    return float32(thinned(data_like(model), MAX_CANDIDATES)).astype(np.float64)
