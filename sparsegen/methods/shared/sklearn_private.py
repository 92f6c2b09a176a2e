"""Every private name of scikit-learn that sparsegen uses: if a release moves one, this file is the one to mend."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

__all__ = ["Interval", "InvalidParameterError", "StrOptions", "fit_context", "fitted_gamma"]


def fitted_gamma(machine: Any) -> float | None:
    """Return the gamma that a fitted SVC or NuSVC uses; ``None`` where it does not tell."""
    gamma = getattr(machine, "_gamma", None)
    return None if gamma is None else float(gamma)
