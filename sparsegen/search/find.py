"""``find_best``: a budget in, the best model out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sparsegen.budget.budget import Budget
from sparsegen.budget.cost_model import CostModel
from sparsegen.data import Dataset
from sparsegen.devices import DEVICES, Profile
from sparsegen.errors import OptionError
from sparsegen.search import engines
from sparsegen.search.costs import Costs, Predicts
from sparsegen.search.front import Front, Point, with_point
from sparsegen.search.metrics import Metric
from sparsegen.search.problem import Problem
from sparsegen.search.record import FAILED, FINISHED, STOPPED, Record
from sparsegen.search.run import Limits, Search, lasted
from sparsegen.search.space import Space
from sparsegen.search.study import open_study, quietly, require_optuna
from sparsegen.search.winner import Finals, Winner
from sparsegen.training.train import check_sets
from sparsegen.version import __version__

LAYOUT = 1
"""Of what a study keeps; another version's candidates may mean something else."""
DEFAULT_SECONDS = 600.0

CostModelMaker = Callable[[str, Dataset, Profile | None], Predicts]


@dataclass(frozen=True)
class Found:
    """What a search gives: a model within the budget, and the front of what other budgets would buy."""

    front: Front
    """The picked point's costs are measured, and its number of vectors is the model's."""
    winner: Winner
    tried: Mapping[str, int]
    """How many candidates were finished, stopped early, and failed."""
    seconds: float
    """What the search has taken in all its runs, up to the last candidate."""
    why: str
    """Why it ended."""
    tested: int
    """How many candidates of the study the test rows have judged by now."""

    @property
    def pick(self) -> Point:
        """The point whose model this is."""
        return self.front.pick


def find_best(
    train_set: Dataset,
    test_set: Dataset,
    *,
    device: str,
    budget: Budget | None = None,
    profile: Profile | None = None,
    metric: str = "accuracy",
    methods: Iterable[str] | None = None,
    kernels: Iterable[str] | None = None,
    dtypes: Iterable[str] | None = None,
    inputs: Iterable[str] | None = None,
    seed: int = 0,
    seconds: float | None = None,
    trials: int | None = None,
    jobs: int = 1,
    engine: str | None = None,
    study: str | Path | None = None,
    study_by_content: bool = False,
    pick: int | None = None,
    final: bool = False,
    cost_model: CostModelMaker | None = None,
) -> Found:
    """Return the best model that fits a budget on a device, chosen on the training set and tested on the other.

    The test rows choose nothing: candidates are compared by cross-validation on the training rows, in their own number
    formats, and the winner is measured on the device before it is tested.

    Args:
        train_set: The rows to search on.
        test_set: Rows that the search never sees.
        device: What the model will run on.
        budget: The most that a prediction may take; what it leaves open, the part's memory limits.
        profile: The part: its clock and memory. By default the one that the device stands for.
        metric: What is to be good: ``accuracy``, ``balanced``, ``f1`` or ``logloss``.
        methods: Training methods to try.
        kernels: Kernels to try.
        dtypes: Number formats to try; by default all.
        inputs: What integer programs may read; by default floats, and raw integers where all values are such.
        seed: Of folds, training and proposals. The same number of trials with one job gives the same study.
        seconds: How long the search may last, over all runs on its study, the winner's training included.
        trials: How many candidates to try, over all runs; with neither, ten minutes.
        jobs: Processes to train in.
        engine: Where to train instead, such as ``dask://host:8786``.
        study: A SQLite file or a URL of a database, where the search is kept and goes on; by default in memory.
        study_by_content: Whether the place may hold other searches too, and this one is found by what it is about.
        pick: The number of a candidate to make instead of searching further.
        final: Whether the model is trained once more on all rows after its test.
        cost_model: Makes the cost model of a device for rows.
    """
    began = time.monotonic()
    limits = _limits(seconds, trials)
    require_optuna()
    check_sets(train_set, test_set, None)
    part = profile or DEVICES[device].profile
    within = _within(budget or Budget(), part)
    problem = Problem.of(train_set, metric, seed)
    space = Space.of(problem, methods=methods, kernels=kernels, dtypes=dtypes, inputs=inputs)
    _require_measurable(device, part, within)
    DEVICES[device].require()
    make = cost_model or (lambda name, rows, profile: CostModel(name, rows.X, rows.y, profile=profile))
    costs = Costs(make(device, train_set, part), problem.X.shape[1], problem.n_outputs, within)
    about = _about(train_set, test_set, device, part, within, problem, space)
    with quietly():
        kept = open_study(
            study,
            about,
            problem.metric,
            problem.X.shape[1],
            by_content=study_by_content,
            is_known=pick is not None,
        )
        if pick is None:
            workers = engines.start(problem, jobs, engine)
            try:
                ended = Search(problem, space, costs, kept, workers, limits, began=began).go()
            finally:
                workers.close()
            records, why = list(ended.records), ended.why
        else:
            records, why = kept.records(), "picked"
    finished = [record for record in records if record.state == FINISHED]
    if not finished:
        raise OptionError(_nothing(records, seconds, pick))
    front = Front.of(
        (record.point(metric) for record in finished),
        finished[0].number,
        device=device,
        part=None if part is None else part.part,
        budget=within,
        metric=metric,
        larger_is_better=problem.metric.larger_is_better,
    )
    finals = Finals(problem, train_set, test_set, costs, device, part, final)
    if pick is None:
        winner = finals.first_that_fits(best_first(finished, problem.metric))
    else:
        front.point(pick)
        winner = finals.first_that_fits([record for record in finished if record.number == pick])
    tried = {state: sum(record.state == state for record in records) for state in (FINISHED, STOPPED, FAILED)}
    with quietly():
        tested = kept.note_test(winner.record.number)
    return Found(with_point(front, _measured(winner, metric)), winner, tried, lasted(records), why, tested)


def best_first(records: Iterable[Record], metric: Metric) -> list[Record]:
    """Return finished candidates by score; of equal ones the fastest, then the smallest comes first."""
    sign = -1.0 if metric.larger_is_better else 1.0
    return sorted(records, key=lambda one: (sign * (one.score or 0.0), one.time, one.flash, one.number))


def _limits(seconds: float | None, trials: int | None) -> Limits:
    if seconds is None and trials is None:
        seconds = DEFAULT_SECONDS
    if seconds is not None and not seconds > 0:
        raise OptionError(f"a search of {seconds:g} seconds finds nothing; give it more time")
    if trials is not None and trials < 1:
        raise OptionError(f"a search needs a trial at least, but it is given {trials}")
    return Limits(seconds, trials)


def _require_measurable(device: str, part: Profile | None, budget: Budget) -> None:
    """Raise an error where a device does not tell what the budget limits: what is not known keeps no limit."""
    if DEVICES[device].runs != "c":
        raise OptionError(f"device {device} runs no C, and a search is for C; choose a microcontroller")
    if part is None and (budget.ram is not None or budget.milliseconds is not None):
        raise OptionError(
            f"device {device} is a computer, which does not tell the RAM and the time of a prediction, so no limit on "
            "them can be kept; choose a microcontroller, or limit the flash only"
        )


def _within(budget: Budget, part: Profile | None) -> Budget:
    """Return the budget, and where it leaves something open, what the part has."""
    if part is None:
        return budget
    flash = part.flash_bytes if budget.flash is None else min(budget.flash, part.flash_bytes)
    ram = part.ram_bytes if budget.ram is None else min(budget.ram, part.ram_bytes)
    return replace(budget, flash=flash, ram=ram)


def _about(
    train_set: Dataset,
    test_set: Dataset,
    device: str,
    part: Profile | None,
    budget: Budget,
    problem: Problem,
    space: Space,
) -> dict[str, Any]:
    """Return what a study is a search of: whatever its candidates' scores and costs depend on."""
    groups = hashlib.sha256(b"" if train_set.groups is None else train_set.groups.astype("<i8").tobytes())
    return {
        "layout": LAYOUT,
        "data": f"{train_set.sha256} {groups.hexdigest()[:16]}",
        "test data": test_set.sha256,
        "device": device,
        "clock": None if part is None else part.clock_hz,
        **asdict(budget),
        "metric": problem.metric_name,
        "seed": problem.seed,
        "methods": list(space.methods),
        "kernels": list(space.kernels),
        "number formats": list(space.dtypes),
        "inputs": list(space.inputs),
        "version": __version__,
    }


def _measured(winner: Winner, metric: str) -> Point:
    """Return the winner's point with what was measured in place of estimates."""
    point, cost = winner.record.point(metric), winner.cost
    measured = cost.measurement
    return replace(
        point,
        n_vectors=winner.model.n_vectors,
        flash=point.flash if measured.flash is None else measured.flash,
        ram=point.ram if cost.ram_with_input is None else cost.ram_with_input,
        instructions=measured.instructions,
        milliseconds=point.milliseconds if cost.milliseconds is None else cost.milliseconds,
        is_measured=True,
    )


def _nothing(records: list[Record], seconds: float | None, pick: int | None) -> str:
    """Return the sentence for a search that finished no candidate."""
    if pick is not None and not records:
        return "the study holds no search of this; pick with the options that were searched with"
    if records and all(record.candidate is None for record in records):
        return "nothing that was tried fits the budget; allow more, or use fewer features or classes"
    reasons = [record.reason for record in records if record.state == FAILED and record.reason]
    if reasons:
        return f"every candidate failed, the last one because {reasons[-1]}"
    more = "" if seconds is None else f" in {seconds:g} s"
    return f"the search finished no candidate{more}; give it more time"
