"""One fold of one candidate: train on some rows, lower to the candidate's number format, judge on the others."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from sparsegen import data, progress
from sparsegen.arrays import Array
from sparsegen.data import Dataset
from sparsegen.errors import SparsegenError
from sparsegen.lowering import integer_road, lower
from sparsegen.lowering.calibrate import calibrate
from sparsegen.lowering.formats import IntegerFormat
from sparsegen.methods.slmc import SLMC
from sparsegen.model import SparseModel, class_indices
from sparsegen.search.candidate import QUICK, SEARCH, Candidate, Effort
from sparsegen.search.metrics import Answers
from sparsegen.search.problem import Places, Problem
from sparsegen.threads import one_thread
from sparsegen.training.choose import sample
from sparsegen.training.from_sklearn import from_sklearn
from sparsegen.training.train import data_card, make_scaler

RANKING_ROWS = 1000
RANKING_ITERATIONS = 25
RANKING_VECTORS_PER_CLASS = 3


@dataclass(frozen=True)
class Task:
    """One fold of one candidate."""

    candidate: Candidate
    fold: int
    is_quick: bool
    """Whether few rows and a short descent are enough, to see whether the candidate is worth more."""


@dataclass(frozen=True)
class Outcome:
    """How a candidate did on one fold."""

    tally: Array | None
    """Counts that add up over folds, and of which the metric makes a score."""
    seconds: float
    """What it took on the worker."""
    failure: str | None = None
    """Why there is no tally, in a sentence, where training or lowering broke down."""


def evaluate(problem: Problem, task: Task) -> Outcome:
    """Return how a candidate does on one fold: a pure function, so that any worker may run it, or run it again."""
    started = time.perf_counter()
    tally, failure = None, None
    try:
        with progress.silence(), one_thread(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # about candidates, most of which nobody will ever see
            tally = _tally(problem, task)
    except SparsegenError as error:
        failure = str(error)
    except (ArithmeticError, ValueError) as error:  # NumPy's and SciPy's words for numbers that grew out of range
        failure = f"training broke down ({str(error).rstrip('.')[:80]})"
    except MemoryError:
        failure = "there was not enough memory to train it"
    return Outcome(tally, time.perf_counter() - started, failure)


def _tally(problem: Problem, task: Task) -> Array:
    candidate, effort = task.candidate, QUICK if task.is_quick else SEARCH
    train, test = problem.folds[task.fold]
    columns = columns_of(problem, candidate, task.fold)
    most = len(train) if effort.rows is None else max(effort.rows, candidate.n_vectors)
    kept = train[sample(problem.y[train], most, problem.seed)]
    names = tuple(problem.feature_names[column] for column in columns)
    rows = data.from_arrays(problem.X[np.ix_(kept, columns)], problem.y[kept], names)
    model = fit(candidate, rows, effort, problem.seed)
    held_out = problem.X[np.ix_(test, columns)]
    return problem.metric.tally(judged_rows(model, candidate, held_out, problem.y[test], problem.classes))


def judged_rows(model: SparseModel, candidate: Candidate, X: Array, y: NDArray[Any], classes: NDArray[Any]) -> Answers:
    """Return what a model answers for labelled rows in the candidate's number format; it may lack some classes."""
    given, probabilities = answers(model, candidate, X)
    place = np.searchsorted(classes, np.array(model.classes))
    if probabilities is not None:
        spread = np.zeros((len(X), len(classes)))
        spread[:, place] = probabilities
        probabilities = spread
    return Answers(np.searchsorted(classes, y), place[given], probabilities, len(classes))


def fit(candidate: Candidate, rows: Dataset, effort: Effort, seed: int) -> SparseModel:
    """Return the model of a candidate, with what a number format must know of the rows in its card."""
    scaler = make_scaler(candidate.scale)
    scaled = rows.X if scaler is None else scaler.fit_transform(rows.X)
    estimator = candidate.estimator(scaled, effort, seed).fit(scaled, rows.y)
    model = from_sklearn(estimator if scaler is None else make_pipeline(scaler, estimator))
    return replace(model, card={**model.card, **data_card(model, rows, candidate.scale)})


def answers(model: SparseModel, candidate: Candidate, X: Array) -> tuple[NDArray[np.int64], Array | None]:
    """Return class indices and probabilities of raw rows in the candidate's number format: what a device would say.

    Scales come from the model's card, as they do in an export without rows to calibrate on.
    """
    numbers = candidate.format
    if candidate.probability:
        lowered = lower(model, numbers)
        scores = lowered.reference(X).scores
        found = lowered.probabilities
        if found is None:
            raise AssertionError("a model that was trained with probabilities has none")
        return class_indices(scores, model.decision), found.of(scores) / found.one
    if not isinstance(numbers.numbers, IntegerFormat):
        return model.predict_index(X), None  # float32 gives the same labels but for ties
    program = integer_road(model, numbers, calibrate(model, None))  # without the proofs, which take longer
    return program.predict_index(program.inputs(X)), None


def columns_of(problem: Problem, candidate: Candidate, fold: int | None) -> Places:
    """Return the features that a candidate uses, in order, ranked on what one fold trains on, or on all rows."""
    every = np.arange(problem.X.shape[1])
    if candidate.n_features is None:
        return every
    return np.sort(ranking(problem, fold)[: candidate.n_features])


@lru_cache(maxsize=16)
def ranking(problem: Problem, fold: int | None) -> Places:
    """Return the features, those that tell most first: by the factors that SLMC learns for them on scaled rows.

    Only rows that the fold trains on are looked at, so that the held-out rows stay unseen.
    """
    rows = np.arange(len(problem.y)) if fold is None else problem.folds[fold][0]
    few = rows[sample(problem.y[rows], RANKING_ROWS, problem.seed)]
    X = make_scaler("standard").fit_transform(problem.X[few])
    n_vectors = min(len(few), RANKING_VECTORS_PER_CLASS * len(np.unique(problem.y[few])))
    machine = SLMC(
        n_vectors, feature_scales=True, C=10.0, solver="exact", max_iter=RANKING_ITERATIONS, random_state=problem.seed
    )
    factors: Any = np.abs(machine.fit(X, problem.y[few]).model_.transform.scale)
    varies = X.std(axis=0) > 0.0
    return np.argsort(-factors * varies, kind="stable")
