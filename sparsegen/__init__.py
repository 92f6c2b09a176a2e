"""sparsegen: the smallest accurate kernel classifier that fits your microcontroller, as verified C99 and ONNX.

Names are resolved on first use, so that importing the package, and starting the command, stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sparsegen.later import VERBS
from sparsegen.version import __version__

if TYPE_CHECKING:
    from sparsegen.budget.budget import Budget as Budget
    from sparsegen.methods.slmc import SLMC as SLMC
    from sparsegen.methods.svm import SVM as SVM
    from sparsegen.model import SparseModel as SparseModel
    from sparsegen.training.from_sklearn import from_sklearn as from_sklearn

_HOMES = {
    "Budget": "sparsegen.budget.budget",
    "SLMC": "sparsegen.methods.slmc",
    "SVM": "sparsegen.methods.svm",
    "SparseModel": "sparsegen.model",
    "from_sklearn": "sparsegen.training.from_sklearn",
}
"""Where the public names are; any other estimator is found by loading all methods."""

VERBS.update(dict.fromkeys(("export", "verify", "bench"), "sparsegen.verbs"))

__all__ = ["SLMC", "SVM", "Budget", "SparseModel", "__version__", "from_sklearn"]


def __getattr__(name: str) -> Any:
    """Return a public name, or the estimator of a method by its class name."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name[:1].isupper():  # a class; `from sparsegen import cli` asks here for "cli" and must not load everything
        from sparsegen.methods import METHODS

        for estimator in METHODS.values():
            if estimator.__name__ == name:
                return estimator
    raise AttributeError(f"module 'sparsegen' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names and the estimator of every method, which loads them all."""
    from sparsegen.methods import METHODS

    return sorted({*__all__, *(estimator.__name__ for estimator in METHODS.values())})
