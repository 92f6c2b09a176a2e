"""Candidate: one way to train and to export a model, in plain values that a study keeps and a worker reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from sparsegen.arrays import Array
from sparsegen.budget.plan import Plan
from sparsegen.errors import DataError
from sparsegen.kernels import KERNELS
from sparsegen.lowering.formats import FORMATS, INPUT_KINDS, Format
from sparsegen.methods import METHODS
from sparsegen.methods.shared.estimator import SparseClassifier, scale_gamma
from sparsegen.methods.slmc import default_penalty
from sparsegen.training.train import SCALERS, make_estimator

LARGEST = 1e9
"""A number of a candidate beyond this is none that was ever tried."""
RELATIVE = {"gamma": "relative_gamma", "penalty": "relative_penalty"}
"""What parameters are called that are multiples of a scale of the rows, and not what a method would be given."""
SIGNIFICANT = 4  # digits of gamma and penalty: what is printed is what was used


@dataclass(frozen=True)
class Effort:
    """How long training may last."""

    rows: int | None
    """Most rows; ``None`` for all."""
    max_iter: int | None
    steps: int | None
    """Minibatches; ``None``, here and above, for the method's own."""


QUICK = Effort(rows=1500, max_iter=15, steps=500)
"""Tells candidates apart that differ much."""
SEARCH = Effort(rows=20_000, max_iter=50, steps=3000)
FULL = Effort(None, None, None)


@dataclass(frozen=True)
class Candidate:
    """One way to train and to export a model."""

    method: str
    kernel: str
    dtype: str
    reads: str
    """Name of an input kind."""
    scale: str
    n_vectors: int
    C: float
    gamma: float | None = None
    """Relative to what ``gamma="scale"`` stands for; ``None`` for a kernel without."""
    n_features: int | None = None
    """So many features that tell most; ``None`` for all."""
    n_projected: int | None = None
    feature_scales: bool = False
    penalty: float | None = None
    """Of a projection or of factors, relative to the default."""
    class_weight: str | None = None
    probability: bool = False

    @classmethod
    def from_json(cls, document: object) -> Candidate:
        """Return the candidate that :meth:`as_json` gave, or raise a DataError: a study may be anybody's."""
        if not isinstance(document, dict) or set(document) != {one.name for one in fields(cls)}:
            raise DataError("a candidate of the study has other fields than this version writes")
        for one in fields(cls):
            if not _is_a(document[one.name], str(one.type)):
                raise DataError(f"the {one.name} of a candidate of the study is not what it must be")
        for name, known in _known().items():
            if document[name] not in known:
                raise DataError(f"the {name} of a candidate of the study is none that this version knows")
        return cls(**document)

    def as_json(self) -> dict[str, Any]:
        """Return the candidate as plain values."""
        return asdict(self)

    @property
    def format(self) -> Format:
        """What it is exported as."""
        return Format(self.dtype, self.reads)

    def plan(self, n_features: int, n_outputs: int) -> Plan:
        """Return what decides its cost, for rows of so many features and models of so many scores."""
        return Plan(
            n_features=n_features if self.n_features is None else self.n_features,
            n_outputs=n_outputs,
            n_vectors=self.n_vectors,
            kernels=(KERNELS[self.kernel].bind(),),
            gamma=self.gamma,
            C=self.C,
            n_projected=self.n_projected,
            scale=self.scale,
            feature_scales=self.feature_scales,
            dtype=self.dtype,
            reads=self.reads,
            probability=self.probability,
        )

    def settings(self, rows: Array, effort: Effort) -> dict[str, Any]:
        """Return the method's parameters, for training on these scaled rows."""
        given: dict[str, Any] = {"kernel": self.kernel, "n_vectors": self.n_vectors, "C": self.C}
        if self.gamma is not None:
            given["gamma"] = _rounded(self.gamma * scale_gamma(rows))
        if self.n_projected is not None:
            given["projection"] = self.n_projected
        if self.feature_scales:
            given["feature_scales"] = True
        if self.penalty is not None:
            given["projection_penalty"] = _rounded(self.penalty * default_penalty(len(rows)))
        if self.class_weight is not None:
            given["class_weight"] = self.class_weight
        if self.probability:
            given["probability"] = True
        shortened = {"max_iter": effort.max_iter, "steps": effort.steps}
        known = make_estimator(self.method, {}).get_params(deep=False)
        return given | {name: most for name, most in shortened.items() if most is not None and name in known}

    def estimator(self, rows: Array, effort: Effort, seed: int) -> SparseClassifier:
        """Return the untrained machine, for training on these scaled rows."""
        return make_estimator(self.method, {**self.settings(rows, effort), "random_state": seed})


def parameters_of(candidate: Candidate) -> Mapping[str, Any]:
    """Return what a point of the front tells of a candidate beside its format and its vectors: only what is set."""
    told_elsewhere = {"dtype", "reads", "n_vectors"}
    values = candidate.as_json().items()
    told = {name: value for name, value in values if name not in told_elsewhere and value not in (None, False)}
    return {RELATIVE.get(name, name): value for name, value in told.items()}


def _known() -> Mapping[str, Collection[object]]:
    """Return what the names of a candidate may be: they are printed, and choose what is run."""
    return {
        "method": METHODS,
        "kernel": KERNELS,
        "dtype": FORMATS,
        "reads": INPUT_KINDS,
        "scale": SCALERS,
        "class_weight": (None, "balanced"),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT}g}")


def _is_a(value: object, annotation: str) -> bool:
    """Return whether a value of JSON has the type of a field: one of ``str``, ``int``, ``float``, ``bool``, or none."""
    kinds: dict[str, Any] = {"int": int, "float": float | int}
    name, _, optional = annotation.partition(" | ")
    if value is None:
        return optional == "None"
    if isinstance(value, bool) or name == "bool":
        return isinstance(value, bool) and name == "bool"
    return isinstance(value, str) if name == "str" else isinstance(value, kinds[name]) and 0 < value < LARGEST
