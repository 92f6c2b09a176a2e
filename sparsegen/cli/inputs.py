"""The files that commands read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsegen.arrays import Array
    from sparsegen.data.checks import Labels
    from sparsegen.model import SparseModel


def rows_for(model: SparseModel, data_file: Path, label: str | None) -> tuple[Array, Labels | None]:
    """Return the rows of a file as the model takes them, and their labels where the file has any."""
    from sparsegen import data

    return data.read_features(data_file, model.card.get("feature_names"), label, n_features=model.n_features)
