"""Which rows are held out for the test: by chance, with the classes' shares kept, and whole groups only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparsegen.data.checks import Labels
from sparsegen.data.groups import Codes, held_out_groups
from sparsegen.errors import DataError, OptionError

Places = NDArray[np.int64]


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


def _by_chance(y: Labels, n_test: int, seed: int) -> tuple[Places, Places]:
    from sklearn.model_selection import train_test_split

    n = len(y)
    _, counts = np.unique(y, return_counts=True)
    stratify = counts.min() >= 2 and len(counts) <= min(n_test, n - n_test)
    train, test = train_test_split(np.arange(n), test_size=n_test, random_state=seed, stratify=y if stratify else None)
    return train, test
