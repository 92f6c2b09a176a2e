"""SparseModel: the one thing every stage after training reads.

scores(x) = sum_k coef[:, k, :] @ K_k(Z, T(x)) + intercept
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.data.checks import printable
from sparsegen.errors import ModelError, OptionError
from sparsegen.files import write_atomic
from sparsegen.kernels import KERNELS, BoundKernel
from sparsegen.model.card import checked_card
from sparsegen.model.checks import (
    check_calibration,
    check_classes,
    check_confidence,
    check_shapes,
    frozen_numbers,
)
from sparsegen.model.decision import DECISIONS, LARGEST, class_indices
from sparsegen.model.deployable import Deployable
from sparsegen.model.file import decode, encode, read_bytes
from sparsegen.model.predictor import Predictor
from sparsegen.model.task import CLASSIFICATION, stated, task_and_decision
from sparsegen.model.transform import Transform

if TYPE_CHECKING:
    from sparsegen.model.inspection import Inspection

BLOCK_BYTES = 1 << 27  # rows are scored in blocks of about this size

Label = int | str


@dataclass(frozen=True)
class Calibration:
    """Probabilities from scores: ``platt`` (two classes: slope and offset) or ``temperature`` (softmax of scores)."""

    kind: str
    slope: float
    offset: float = 0.0

    def __call__(self, scores: Array) -> Array:
        """Return the (n, n_classes) probabilities of (n, n_outputs) scores."""
        t = self.slope * scores + self.offset
        if t.shape[1] == 1:
            t = np.hstack([np.zeros_like(t), t])
        weights = np.exp(t - t.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False, repr=False)
class SparseModel(Deployable):
    """A trained model: arrays, numbers and strings only, checked when made and never changed after."""

    vectors: Array
    coef: Array
    intercept: Array
    kernels: tuple[BoundKernel, ...]
    transform: Transform
    classes: tuple[Label, ...]
    """The labels by class index; none where the task is regression."""
    task: str = CLASSIFICATION
    """What the scores are for: one of `task.TASKS`."""
    calibration: Calibration | None = None
    card: Mapping[str, Any] = field(default_factory=dict)
    decision: str = LARGEST
    """How scores decide for a class: ``largest``, or ``votes`` of one score per pair of classes; ``value`` where the
    score is what is asked for; see `decision`."""

    def __post_init__(self) -> None:
        for name in ("vectors", "coef", "intercept"):
            object.__setattr__(self, name, frozen_numbers(name, getattr(self, name)))
        T = self.transform
        projection = None if T.projection is None else frozen_numbers("projection", T.projection)
        fill = None if T.fill is None else frozen_numbers("fill", T.fill)
        transform = Transform(frozen_numbers("offset", T.offset), frozen_numbers("scale", T.scale), projection, fill)
        object.__setattr__(self, "transform", transform)
        object.__setattr__(self, "kernels", tuple(self.kernels))
        object.__setattr__(self, "classes", tuple(self.classes))
        check_shapes(self)
        card = checked_card(self.card, self.n_features, self.transform.n_projected, len(self.classes))
        object.__setattr__(self, "card", MappingProxyType(card))
        check_classes(self.classes, self.task)
        check_calibration(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseModel) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        from sparsegen.model.inspection import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        """Return the model as a card for notebooks."""
        from sparsegen.model.inspection import html_card

        return html_card(self.inspect())

    def __getstate__(self) -> dict[str, bytes]:
        """Return what copies, pickles and skops files hold: the model's file, never its Python objects."""
        return {"file": self.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        """Become the model in such a file, or raise a ModelError: it is checked as any other."""
        content = state.get("file") if isinstance(state, dict) else None
        if not isinstance(content, bytes):
            raise ModelError("what should be a copy of a model does not hold a model file")
        vars(self).update(vars(SparseModel.from_bytes(content)))

    @property
    def n_vectors(self) -> int:
        """Number of expansion vectors."""
        return len(self.vectors)

    @property
    def n_features(self) -> int:
        """Number of raw features a row has."""
        return self.transform.n_features

    @property
    def has_classes(self) -> bool:
        """Whether a prediction is a class; otherwise it is a value."""
        return DECISIONS[self.decision].gives_classes

    @property
    def n_outputs(self) -> int:
        """Number of scores: 1 for two classes, otherwise one per class; with ``votes``, one per pair of classes.

        A regression has one, its value.
        """
        return len(self.intercept)

    def scores(self, X: ArrayLike) -> Array:
        """Return the (n, n_outputs) scores of raw rows."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ModelError(f"rows must have shape (n, {self.n_features}), but the array has shape {rows.shape}")
        out = np.empty((len(rows), self.n_outputs))
        step = max(1, BLOCK_BYTES // (8 * max(self.n_vectors, self.n_features)))
        for first in range(0, len(rows), step):
            block = self.transform(rows[first : first + step])
            part = out[first : first + step]
            part[:] = self.intercept
            for k, kernel in enumerate(self.kernels):
                part += kernel.gram(block, self.vectors) @ self.coef[:, k, :].T
        return out

    def predict_index(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return class indices of raw rows; 0 for each where there are no classes."""
        return class_indices(self.scores(X), self.decision)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return labels, or the values of a regression."""
        return np.array(self.classes)[self.predict_index(X)] if self.has_classes else self.scores(X)[:, 0]

    def probabilities(self, X: ArrayLike) -> Array:
        """Return (n, n_classes) calibrated probabilities."""
        if self.calibration is None:
            raise ModelError(
                "the model has scores but no probabilities; train it with them", change={"probability": ""}
            )
        return self.calibration(self.scores(X))

    def predict_or_reject(self, X: ArrayLike, confidence: float) -> NDArray[np.int64]:
        """Return class indices of raw rows, and -1 where the class is less probable than ``confidence``."""
        check_confidence(confidence)
        probabilities, index = self.probabilities(X), self.predict_index(X)
        return np.where(probabilities[np.arange(len(index)), index] < confidence, -1, index)

    def predictor(self) -> Predictor:
        """Return the model prepared to score one row in microseconds; worth it from a few hundred calls on.

        The first one on a computer is compiled, which takes seconds; Numba keeps the machine code for later ones.
        """
        return Predictor(self)

    def inspect(self) -> Inspection:
        """Return the model's facts and its card by name, which print as a table."""
        from sparsegen.model.describe import describe
        from sparsegen.model.inspection import Inspection

        return Inspection(describe(self))

    @cached_property
    def sha256(self) -> str:
        """Hash of the model's file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the file's bytes; the same model gives the same bytes."""
        document = {
            "task": stated(self.task, self.decision),
            "kernels": [{"name": kernel.name, "params": dict(kernel.params)} for kernel in self.kernels],
            "classes": list(self.classes),
            "calibration": None if self.calibration is None else vars(self.calibration),
            "card": dict(self.card),
        }
        arrays = {"vectors": self.vectors, "coef": self.coef, "intercept": self.intercept}
        arrays |= {"offset": self.transform.offset, "scale": self.transform.scale}
        if self.transform.projection is not None:
            arrays["projection"] = self.transform.projection
        if self.transform.fill is not None:
            arrays["fill"] = self.transform.fill
        return encode(arrays, document)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model file; a failure leaves what was there before.

        A file that is no model is overwritten only where ``force`` insists on it.
        """
        write_atomic(Path(path), self.to_bytes(), force=force)

    @classmethod
    def load(cls, path: str | Path) -> SparseModel:
        """Read a model file, or raise a ModelError that says what is wrong with it."""
        path = Path(path)
        content = read_bytes(path)
        try:
            return cls.from_bytes(content)
        except ModelError as error:
            raise ModelError(f"{path.name} is not a usable sparsegen model: {error}") from None

    @classmethod
    def from_bytes(cls, content: bytes) -> SparseModel:
        """Return the model in a file's bytes."""
        arrays, document = decode(content)
        try:
            task, decision = task_and_decision(document["task"])
            if not isinstance(document["classes"], list):
                raise ModelError("its classes are not a list")
            kernels = tuple(KERNELS[k["name"]].bind(**k["params"]) for k in document["kernels"])
            calibration = document["calibration"]
            return cls(
                vectors=arrays["vectors"],
                coef=arrays["coef"],
                intercept=arrays["intercept"],
                kernels=kernels,
                transform=Transform(arrays["offset"], arrays["scale"], arrays.get("projection"), arrays.get("fill")),
                classes=tuple(document["classes"]),
                task=task,
                calibration=None if calibration is None else Calibration(**calibration),
                card=document["card"],
                decision=decision,
            )
        except OptionError as error:
            raise ModelError(str(error)) from None
        except KeyError as error:
            raise ModelError(f"it lacks {str(error)[:40]}") from None
        except (TypeError, AttributeError) as error:
            raise ModelError(f"its description has the wrong form ({printable(str(error))[:80]})") from None
