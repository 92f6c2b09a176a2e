"""sparsegen: the smallest accurate kernel classifier that fits your microcontroller, as verified C99 and ONNX.

Names are resolved on first use, so that importing the package (and ``sparsegen --help``) stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sparsegen.version import __version__

if TYPE_CHECKING:
    from sparsegen.convert import from_sklearn as from_sklearn
    from sparsegen.methods.slmc import SLMC as SLMC
    from sparsegen.methods.svm import SVM as SVM
    from sparsegen.model import SparseModel as SparseModel

_HOMES = {
    "SLMC": "sparsegen.methods.slmc",
    "SVM": "sparsegen.methods.svm",
    "SparseModel": "sparsegen.model",
    "from_sklearn": "sparsegen.convert",
}

__all__ = ["SLMC", "SVM", "SparseModel", "__version__", "from_sklearn"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sparsegen' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
