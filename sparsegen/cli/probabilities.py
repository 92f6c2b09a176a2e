"""How good a model's probabilities are, as ``train`` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparsegen.model import SparseModel


def probability_facts(model: SparseModel) -> list[tuple[str, object]]:
    """Return the line of a table for a model that has probabilities."""
    from sparsegen.model.probability_quality import ProbabilityQuality

    known = model.card.get("probabilities")
    return [] if known is None else [("probabilities", ProbabilityQuality(**known))]
