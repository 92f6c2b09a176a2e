"""The best model within a budget: its shape, then its parameters, chosen on held-out training rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.frontier._problems import Problem
from sparsegen import SLMC
from sparsegen.methods.shared.estimator import scale_gamma
from sparsegen.methods.slmc import default_penalty

HELD_OUT = 0.2
SHAPE_ROWS, SHAPE_STEPS = 12_000, 1500  # of trials that compare shapes
FINE_ROWS, FINE_STEPS = 60_000, 4000  # of trials that compare parameters, whose best values change with the rows
MAX_VECTORS = 700
FINAL_STEPS = 15_000
FINAL_WORK = 2_250_000  # minibatches times vectors, which keeps letter's training within ten seconds
SHIFTS = "1x1"  # of an image, rows and columns
CODE_BYTES = 750  # and the table of the exponential, on Cortex-M0+, about
NORM_BYTES = 6  # of a vector, and what aligns its row
PROJECTIONS = (None, 3, 4, 6, 8, 12, 16, 24)
GAMMAS, COSTS, PENALTIES = (0.5, 1.0, 2.0, 4.0, 8.0), (3.0, 10.0, 30.0, 100.0), (0.25, 1.0, 4.0)


@dataclass(frozen=True)
class Shape:
    """What decides the bytes of a model in q7."""

    vectors: int
    projection: int | None
    block: int
    """Side of the blocks of pixels that are added up."""
    coef_bytes: int
    """Of one coefficient."""
    vector_bytes: int
    """Of one vector and its coefficients."""

    def filled(self, n_bytes: float, n_rows: int) -> Shape:
        """Return the shape with as many vectors more, or fewer, as so many bytes hold."""
        return replace(self, vectors=min(self.vectors + int(n_bytes // self.vector_bytes), MAX_VECTORS, n_rows // 4))


@dataclass(frozen=True)
class Setting:
    """A shape and the parameters to train it with, relative to the defaults."""

    shape: Shape
    gamma: float = 2.0
    C: float = 10.0
    penalty: float = 1.0
    shifts: bool = False
    """Whether images are shifted while training."""

    def estimator(self, problem: Problem, trial_steps: int | None = None) -> SLMC:
        """Return the machine to train on the rows of a problem; a short one for trials."""
        shape, side = self.shape, problem.side
        # Rows that are never the same twice are worth the whole descent.
        final_steps = FINAL_STEPS if self.shifts else min(FINAL_STEPS, FINAL_WORK // shape.vectors)
        pool = f"{side}x{side}/{shape.block}x{shape.block}" if shape.block > 1 else None
        return SLMC(
            shape.vectors,
            gamma=self.gamma * scale_gamma(problem.X),
            C=self.C,
            projection=shape.projection,
            projection_penalty=self.penalty * default_penalty(len(problem.X), shifted=self.shifts),
            pool=pool,
            shifts=f"{side}x{side}/{SHIFTS}" if self.shifts else None,
            steps=final_steps if trial_steps is None else trial_steps,
            max_iter=100 if trial_steps is None else 30,
            random_state=0,
        )


@dataclass(frozen=True)
class Found:
    """The setting chosen, its accuracy on the held-out rows, and what the choice took."""

    setting: Setting
    held_out: float
    seconds: float


def choose(problem: Problem, n_bytes: float) -> Found:
    """Return the best setting of at most so many bytes."""
    began = time.process_time()
    trials = _Trials(problem, SHAPE_ROWS, SHAPE_STEPS)
    shifts = (False,) if problem.side is None else (False, True)  # which small models cannot afford
    candidates = (Setting(shape, shifts=shifted) for shape in _shapes(problem, n_bytes) for shifted in shifts)
    best = max(candidates, key=trials.accuracy)
    fine = _Trials(problem, FINE_ROWS, FINE_STEPS)
    for shifted in shifts:  # a longer descent gains more by them
        best = max(best, replace(best, shifts=shifted), key=fine.accuracy)
    for C in COSTS:
        best = max(best, replace(best, C=C), key=fine.accuracy)
    for gamma in GAMMAS:
        best = max(best, replace(best, gamma=gamma), key=fine.accuracy)
    if best.shape.projection is not None:
        for penalty in PENALTIES:
            best = max(best, replace(best, penalty=penalty), key=fine.accuracy)
    return Found(best, fine.accuracy(best), time.process_time() - began)


class _Trials:
    """Short fits on most of the training rows, tested on the rest; the same setting is tried once."""

    def __init__(self, problem: Problem, n_rows: int, steps: int) -> None:
        rows = np.arange(len(problem.X))
        y = problem.y
        if len(rows) > n_rows:
            rows, _ = train_test_split(rows, train_size=n_rows, random_state=0, stratify=y)
        fit, test = train_test_split(rows, test_size=HELD_OUT, random_state=0, stratify=y[rows])
        self._problem = replace(problem, X=problem.X[fit], y=y[fit], X_test=problem.X[test], y_test=y[test])
        self._steps = steps
        self._known: dict[Setting, float] = {}

    def accuracy(self, setting: Setting) -> float:
        """Return the share of held-out rows with the right label."""
        if setting not in self._known:
            rows = self._problem
            machine = setting.estimator(rows, self._steps).fit(rows.X, rows.y)
            self._known[setting] = share_right(machine.predict(rows.X_test), rows.y_test)
        return self._known[setting]


def share_right(labels: NDArray[Any], truth: NDArray[Any]) -> float:
    """Return the share of right labels."""
    return float(np.mean(labels == truth))


def _shapes(problem: Problem, n_bytes: float) -> Iterator[Shape]:
    """Yield the shapes that fill a budget: as many vectors as fit beside each projection."""
    d, n_classes = problem.X.shape[1], len(np.unique(problem.y))
    outputs = 1 if n_classes == 2 else n_classes
    blocks = (1,) if problem.side is None else (1, 2)
    for block in blocks:
        inputs = d if problem.side is None else (-(-problem.side // block)) ** 2
        for p in PROJECTIONS:
            if (p is None and block > 1) or (p is not None and p > inputs):
                continue
            seen = d if p is None else p
            fixed = CODE_BYTES + 4 * outputs + (0 if p is None else p * (inputs + 4))
            coef_bytes = 1 if outputs > 1 else 2
            shape = Shape(0, p, block, coef_bytes, seen + NORM_BYTES + coef_bytes * outputs)
            shape = shape.filled(n_bytes - fixed, len(problem.X))
            if shape.vectors >= max(3, n_classes):
                yield shape
