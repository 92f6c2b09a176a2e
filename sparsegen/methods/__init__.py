"""Training methods, one paper's method per file; what several of them share is in ``shared``."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sparsegen.errors import OptionError, nearest
from sparsegen.model.task import CLASSIFICATION, TASKS
from sparsegen.registry import Registry

if TYPE_CHECKING:
    from sparsegen.methods.shared.estimator import SparseClassifier
    from sparsegen.methods.shared.sparse_estimator import SparseEstimator

METHODS: Registry[type[SparseEstimator]] = Registry("method", __name__)


def methods_for(task: str) -> dict[str, type[SparseEstimator]]:
    """Return the methods that train for a task: one of ``sparsegen.model.task.TASKS``."""
    return {name: method for name, method in METHODS.items() if method.task == task}


def method_for(name: str, task: str) -> type[SparseEstimator]:
    """Return a method by its name; raise an error where it trains for another task."""
    known = methods_for(task)
    if name in known:
        return known[name]
    if name not in METHODS:
        raise OptionError(f"there is no method {name!r}{nearest(name, known)}; choose one of: {', '.join(known)}")
    raise OptionError(
        f"method {name!r} is for {METHODS[name].task}, not for {task}; choose one of: {', '.join(known)}",
        change={"task": TASKS[METHODS[name].task].verb},
    )


def classifier(name: str) -> type[SparseClassifier]:
    """Return a method that trains classifiers, by its name."""
    return cast("type[SparseClassifier]", method_for(name, CLASSIFICATION))


def classifiers() -> dict[str, type[SparseClassifier]]:
    """Return the methods that train classifiers."""
    return cast("dict[str, type[SparseClassifier]]", methods_for(CLASSIFICATION))
