"""Subject: the model that a page is about, the rows it is tested on, and what is computed of them once for all sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparsegen.data import Dataset
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import SparseModel

if TYPE_CHECKING:
    from sparsegen.search.front import Front  # type: ignore[import-not-found, unused-ignore]


@dataclass(frozen=True)
class Subject:
    """What the page tells of. Sections read it and never write."""

    model: SparseModel
    rows: Dataset
    """Labelled rows in the order of the model's features; some or all of them may be training rows."""
    train: Dataset | None = None
    """Rows that baselines are trained on; ``None`` takes those of ``rows`` that the model was not tested on."""
    front: Front | None = None
    """What a search found."""
    devices: tuple[str, ...] | None = None
    """Names of devices; ``None``: all that can run here."""
    numbers: Format = FLOAT32
    image: tuple[int, int] | None = None
    """Height and width where the features are pixels."""
    name: str = "model"
    """Prefix of the symbols in the generated C."""
