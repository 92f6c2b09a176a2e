"""Selectors of features: the kernels see what was selected, and the rest makes no difference at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin

from sparsegen.errors import OptionError
from sparsegen.model import Transform
from sparsegen.training.fitted import name_of
from sparsegen.training.folds import FOLDS, Affine


def _selection(selector: Any) -> Transform | None:
    kept = np.asarray(selector.get_support())
    if not kept.any():
        raise OptionError(f"{name_of(selector)} selected no feature at all; let it select some")
    d = len(kept)
    return None if kept.all() else Transform(np.zeros(d), np.ones(d), np.eye(d)[kept])


FOLDS.register("selectors")(Affine((SelectorMixin,), _selection))
