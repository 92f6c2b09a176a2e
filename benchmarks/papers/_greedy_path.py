"""A greedy machine while it grows: one fit gives the machines of every size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sparsegen.arrays import Array
from sparsegen.methods import METHODS
from sparsegen.methods.shared.greedy import MAX_REJECTIONS, GreedyClassifier
from sparsegen.methods.shared.growth import DistinctRows, Growth


def greedy_method(name: str) -> type[GreedyClassifier]:
    """Return the class of a greedy method."""
    family = METHODS[name]
    if not issubclass(family, GreedyClassifier):
        raise TypeError(f"{name} is no greedy method")
    return family


def grow(machine: GreedyClassifier, X: Array, y: NDArray[np.float64], X_new: Array) -> Iterator[tuple[int, Array]]:
    """Yield 1, 2, ... up to ``machine.n_vectors``, each with the scores of ``X_new`` by a machine of that size.

    They are what ``fit`` with that many vectors gives for signs ``y`` and the same ``random_state``: a larger machine
    starts as the smaller one. It ends early when no row is left that the chosen ones do not span.
    """
    kernel, rng = machine._bind_kernel(X), check_random_state(machine.random_state)
    growth = Growth(DistinctRows(X), kernel, machine._machine(y), int(getattr(machine, "cache_bytes", 0)))
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
        size = len(growth.chosen)
        values[:, size - 1] = kernel.gram(X_new, X[growth.chosen[-1:]])[:, 0]
        solver.solve(machine.max_iter)
        yield size, values[:, :size] @ solver.beta[solver.first :] + solver.intercept
