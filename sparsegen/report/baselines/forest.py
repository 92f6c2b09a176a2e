"""A random forest through emlearn: the most accurate, by cross-validation, of those that fit the flash.

emlearn's trees compare integers of 16 bits. Features are spread over that range, which its user must do before the call
and which is not counted here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.errors import SparsegenError
from sparsegen.report.baselines.contest import Baseline, Contest, failed
from sparsegen.report.baselines.emlearn_code import PREFIX, emlearn_export, load_emlearn
from sparsegen.report.figures import plural
from sparsegen.targets import Export

TREES = (3, 6, 12, 24)
MOST_LEAVES = 512
LARGEST = 30_000
INT16 = np.dtype(np.int16)
TABLE_FEATURES = 127
"""Features up to which emlearn prints a forest as a table, which is smaller than code."""
TRIES = 5
SHRINK = 0.97
FOLDS = 3


def forest(contest: Contest) -> Baseline:
    """Return the forest."""
    baseline = Baseline("random forest, emlearn", "")
    low, high = contest.X.min(axis=0), contest.X.max(axis=0)
    train, test = (spread(X, low, high) for X in (contest.X, contest.tests))
    try:
        bytes_per_node, code = _size_of_nodes(contest, train)
        leaves = {trees: _leaves(contest, trees, bytes_per_node, code) for trees in TREES}
        able = {trees: most for trees, most in leaves.items() if most >= 2}
        if not able:
            return replace(baseline, remark="no forest of this kind fits the flash")
        trees = max(able, key=lambda n: (_held_out(train, contest.y, n, able[n]), -n))
        return _fitting(contest, baseline, train, test, trees, able[trees])
    except SparsegenError as error:
        return failed(baseline, error)


def spread(X: Array, low: Array, high: Array) -> NDArray[np.int16]:
    """Return rows as integers from 0 to 30,000: emlearn rounds thresholds, which ruins them on small whole numbers."""
    step = np.where(high > low, high - low, 1.0) / LARGEST
    limits = np.iinfo(INT16)
    return np.clip(np.rint((X - low) / step), limits.min, limits.max).astype(INT16)


def _made(X: NDArray[np.int16], y: NDArray[np.int64], trees: int, leaves: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(trees, max_leaf_nodes=leaves, random_state=0).fit(X, y)


def _nodes(made: Any) -> int:
    return sum(tree.tree_.node_count for tree in made.estimators_)


def _export(contest: Contest, made: Any) -> Export:
    method = "loadable" if contest.X.shape[1] <= TABLE_FEATURES else "inline"
    converted = load_emlearn().convert(made, method=method, dtype="int16_t")
    return emlearn_export((contest.X.shape[1], contest.n_classes), converted.save(name=PREFIX), INT16)


def _size_of_nodes(contest: Contest, train: NDArray[np.int16]) -> tuple[float, float]:
    """Return the bytes that a node takes, and those of the code, from two small forests that are built."""
    sizes = []
    for leaves in (4, 16):
        made = _made(train, contest.y, TREES[0], leaves)
        cost = contest.cost(_export(contest, made), train[:2])
        sizes.append((_nodes(made), float(cost.measurement.flash or 0)))
    (few, small), (many, large) = sizes
    each = (large - small) / max(1, many - few)
    return max(each, 1.0), small - each * few


def _leaves(contest: Contest, trees: int, bytes_per_node: float, code: float) -> int:
    """Return how many leaves each of so many trees may have; a tree has one node less than twice as many."""
    nodes = (contest.flash - code) / bytes_per_node
    return int(min(MOST_LEAVES, (nodes / trees + 1) // 2))


def _held_out(train: NDArray[np.int16], y: NDArray[np.int64], trees: int, leaves: int) -> float:
    """Return the cross-validated accuracy, or 0 where a class has too few rows for that."""
    from sklearn.model_selection import StratifiedKFold

    if np.bincount(y)[np.unique(y)].min() < FOLDS:
        return 0.0
    right = 0
    for fit, held in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(train, y):
        right += int(np.count_nonzero(_made(train[fit], y[fit], trees, leaves).predict(train[held]) == y[held]))
    return right / len(y)


def _fitting(
    contest: Contest, baseline: Baseline, train: NDArray[np.int16], test: NDArray[np.int16], trees: int, leaves: int
) -> Baseline:
    """Return the forest, with fewer leaves until it fits as measured."""
    for _ in range(TRIES):
        made = _made(train, contest.y, trees, leaves)
        export = _export(contest, made)
        cost = contest.cost(export, test)
        flash = cost.measurement.flash
        if flash is None or flash <= contest.flash or leaves <= 2:
            break
        leaves = max(2, int(leaves * SHRINK * contest.flash / flash))
    accuracy, remark = contest.judge(export, test, made.predict(test))
    setting = f"{plural(trees, 'tree')}, {_nodes(made):,} nodes, 16-bit integers"
    return replace(baseline, setting=setting, accuracy=accuracy, cost=cost, remark=remark)
