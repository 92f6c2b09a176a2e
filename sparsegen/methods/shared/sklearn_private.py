"""Every private name of scikit-learn that sparsegen uses: if a release moves one, this file is the one to mend."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

__all__ = [
    "BaseSearchCV",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "fit_context",
    "fitted_gamma",
    "fitted_platt",
]


def fitted_gamma(machine: Any) -> float | None:
    """Return the gamma that a fitted SVC or NuSVC uses; ``None`` where it does not tell."""
    gamma = getattr(machine, "_gamma", None)
    return None if gamma is None else float(gamma)


def fitted_platt(machine: Any) -> tuple[float, float] | None:
    """Return A and B of a two-class SVC or NuSVC fitted with probabilities; ``None`` without them."""
    A, B = getattr(machine, "_probA", None), getattr(machine, "_probB", None)
    return None if A is None or B is None or len(A) != 1 or len(B) != 1 else (float(A[0]), float(B[0]))
