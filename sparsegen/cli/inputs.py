"""The files that commands read."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from sparsegen.cli.console import print_warnings
from sparsegen.errors import GapWarning

if TYPE_CHECKING:
    from sparsegen.arrays import Array
    from sparsegen.data.checks import Labels
    from sparsegen.model import SparseModel


def rows_for(model: SparseModel, data_file: Path, label: str | None) -> tuple[Array, Labels | None]:
    """Return the rows of a file as the model takes them, and their labels where the file has any."""
    from sparsegen import data
    from sparsegen.data.normal import labels_of_detector
    from sparsegen.model.task import ANOMALY

    names, fill = model.card.get("feature_names"), model.card.get("fill")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GapWarning)
        rows = data.read_features(
            data_file,
            names,
            label,
            n_features=model.n_features,
            fill=fill,
            keeps_gaps=model.transform.fill is not None,
        )
    print_warnings([str(warning.message) for warning in caught if issubclass(warning.category, GapWarning)])
    X, y = rows
    if y is None or model.task != ANOMALY:
        return X, y
    return X, labels_of_detector(y, data_file.name, (model.card.get("anomalies") or {}).get("normal"))
