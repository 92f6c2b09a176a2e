"""What emlearn's forests and networks share."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers._problem import Problem
from sparsegen.report.baselines import emlearn_code
from sparsegen.report.baselines.emlearn_code import PREFIX, load_emlearn
from sparsegen.targets import Export

__all__ = ["emlearn_export", "load_emlearn"]


def emlearn_export(problem: Problem, converted: Any, input_dtype: np.dtype[Any]) -> Export:
    """Return what emlearn generates, with the headers that it includes."""
    code = converted.save(name=PREFIX)
    return emlearn_code.emlearn_export((problem.n_features, problem.n_classes), code, input_dtype)
