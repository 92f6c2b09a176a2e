"""SparseModel: the one thing every stage after training reads, and its file.

    scores(x) = sum_k coef[:, k, :] @ K_k(Z, T(x)) + intercept

The file is safetensors (arrays) with one JSON document in its metadata. Nothing in it is ever executed; loading checks
schema, shapes, types, finiteness and sizes before anything is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsegen.arrays import Array
from sparsegen.errors import ModelError, OptionError
from sparsegen.files import write_atomic
from sparsegen.kernels import KERNELS, BoundKernel

SCHEMA = 1
TASKS = ("classification",)
CALIBRATIONS = ("platt", "temperature")
MAX_FILE_BYTES = 1 << 31
MAX_LABEL_LENGTH = 200
MAX_CARD_DEPTH = 20
BLOCK_BYTES = 1 << 27  # rows are scored in blocks of about this size

Label = int | str


@dataclass(frozen=True, eq=False)
class Transform:
    """What happens to a raw row before the kernels see it: ``projection @ ((x - offset) * scale)``."""

    offset: Array
    scale: Array
    projection: Array | None = None
    """(p, d), or ``None`` where the kernels see all d features."""

    @classmethod
    def identity(cls, n_features: int) -> Transform:
        """Return the transform that changes nothing."""
        return cls(np.zeros(n_features), np.ones(n_features))

    @property
    def n_features(self) -> int:
        """Number of raw features."""
        return int(self.offset.size)

    @property
    def n_projected(self) -> int:
        """Number of values the kernels see."""
        return self.n_features if self.projection is None else len(np.atleast_1d(self.projection))

    def __call__(self, X: Array) -> Array:
        """Return the rows as the kernels see them."""
        scaled = (X - self.offset) * self.scale
        return scaled if self.projection is None else scaled @ self.projection.T

    def after(self, offset: Array, scale: Array) -> Transform:
        """Return the transform of rows that a scaler ``(x - offset) * scale`` has not touched yet."""
        if not np.all(np.isfinite(scale)) or not np.all(scale):
            raise ModelError("a scaler in front of the model has a zero or infinite factor; remove constant features")
        return Transform(offset + self.offset / scale, scale * self.scale, self.projection)


@dataclass(frozen=True)
class Calibration:
    """Probabilities from scores: ``platt`` (two classes: slope and offset) or ``temperature`` (softmax of scores)."""

    kind: str
    slope: float
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class SparseModel:
    """A trained classifier: arrays, numbers and strings only, checked when made and never changed after."""

    vectors: Array
    coef: Array
    intercept: Array
    kernels: tuple[BoundKernel, ...]
    transform: Transform
    classes: tuple[Label, ...]
    task: str = "classification"
    calibration: Calibration | None = None
    card: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("vectors", "coef", "intercept"):
            object.__setattr__(self, name, _frozen(name, getattr(self, name)))
        T = self.transform
        projection = None if T.projection is None else _frozen("projection", T.projection)
        frozen = Transform(_frozen("offset", T.offset), _frozen("scale", T.scale), projection)
        object.__setattr__(self, "transform", frozen)
        object.__setattr__(self, "kernels", tuple(self.kernels))
        object.__setattr__(self, "classes", tuple(self.classes))
        object.__setattr__(self, "card", MappingProxyType(_plain_json(self.card)))
        _check_shapes(self)
        _check_classes(self.classes)
        _check_calibration(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseModel) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies of a fitted estimator, and its way to worker processes, go through the checked file format."""
        return SparseModel.from_bytes, (self.to_bytes(),)

    @property
    def n_vectors(self) -> int:
        """Number of expansion vectors."""
        return len(self.vectors)

    @property
    def n_features(self) -> int:
        """Number of raw features a row has."""
        return self.transform.n_features

    @property
    def n_outputs(self) -> int:
        """Number of scores: 1 for two classes, otherwise one per class."""
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
        """Return class indices: sign of the one score, or argmax of several where the first wins on ties."""
        scores = self.scores(X)
        if self.n_outputs == 1:
            return np.asarray(scores[:, 0] > 0, dtype=np.int64)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return labels."""
        return np.array(self.classes)[self.predict_index(X)]

    def probabilities(self, X: ArrayLike) -> Array:
        """Return (n, n_classes) calibrated probabilities."""
        if self.calibration is None:
            raise ModelError("this model has no calibration, so it has scores but no probabilities")
        scores = self.calibration.slope * self.scores(X) + self.calibration.offset
        if self.n_outputs == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))

    @cached_property
    def sha256(self) -> str:
        """Hash of the model's file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the file's bytes; the same model gives the same bytes."""
        from safetensors.numpy import save

        document = {
            "schema": SCHEMA,
            "task": self.task,
            "kernels": [{"name": kernel.name, "params": dict(kernel.params)} for kernel in self.kernels],
            "classes": list(self.classes),
            "calibration": None if self.calibration is None else vars(self.calibration),
            "card": dict(self.card),
        }
        arrays = {"vectors": self.vectors, "coef": self.coef, "intercept": self.intercept}
        arrays |= {"offset": self.transform.offset, "scale": self.transform.scale}
        if self.transform.projection is not None:
            arrays["projection"] = self.transform.projection
        return bytes(save(arrays, metadata={"sparsegen": json.dumps(document, ensure_ascii=True, allow_nan=False)}))

    def save(self, path: str | Path) -> None:
        """Write the model file; a failure leaves what was there before."""
        write_atomic(Path(path), self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> SparseModel:
        """Read a model file, or raise a ModelError that says what is wrong with it."""
        path = Path(path)
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise ModelError(f"{path.name} is larger than any model sparsegen writes")
            content = path.read_bytes()
        except OSError as error:
            raise ModelError(f"cannot read model {path}: {error.strerror or error}") from None
        try:
            return cls.from_bytes(content)
        except ModelError as error:
            raise ModelError(f"{path.name} is not a usable sparsegen model: {error}") from None

    @classmethod
    def from_bytes(cls, content: bytes) -> SparseModel:
        """Return the model in a file's bytes."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            arrays = load(content)
            header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        except (SafetensorError, ValueError, KeyError, RecursionError) as error:
            raise ModelError(f"it is not a safetensors file ({str(error)[:80]})") from None
        document = _document(header)
        unknown = set(arrays) - {"vectors", "coef", "intercept", "offset", "scale", "projection"}
        if unknown:
            raise ModelError(f"it holds an unknown array {sorted(unknown)[0]!r:.40}")
        for name, array in arrays.items():
            if array.dtype != np.float64:
                raise ModelError(f"its array {name} holds {array.dtype} values, but must hold float64")
        try:
            if not isinstance(document["classes"], list):
                raise ModelError("its classes are not a list")
            kernels = tuple(KERNELS[k["name"]].bind(**k["params"]) for k in document["kernels"])
            calibration = document["calibration"]
            return cls(
                vectors=arrays["vectors"],
                coef=arrays["coef"],
                intercept=arrays["intercept"],
                kernels=kernels,
                transform=Transform(arrays["offset"], arrays["scale"], arrays.get("projection")),
                classes=tuple(document["classes"]),
                task=document["task"],
                calibration=None if calibration is None else Calibration(**calibration),
                card=document["card"],
            )
        except OptionError as error:
            raise ModelError(str(error)) from None
        except KeyError as error:
            raise ModelError(f"it lacks {error}") from None
        except (TypeError, AttributeError) as error:
            raise ModelError(f"its description has the wrong form ({error})") from None


def _document(header: Any) -> dict[str, Any]:
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    text = metadata.get("sparsegen") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ModelError("it has no sparsegen description")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("its description is not JSON") from None
    if not isinstance(document, dict) or type(document.get("schema")) is not int:
        raise ModelError("its description has no schema number")
    if document["schema"] != SCHEMA:
        raise ModelError(
            f"it has schema {document['schema']!s:.20}, this sparsegen reads schema {SCHEMA}; use a matching version"
        )
    return document


def _frozen(name: str, array: ArrayLike) -> Array:
    source = np.asarray(array)
    if source.dtype.kind not in "fiu":
        raise ModelError(f"{name} holds {source.dtype} values, but must hold numbers")
    values = np.array(source, dtype=np.float64, order="C")
    if not np.isfinite(values).all():
        raise ModelError(f"{name} holds NaN or infinite values")
    values.setflags(write=False)
    return values


def _check_shapes(model: SparseModel) -> None:
    T = model.transform
    m, n_outputs = len(np.atleast_1d(model.vectors)), len(np.atleast_1d(model.intercept))
    expected = {
        "vectors": (model.vectors, (m, T.n_projected)),
        "coef": (model.coef, (n_outputs, len(model.kernels), m)),
        "intercept": (model.intercept, (1 if len(model.classes) == 2 else len(model.classes),)),
        "offset": (T.offset, (T.offset.size,)),
        "scale": (T.scale, (T.offset.size,)),
    }
    if T.projection is not None:
        expected["projection"] = (T.projection, (len(np.atleast_1d(T.projection)), T.offset.size))
    for name, (array, shape) in expected.items():
        if array.shape != shape or 0 in shape:
            raise ModelError(f"{name} has shape {array.shape}, but {shape} is needed (and none of it may be 0)")
    if model.task not in TASKS:
        raise ModelError(f"task {model.task!r:.40} is unknown; it must be one of {', '.join(TASKS)}")


def _check_classes(classes: tuple[Label, ...]) -> None:
    if len(classes) < 2:
        raise ModelError("a classifier needs at least two classes")
    if not (all(type(c) is int for c in classes) or all(type(c) is str for c in classes)):
        raise ModelError("class labels must be all integers or all strings")
    if len(set(classes)) != len(classes):
        raise ModelError("class labels must differ from each other")
    for c in classes:
        if isinstance(c, str) and (not 0 < len(c) <= MAX_LABEL_LENGTH or not c.isprintable()):
            raise ModelError(f"label {c[:40]!r} must be 1 to {MAX_LABEL_LENGTH} printable characters")
        if isinstance(c, int) and not -(2**63) <= c < 2**63:
            raise ModelError("class labels must fit in 64 bits")


def _check_calibration(model: SparseModel) -> None:
    calibration = model.calibration
    if calibration is None:
        return
    if calibration.kind not in CALIBRATIONS or (calibration.kind == "platt") != (model.n_outputs == 1):
        raise ModelError(f"calibration {calibration.kind!r:.40} does not suit {len(model.classes)} classes")
    if not all(isinstance(v, float | int) and abs(v) < np.inf for v in (calibration.slope, calibration.offset)):
        raise ModelError("calibration holds values that are not finite numbers")


def _plain_json(card: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps(dict(card), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"the card must hold plain JSON values ({str(error)[:80]})") from None
    plain: dict[str, Any] = json.loads(text)
    if _nested_beyond(plain, MAX_CARD_DEPTH):
        raise ModelError(f"the card is nested more than {MAX_CARD_DEPTH} deep")
    return plain


def _nested_beyond(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_nested_beyond(item, depth - 1) for item in inner)
