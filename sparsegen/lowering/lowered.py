"""Lowered: a model as the program a device runs, with everything proved or measured about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import numeric_labels
from sparsegen.lowering.agreement import Agreement, label_indices
from sparsegen.lowering.coverage import Coverage
from sparsegen.lowering.formats import Format
from sparsegen.lowering.guarantee import Guarantee
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.lowering.leads import Leads
from sparsegen.lowering.probabilities import FloatProbabilities, IntegerProbabilities
from sparsegen.lowering.program import Program, as_float32
from sparsegen.lowering.score_size import score_size
from sparsegen.lowering.selftest import Selftest
from sparsegen.lowering.value_agreement import ValueAgreement
from sparsegen.model import SparseModel, class_indices
from sparsegen.model.held_out import held_out
from sparsegen.model.judged import Judged, judge
from sparsegen.model.judged_values import JudgedValues, judge_values


@dataclass(frozen=True)
class Reference:
    """What a device must compute for rows."""

    scores: Array
    labels: NDArray[np.int64]
    """Class indices."""
    unit: float
    """What one unit of a score is worth in the real-valued model."""
    is_exact: bool
    """Whether every score must agree bit for bit."""
    size: float
    """What differences of scores are relative to, in units of the real-valued model."""


@dataclass(frozen=True)
class Lowered:
    """A model as a program."""

    model: SparseModel
    format: Format
    program: Program | IntegerProgram
    selftest: Selftest
    guarantee: Guarantee | None = None
    """What is proved for every input of an integer program."""
    coverage: Coverage | None = None
    """Which inputs the guarantee covers."""
    agreement: Agreement | ValueAgreement | None = None
    """How well an integer program agrees with the real-valued model on rows."""
    leads: Leads | None = None
    """How the guarantee compares with how clearly the model decides on these rows."""
    probabilities: FloatProbabilities | IntegerProbabilities | None = None
    """How scores become probabilities; ``None`` for a model that has none."""

    @property
    def n_features(self) -> int:
        """Number of raw features."""
        return self.model.n_features

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return self.model.n_outputs

    @property
    def input_dtype(self) -> np.dtype[Any]:
        """The type of one feature as the program reads it."""
        return self.program.input_dtype

    @property
    def score_dtype(self) -> np.dtype[Any]:
        """The type of one score as the program writes it."""
        return self.program.score_dtype

    def inputs(self, X: Array) -> NDArray[Any]:
        """Return raw rows in the type that the program reads; raise a DataError for a value that no device can read."""
        as_float32(self.model.transform.filled(np.asarray(X)))
        return self.program.inputs(np.asarray(X, dtype=np.float64))

    def reference(self, X: Array) -> Reference:
        """Return what a device must compute for raw rows."""
        if not isinstance(self.program, IntegerProgram):
            scores = self.model.scores(X)
            labels = class_indices(scores, self.model.decision)
            return Reference(scores, labels, 1.0, is_exact=False, size=score_size(self.model, scores))
        scores, unit = self.program.scores(self.inputs(X)).astype(np.float64), self.program.unit
        labels = class_indices(scores, self.model.decision)
        return Reference(scores, labels, unit, is_exact=True, size=score_size(self.model, scores * unit))

    def test(self, X: Array, y: NDArray[Any]) -> Judged | JudgedValues:
        """Return how many labelled raw rows the program gets right: for integers bit by bit what a device gives.

        Of a regression, return how far its values are from the labels.
        """
        if not self.model.has_classes:
            expected, known = self.reference(X), held_out(self.model.card, X)
            values = expected.scores[:, 0] * expected.unit
            return judge_values(self.model, values, self.model.predict(X), numeric_labels(y), known)
        wanted = label_indices(self.model, y)
        right, real_right = (given == wanted for given in (self.reference(X).labels, self.model.predict_index(X)))
        return judge(self.model, right, real_right, held_out(self.model.card, X), wanted)

    @property
    def judged(self) -> Judged | JudgedValues | None:
        """How many of the rows to calibrate on are right, of all and of those held out, where they have labels."""
        if self.agreement is not None:
            return self.agreement.judged
        rows, labels = self.format.rows, self.format.labels
        return None if rows is None or labels is None else self.test(rows, labels)

    @property
    def promises(self) -> tuple[tuple[str, str], ...]:
        """What is proved and what was measured about an integer program, as pairs of subject and sentence."""
        if self.guarantee is None or self.coverage is None or self.agreement is None:
            return ()
        told = [("range", str(self.coverage)), *self.guarantee.sentences()]
        if isinstance(self.probabilities, IntegerProbabilities):
            told.append(("probabilities", self.probabilities.sentence))
        told.append(("agreement", str(self.agreement)))
        return (*told, *(() if self.leads is None else self.leads.sentences()))
