"""A search that is over in a second: made-up costs, few rows, few trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from made_up_costs import MadeUpCosts

from sparsegen import data
from sparsegen.budget.budget import Budget
from sparsegen.data import Dataset
from sparsegen.search.find import Found, find_best

BUDGET = Budget(flash=1200, ram=256, milliseconds=1.0)


def sets(n: int = 160, groups: bool = False) -> tuple[Dataset, Dataset]:
    """Return training and test rows of two classes that a ring tells apart, in five whole-numbered features."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 5))
    y = np.where(np.hypot(X[:, 0], X[:, 1]) > 1.1, "out", "in")
    whole = np.round(20 * X)
    made = data.from_arrays(whole, y, ["a", "b", "c", "d", "e"], groups=np.arange(n) // 4 if groups else None)
    return data.split(made, 0.25, 0)


def found(study: Path | str | None = None, trials: int = 6, **options: Any) -> Found:
    """Return what a short search on these rows finds."""
    train_set, test_set = options.pop("sets", None) or sets()
    given = {"device": "cortex-m0plus", "budget": BUDGET, "methods": ["slmc"], "kernels": ["rbf"], "dtypes": ["q7"]}
    return find_best(train_set, test_set, study=study, trials=trials, **{**given, "cost_model": MadeUpCosts, **options})
