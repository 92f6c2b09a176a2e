"""What every worker of a search gets once: the rows to search on, how they are folded, and what is to be good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows that a search may see, never those of the final test; plain data, so that it travels to any worker."""

    X: Array
    y: NDArray[Any]
    groups: NDArray[np.int64] | None
    feature_names: tuple[str, ...]
    folds: tuple[tuple[Places, Places], ...]
    """The places of training and of held-out rows; one fold is a hold-out."""
    metric: str
    seed: int
