"""The winner: trained in full on all rows of the search, measured on the device, and tested on rows nobody has seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from sparsegen import data
from sparsegen.bench import Cost, bench_exports
from sparsegen.budget.budget import Budget
from sparsegen.data import Dataset
from sparsegen.devices import Profile
from sparsegen.errors import FitError, SparsegenError
from sparsegen.lowering import lower
from sparsegen.model import SparseModel
from sparsegen.model.judged import Judged
from sparsegen.search.candidate import FULL, Candidate
from sparsegen.search.costs import Costs
from sparsegen.search.evaluate import columns_of, judged_rows
from sparsegen.search.metrics import Metric
from sparsegen.search.problem import Problem
from sparsegen.search.record import Record
from sparsegen.training.report import TrainingReport
from sparsegen.training.train import make_scaler, train
from sparsegen.verify import Exports

MAX_SHRINKS = 3
"""How often vectors are taken from a candidate that is measured to be too large."""
MAX_CANDIDATES = 8


@dataclass(frozen=True)
class Winner:
    """A trained model that was measured to fit the budget."""

    record: Record
    candidate: Candidate
    """As it was trained in the end: with fewer vectors where those of the record were measured to be too many."""
    report: TrainingReport
    """How training went; what is tested is the real-valued model."""
    cost: Cost
    """Measured on the device, over rows of the search."""
    judged: Judged
    """How the model labels the test rows in its own number format."""
    test_score: float
    """What the metric of the search says of that."""
    train_set: Dataset
    """The rows of the search, with the features that the model uses."""
    test_set: Dataset
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> SparseModel:
        """What is written."""
        return self.report.model


@dataclass(frozen=True)
class Finals:
    """What the winner is trained, measured and tested on."""

    problem: Problem
    train_set: Dataset
    test_set: Dataset
    costs: Costs
    device: str
    profile: Profile | None
    final: bool

    def first_that_fits(self, records: Iterable[Record]) -> Winner:
        """Return the first candidate that is measured to fit, perhaps with a few vectors fewer than planned."""
        notes: list[str] = []
        for tried, record in enumerate(records):
            if tried == MAX_CANDIDATES:
                break
            candidate = record.candidate
            for _ in range(MAX_SHRINKS + 1):
                if candidate is None:
                    break
                try:
                    winner = self._trained(record, candidate)
                except SparsegenError as error:
                    notes.append(f"candidate {record.number} could not be finished: {error}")
                    break
                short = over_budget(winner.cost, self.costs.budget)
                if short is None and winner.cost.problem is None:
                    return replace(winner, notes=tuple(notes))
                if short is None:  # what is not known keeps no limit
                    notes.append(f"candidate {record.number}: {winner.cost.problem}")
                    break
                vectors = f"{candidate.n_vectors} vectors"
                notes.append(f"candidate {record.number} with {vectors} {short}, so it was made smaller")
                candidate = self._shrunk(candidate, winner.cost)
        told = f": {notes[-1]}" if notes else ""
        raise FitError(f"no candidate of the search was measured to fit the budget{told}; allow more, or search longer")

    def _trained(self, record: Record, candidate: Candidate) -> Winner:
        columns = columns_of(self.problem, candidate, None)
        rows, tests = (data.with_features(part, columns.tolist()) for part in (self.train_set, self.test_set))
        scaler = make_scaler(candidate.scale)
        scaled = rows.X if scaler is None else scaler.fit_transform(rows.X)
        report = train(
            rows,
            tests,
            method=candidate.method,
            scale=candidate.scale,
            seed=self.problem.seed,
            parameters=candidate.settings(scaled, FULL),
            final=self.final,
        )
        told = {"dtype": candidate.dtype, "input": candidate.reads, "device": self.device}
        model = replace(report.model, card={**report.model.card, "export": told})
        tested = model if not report.is_final else replace(report.tested, card={**report.tested.card, "export": told})
        report = replace(report, model=model, tested=tested)
        exports = Exports(model, "c", "model", candidate.format)
        # What fits is chosen here, so the test rows have no say in it.
        (cost,) = bench_exports(exports, rows.X, [self.device], profile=self.profile, budget=self.costs.budget)
        lowered = lower(tested, candidate.format) if report.is_final else exports.lowered
        score = score_of(tested, candidate, self.problem.classes, tests, self.problem.metric)
        judged = lowered.test(tests.X, tests.y)
        if not isinstance(judged, Judged):
            raise TypeError("a search trains classifiers, whose rows are right or wrong")
        return Winner(record, candidate, report, cost, judged, score, rows, tests)

    def _shrunk(self, candidate: Candidate, cost: Cost) -> Candidate | None:
        """Return the candidate with as many vectors as fit if what the cost model was off stays the same."""
        budget, estimate = self.costs.budget, self.costs.of(candidate)
        measured = cost.measurement.flash, cost.ram_with_input, cost.worst_milliseconds
        off = [
            0.0 if one is None or other is None else one - other
            for one, other in zip(measured, (estimate.flash, estimate.ram, estimate.worst_milliseconds), strict=True)
        ]
        for n_vectors in range(candidate.n_vectors - 1, 0, -1):
            smaller = replace(candidate, n_vectors=n_vectors)
            cost_of_it = self.costs.of(smaller)
            flash, ram = round(cost_of_it.flash + off[0]), round(cost_of_it.ram + off[1])
            ms = None if cost_of_it.worst_milliseconds is None else cost_of_it.worst_milliseconds + off[2]
            if budget.shortage(flash, ram, ms) is None:
                return smaller
        return None


def score_of(model: SparseModel, candidate: Candidate, classes: NDArray[Any], rows: Dataset, metric: Metric) -> float:
    """Return what the metric says of a model's answers in the candidate's number format."""
    tally = metric.tally(judged_rows(model, candidate, rows.X, rows.y, classes))
    return metric.score(tally)


def over_budget(cost: Cost, budget: Budget) -> str | None:
    """Return in words what a measured cost is beyond the budget, or ``None`` where it is within it."""
    return budget.shortage(cost.measurement.flash, cost.ram_with_input, cost.worst_milliseconds)
