"""Searches for parameters: the estimator that was refitted with the best of them."""

from __future__ import annotations

from typing import Any

from sparsegen.errors import OptionError
from sparsegen.methods.shared.sklearn_private import BaseSearchCV
from sparsegen.model import SparseModel
from sparsegen.training.converters import CONVERTERS, Converter, convert
from sparsegen.training.fitted import name_of


def _search(search: Any) -> SparseModel:
    if not hasattr(search, "best_estimator_"):
        raise OptionError(f"{name_of(search)} kept no fitted estimator; search with refit=True")
    return convert(search.best_estimator_)


CONVERTERS.register("searches")(Converter((BaseSearchCV,), _search))
