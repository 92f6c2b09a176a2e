"""Plan: what decides the cost of a prediction before anything is trained."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.kernels import BoundKernel
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.model import LARGEST, SparseModel


@dataclass(frozen=True)
class Plan:
    """A model that is not trained yet: its shape, its kernels, and the format of its export."""

    n_features: int
    """Features that it reads."""
    n_outputs: int
    """Scores: 1 for two classes, otherwise one per class, or per pair of classes that vote."""
    n_vectors: int
    kernels: tuple[BoundKernel, ...]
    n_projected: int | None = None
    """Values that a learnt projection makes of the features; ``None`` without one."""
    pool: str | None = None
    """The blocks of features that a projection weighs alike, as ``SLMC`` takes them: ``28x28/2x2``."""
    scale: str = "standard"
    """How rows are scaled in front of it, as ``train`` takes it."""
    feature_scales: bool = False
    """Whether each feature gets a factor of its own in training."""
    dtype: str = FLOAT32.dtype
    reads: str = FLOAT32.input
    """Name of an input kind."""
    early_exit: bool = False
    probability: bool = False
    reject: float | None = None
    decision: str = LARGEST
    features: tuple[int, ...] | None = None
    """Which columns of the rows it reads; ``None`` for all."""

    @classmethod
    def of(cls, model: SparseModel, format: Format = FLOAT32) -> Plan:
        """Return the plan that a model follows, so that its prediction can be compared with a measurement."""
        raise NotImplementedError
