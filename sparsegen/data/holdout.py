"""Which rows are held out for the test: by chance, with the classes' shares kept, and whole groups only.

Normal rows and anomalies are no classes: every anomaly may be tested, for none is trained on.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sparsegen.data.checks import Labels
from sparsegen.data.groups import Codes, held_out_groups
from sparsegen.errors import DataError, OptionError

Places = NDArray[np.int64]
TellsNormal = Callable[[Labels], NDArray[np.bool_]]
"""Returns for every label whether it is that of normal rows."""


def split_rows(
    y: Labels, groups: Codes | None, test_size: float, seed: int, source: str
) -> tuple[Places, Places, tuple[str, ...]]:
    """Return the places of training and test rows, the same for the same seed, and sentences for the user."""
    if not 0 < test_size < 1:
        raise OptionError(f"the share of test rows must lie between 0 and 1, but it is {test_size}")
    if not 0 <= seed < 2**32:
        raise OptionError(f"the seed must lie between 0 and {2**32 - 1}, but it is {seed}")
    n = len(y)
    n_test = math.ceil(n * test_size)
    if n_test >= n:
        raise DataError(f"{source} has {n} row(s), too few to keep {test_size:g} of them for testing")
    if groups is None:
        return *_by_chance(y, n_test, seed), ()
    held_out, notes = held_out_groups(y, groups, test_size, seed, source)
    return np.flatnonzero(~held_out), np.flatnonzero(held_out), notes


def parted(
    y: Labels,
    groups: Codes | None,
    test_size: float,
    seed: int,
    source: str,
    *,
    has_classes: bool = True,
    is_normal: TellsNormal | None = None,
) -> tuple[Places, Places, tuple[str, ...]]:
    """Return what `split_rows` does for labels that are classes, values, or that of normal rows among others."""
    if is_normal is not None:
        return split_normal_rows(is_normal(y), groups, test_size, seed, source)
    return split_rows(y if has_classes else np.zeros(len(y), np.int64), groups, test_size, seed, source)


def split_normal_rows(
    is_normal: NDArray[np.bool_], groups: Codes | None, test_size: float, seed: int, source: str
) -> tuple[Places, Places, tuple[str, ...]]:
    """Return the same where only normal rows teach: the test has the share of them, and of the anomalies.

    Anomalies of a group that has normal rows are where these are. A single group of others is tested.
    """
    usual, others = np.flatnonzero(is_normal), np.flatnonzero(~is_normal)
    train, test, notes = split_rows(
        np.zeros(len(usual), np.int64), None if groups is None else groups[usual], test_size, seed, source
    )
    if groups is not None:
        beside_train, beside_test = (np.isin(groups[others], groups[usual[part]]) for part in (train, test))
        train, test = np.append(usual[train], others[beside_train]), np.append(usual[test], others[beside_test])
        others = others[~beside_train & ~beside_test]
    else:
        train, test = usual[train], usual[test]
    n_units = len(others) if groups is None else len(np.unique(groups[others]))
    if n_units < 2 or math.ceil(len(others) * test_size) == len(others):
        return np.sort(train), np.sort(np.append(test, others)), notes
    by = np.zeros(len(others), np.int64)
    # notes on how few groups there are concern how sure the figures are, and that their intervals tell
    kept, held_out, _ = split_rows(by, None if groups is None else groups[others], test_size, seed, source)
    return np.sort(np.append(train, others[kept])), np.sort(np.append(test, others[held_out])), notes


def _by_chance(y: Labels, n_test: int, seed: int) -> tuple[Places, Places]:
    from sklearn.model_selection import train_test_split

    n = len(y)
    _, counts = np.unique(y, return_counts=True)
    stratify = counts.min() >= 2 and len(counts) <= min(n_test, n - n_test)
    train, test = train_test_split(np.arange(n), test_size=n_test, random_state=seed, stratify=y if stratify else None)
    return train, test
