"""Training methods, one paper's method per file; what several of them share is in ``shared``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsegen.registry import Registry

if TYPE_CHECKING:
    from sparsegen.methods.shared.estimator import SparseClassifier

METHODS: Registry[type[SparseClassifier]] = Registry("method", __name__)
