"""A greedy machine while it grows: one fit gives the machines of every size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sparsegen.arrays import Array
from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import MAX_REJECTIONS, GreedyClassifier
from sparsegen.methods.shared.growth import DistinctRows, Growth


@dataclass(frozen=True)
class Stage:
    """A machine on its way: what it is with so many basis functions."""

    size: int
    scores: Array
    """Of the new rows."""
    objective: float
    """[K06, eq. 4], divided by lam."""
    newton_steps: int
    """That this size took, from the machine before it."""
    seconds: float
    """Of the processor, spent on training so far."""


def greedy_method(name: str) -> type[GreedyClassifier]:
    """Return the class of a greedy method."""
    family = METHODS[name]
    if not issubclass(family, GreedyClassifier):
        raise TypeError(f"{name} is no greedy method")
    return family


def grow(machine: GreedyClassifier, X: Array, y: NDArray[np.float64], X_new: Array) -> Iterator[Stage]:
    """Yield the machines with 1, 2, ... up to ``machine.n_vectors`` basis functions, and their scores of ``X_new``.

    They are what ``fit`` with that many vectors gives for signs ``y`` and the same ``random_state``: a larger machine
    starts as the smaller one. It ends early when no row is left that the chosen ones do not span.
    """
    started = time.process_time()
    kernel, rng = machine._bind_kernel(X), check_random_state(machine.random_state)
    cache_bytes = int(getattr(machine, "cache_bytes", 0))
    growth = Growth(DistinctRows(X), kernel, machine._machine(y), cache_bytes, machine._follows_distances)
    solver = growth.machine
    if solver.d:
        solver.solve(machine.max_iter)
    values = np.empty((len(X_new), machine.n_vectors or 0), order="F")
    rejected = 0
    while len(growth.chosen) < values.shape[1] and rejected < MAX_REJECTIONS:
        choice = machine._choose(growth, rng)
        if choice is None:
            return
        if not growth.add(*choice):
            rejected += 1
            continue
        rejected = 0
        steps, size = solver.solve(machine.max_iter), len(growth.chosen)
        trained = time.process_time()
        values[:, size - 1] = kernel.gram(X_new, X[growth.chosen[-1:]])[:, 0]
        scores = values[:, :size] @ solver.beta[solver.first :] + solver.intercept
        yield Stage(size, scores, solver.objective() / solver.lam, steps, trained - started)
        started += time.process_time() - trained
