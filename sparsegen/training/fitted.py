"""What every converter asks of a scikit-learn estimator: its name, whether it was fitted, who knows its class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sparsegen.arrays import Array
from sparsegen.errors import OptionError


class ForKinds(Protocol):
    """An entry of a registry that is found by the class of an estimator."""

    @property
    def kinds(self) -> tuple[type, ...]:
        """The classes it is for, subclasses included."""


Entry = TypeVar("Entry", bound=ForKinds)


def entry_for(estimator: Any, entries: Iterable[Entry]) -> Entry | None:
    """Return the entry for an estimator's class or the nearest class it inherits from."""
    table = {kind: entry for entry in entries for kind in entry.kinds}
    kind = estimator if isinstance(estimator, type) else type(estimator)
    return next((table[base] for base in kind.__mro__ if base in table), None)


def names_of(entries: Iterable[Entry]) -> str:
    """Return the names of all classes that entries are for, as a list to choose from."""
    return ", ".join(sorted(kind.__name__ for entry in entries for kind in entry.kinds))


def require_fitted(estimator: Any) -> None:
    """Raise an error where an estimator was not fitted, or is a class."""
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        raise OptionError(f"{name_of(estimator)} is not fitted; call fit before converting it") from None


def name_of(estimator: Any) -> str:
    """Return the name of an estimator's class."""
    return str(estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__)


def is_passthrough(step: Any) -> bool:
    """Say whether a step of a pipeline does nothing."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def dense(array: Any) -> Array:
    """Return a fitted array, which may be sparse, as a float64 matrix."""
    values = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
    return np.atleast_2d(np.asarray(values, dtype=np.float64))


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return an estimator's parameters as plain JSON."""
    return {name: _plain(value) for name, value in sorted(estimator.get_params(deep=False).items())}


def _plain(value: Any) -> Any:
    """Return a parameter as plain JSON: what is no number, text, list or mapping becomes its type's name."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | None) else type(value).__name__
