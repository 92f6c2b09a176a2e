"""Plan: what decides the cost of a prediction before anything is trained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sparsegen.errors import OptionError
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.prune import prune
from sparsegen.methods.shared.pooling import Pooling
from sparsegen.model import LARGEST, SparseModel
from sparsegen.training.train import SCALERS


@dataclass(frozen=True)
class Plan:
    """A model that is not trained yet: its shape, its kernels, and the format of its export."""

    n_features: int
    """Features that it reads: so many of the first columns of the cost model's rows."""
    n_outputs: int
    """Scores: 1 for two classes, otherwise one per class, or per pair of classes that vote."""
    n_vectors: int
    kernels: tuple[BoundKernel, ...]
    gamma: float | None = None
    """The kernels' scale relative to what ``gamma="scale"`` stands for on the scaled rows (of several kernels, the
    first one's, and the others keep their ratios to it); ``None`` leaves the kernels as they are."""
    C: float = 1.0
    """How much training minds errors: large coefficients may need more careful float code."""
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
    """Whether it gives probabilities, too; they are a function of their own, so a prediction costs the same."""
    decision: str = LARGEST
    """How scores decide for a class."""

    def __post_init__(self) -> None:
        counts = {"features": self.n_features, "scores": self.n_outputs, "vectors": self.n_vectors}
        if self.n_projected is not None:
            counts["projected values"] = self.n_projected
        for what, count in counts.items():
            if count < 1:
                raise OptionError(f"a plan needs at least one of its {what}, but has {count}")
        if not self.kernels:
            raise OptionError("a plan needs at least one kernel")
        if self.scale not in SCALERS:
            raise OptionError(f"a plan cannot scale rows by {self.scale!r}; choose one of: {', '.join(SCALERS)}")
        for name, value in (("gamma", self.gamma), ("C", self.C)):
            if value is not None and not 0.0 < value < math.inf:
                raise OptionError(f"the {name} of a plan must be positive and finite, but it is {value}")

    @classmethod
    def of(cls, model: SparseModel, format: Format = FLOAT32) -> Plan:
        """Return the plan that a model follows, so that its prediction can be compared with a measurement.

        What the arrays do not tell, such as the scaler, comes from the model's card; where that says nothing, it is
        what ``train`` does by itself.
        """
        T, card = model.transform, model.card
        given = card.get("parameters")
        trained: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        n_projected = None if T.projection is None else len(T.projection)
        scale, C = card.get("scale"), trained.get("C")
        return cls(
            n_features=model.n_features,
            n_outputs=model.n_outputs,
            n_vectors=prune(model).n_vectors,
            kernels=model.kernels,
            C=C if isinstance(C, int | float) and 0.0 < C < math.inf else cls.C,
            n_projected=n_projected,
            pool=None if n_projected is None else _pool(trained.get("pool"), model.n_features),
            scale=scale if scale in SCALERS else cls.scale,
            feature_scales=trained.get("feature_scales") is True,
            dtype=format.dtype,
            reads=format.input,
            early_exit=format.early_exit,
            probability=model.calibration is not None,
            decision=model.decision,
        )

    @property
    def format(self) -> Format:
        """What it is exported as."""
        return Format(self.dtype, self.reads, early_exit=self.early_exit)

    @property
    def is_linear(self) -> bool:
        """Whether its only kernel is linear: vectors then become one row of weights per score."""
        return len(self.kernels) == 1 and self.kernels[0].is_linear

    def with_scale(self, gamma: float) -> Plan:
        """Return the plan with this scale of its kernels (of the first; the others keep their ratios to it)."""
        first = scale_of(self.kernels[0])
        if first is None:
            return replace(self, gamma=None)
        factor = gamma / first
        return replace(self, gamma=None, kernels=tuple(_rescaled(kernel, factor) for kernel in self.kernels))


def scale_of(kernel: BoundKernel) -> float | None:
    """Return the scale of a kernel, such as a Gaussian's gamma; ``None`` for a kernel without."""
    name = KERNELS[kernel.name].scale_parameter
    return None if name is None else float(dict(kernel.params)[name])


def _rescaled(kernel: BoundKernel, factor: float) -> BoundKernel:
    family, scale = KERNELS[kernel.name], scale_of(kernel)
    if family.scale_parameter is None or scale is None:
        return kernel
    return family.bind(**{**dict(kernel.params), family.scale_parameter: scale * factor})


def _pool(text: object, n_features: int) -> str | None:
    """Return what a card says of pooling, if that is true of so many features: a card may be anybody's."""
    if not isinstance(text, str):
        return None
    try:
        Pooling.parse(text, n_features)
    except OptionError:
        return None
    return text
