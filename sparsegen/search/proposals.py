"""What to try next: the fixed starts, and then what Optuna's TPE draws, given all that is known.

A study has three objectives, but few of its trials, and a front in three dimensions holds most of them: TPE would have
next to nothing to tell good from bad by. So each proposal follows one line through the objectives, as in ParEGO: most
of them look for the best score alone, the others pay for every octave of flash and of time, at prices drawn at random.
On the set image, within 4 kB and after 80 quick trials, three seeds gave 98.4 % on average where half of them did so,
98.9 % where all did; TPE for several objectives gave 97.9 %, NSGA-II 98.0 %, and random draws 97.8 %.

What a proposal is depends on the finished trials, the seed and nothing else, so that a search that was stopped goes on
as if it had not been.

J. Knowles, ParEGO: a hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization
problems, IEEE Transactions on Evolutionary Computation 10 (2006).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsegen.errors import DataError
from sparsegen.search.candidate import Candidate
from sparsegen.search.costs import Costs, Sketch
from sparsegen.search.metrics import Metric
from sparsegen.search.record import FINISHED, Record
from sparsegen.search.space import Space

if TYPE_CHECKING:
    import optuna

STARTUP_TRIALS = 10
SCORE_ONLY = 2 / 3
"""Share of the proposals that mind nothing but the score."""
HIGHEST_PRICE = 0.5
"""Of an octave, in units of what the best candidates differ by."""


@dataclass(frozen=True)
class Proposal:
    """A candidate to try."""

    draws: Mapping[str, Any]
    distributions: Mapping[str, Any]
    candidate: Candidate | None
    """``None`` where nothing of the kind fits the budget."""


def propose(
    space: Space,
    costs: Costs,
    known: Sequence[Record],
    in_flight: Sequence[Proposal],
    metric: Metric,
    seeds: Sequence[int],
    *,
    from_starts: bool = True,
) -> Proposal:
    """Return what to try next; ``in_flight`` are candidates that are being tried, and are not proposed again.

    The fixed starts come first, but for a search that joins another's study.
    """
    import optuna

    ordinal = len(known) + len(in_flight)
    rng = np.random.default_rng([*seeds, ordinal])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that multivariate TPE and groups are experimental
        sampler = optuna.samplers.TPESampler(
            seed=int(rng.integers(2**32)),
            multivariate=True,
            group=True,
            constant_liar=False,
            n_startup_trials=STARTUP_TRIALS,
            warn_independent_sampling=False,
        )
        view = optuna.create_study(direction="maximize", sampler=sampler)
        values = _values(known, metric, rng)
        for record, value in zip(known, values, strict=True):
            view.add_trial(_trial(record.draws, record.distributions, value))
        worst = min((value for value in values if value is not None), default=0.0)
        for proposal in in_flight:  # a lie that keeps the next proposal away from them
            view.add_trial(_trial(proposal.draws, proposal.distributions, worst))
        starts = space.starts()
        if from_starts and ordinal < len(starts):
            view.enqueue_trial(dict(starts[ordinal]))
        trial = view.ask()
        candidate = space.draw(trial, costs)
    return Proposal(dict(trial.params), dict(trial.distributions), candidate)


def sketch_of(space: Space, record: Record) -> Sketch:
    """Return what a trial of a study drew; raise a DataError where that is not of this space."""
    import optuna

    try:
        return space.sketch(optuna.trial.FixedTrial(dict(record.draws)))
    except (ValueError, TypeError, IndexError, KeyError):
        raise DataError(f"trial {record.number} of the study drew what this search does not draw") from None


def _trial(draws: Mapping[str, Any], distributions: Mapping[str, Any], value: float | None) -> optuna.trial.FrozenTrial:
    import optuna

    states = optuna.trial.TrialState
    return optuna.trial.create_trial(
        state=states.PRUNED if value is None else states.COMPLETE,
        value=value,
        params=dict(draws),
        distributions=dict(distributions),
    )


def _values(known: Sequence[Record], metric: Metric, rng: np.random.Generator) -> list[float | None]:
    """Return what each trial is worth along one line through the objectives; ``None`` for those without a score."""
    sign = 1.0 if metric.larger_is_better else -1.0
    prices = np.zeros(2) if rng.random() < SCORE_ONLY else rng.uniform(0.0, HIGHEST_PRICE, 2)
    finished = [record for record in known if record.state == FINISHED]
    if not finished:
        return [None] * len(known)
    scores = np.array([sign * float(record.score or 0.0) for record in finished])
    unit = float(scores.max() - np.median(scores)) or 1.0
    values = {}
    for record, score in zip(finished, scores, strict=True):
        octaves = math.log2(max(record.flash, 1)), math.log2(max(record.time, 1e-9))
        values[record.number] = float(score / unit - prices @ octaves)
    worst = min(values.values())
    for record in known:  # what was stopped early did worse than most
        if record.quick_score is not None:
            values.setdefault(record.number, worst)
    return [values.get(record.number) for record in known]
