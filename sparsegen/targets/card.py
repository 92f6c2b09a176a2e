"""The model card that heads an export: what the model is, what it costs and how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sparsegen.arrays import Array
from sparsegen.lowering.lowered import Lowered
from sparsegen.lowering.program import Program, float32
from sparsegen.model import Label, SparseModel
from sparsegen.model.card import known_accuracy
from sparsegen.model.detector_quality import known_detection
from sparsegen.model.judged import Judged
from sparsegen.model.judged_values import JudgedValues
from sparsegen.model.task import ANOMALY
from sparsegen.model.value_quality import known_values
from sparsegen.promised import bound, percent
from sparsegen.version import __version__

Lines = Sequence[tuple[str, str]]
MAX_NAMED_FEATURES = 32
LICENCE = "yours, without any condition: sparsegen claims no right in what it generates, and gives no warranty (0BSD)"
MAX_NAMED_CLASSES = 8


def card_lines(
    lowered: Lowered, n_vectors: int, input_stage: str, table_bytes: int, stack: Lines = ()
) -> list[tuple[str, str]]:
    """Return the card as (key, value) lines; values may hold untrusted text and must be escaped when printed.

    ``stack`` holds the lines that say what C takes of it; a graph has none.
    """
    model, card = lowered.model, lowered.model.card
    kernels = "; ".join(
        f"{k.name}({', '.join(f'{name}={value:g}' for name, value in k.params)})" for k in model.kernels
    )
    lines = [
        ("made by", f"sparsegen {__version__}"),
        ("licence", LICENCE),
        ("method", str(card.get("method", "unknown"))),
        ("kernel", kernels),
        ("size", f"{n_vectors} vectors, {model.n_features} features, {gives(model)}"),
        ("input", input_stage),
        ("number format", lowered.format.numbers.description),
        ("flash", f"{table_bytes} bytes of tables, plus code"),
    ]
    if model.transform.fill is not None and lowered.input_dtype.kind == "f":
        lines.insert(lines.index(("input", input_stage)) + 1, ("missing value", _missing(model.transform.fill)))
    if (weights := _class_weights(card)) is not None:
        lines.insert(2, ("class weights", weights))
    if isinstance(formula := card.get("coefficients"), str):
        lines.append(("coefficients", formula))
    if stack:
        labels = f"; on AVR also {_label_bytes(model.classes)} bytes of label text" if model.has_classes else ""
        lines += [("RAM", f"stack only{labels}"), *stack]
    lines += _accuracy(lowered) if model.has_classes else _errors(lowered)
    lines.append(("model", f"sha256 {model.sha256[:16]}"))
    names = card.get("feature_names")
    generated = [f"x{i}" for i in range(model.n_features)]
    if isinstance(names, list) and len(names) == model.n_features <= MAX_NAMED_FEATURES and names != generated:
        lines += [(f"x[{i}]", str(name)) for i, name in enumerate(names)]
    return lines + _fill(card, model.n_features)


def gives(model: SparseModel) -> str:
    """Return in words what a model gives: its number of classes, whether a row is normal, or a value."""
    if model.task == ANOMALY:
        return "normal or not"
    return f"{len(model.classes)} classes" if model.has_classes else "one value"


def _fill(card: Mapping[str, Any], n_features: int) -> list[tuple[str, str]]:
    """Return what stood for missing values, where some were filled: a device must put the same in their place."""
    fill = card.get("fill")
    if fill is None:
        return []
    if n_features > MAX_NAMED_FEATURES:
        return [("missing values", "replace each by the mean of its feature in the model's card before a prediction")]
    lines = [("missing values", "replace each by the mean of its feature in training before a prediction")]
    return lines + [(f"mean of x[{i}]", f"{value:.9g}") for i, value in enumerate(fill)]


def _missing(fill: Array) -> str:
    """Return what a NaN counts as; numbers read back as the device has them."""
    values = [str(value) for value in float32(fill)]
    if len(set(values)) == 1:
        return f"a NaN counts as {values[0]}"
    if len(values) > MAX_NAMED_FEATURES:
        return f"a NaN counts as a number of its feature, from {float32(fill).min()} to {float32(fill).max()}"
    return f"a NaN counts as, from x[0] on: {', '.join(values)}"


def _class_weights(card: Mapping[str, Any]) -> str | None:
    """Return what errors on each class cost in training; ``None`` where all cost the same."""
    weights = card.get("class_weights")
    if (
        not isinstance(weights, dict)
        or not weights
        or not all(isinstance(weight, int | float) for weight in weights.values())
    ):
        return None
    if len(weights) > MAX_NAMED_CLASSES:
        return f"{len(weights)} classes, {min(weights.values()):.3g} to {max(weights.values()):.3g}"
    return ", ".join(f"{label} {weight:.3g}" for label, weight in weights.items())


def _label_bytes(labels: Sequence[Label]) -> int:
    """Return the bytes of all labels and of the empty one: text that AVR programs copy to RAM when they start."""
    return sum(len(str(label).encode()) + 1 for label in labels) + 1


def float_card_lines(lowered: Lowered, program: Program, table_bytes: int, stack: Lines = ()) -> list[tuple[str, str]]:
    """Return the card of a float32 export."""
    vectors = sum(len(part.vectors) for part in program.parts)
    return card_lines(lowered, vectors, _input_stage(program), table_bytes, stack)


def _accuracy(lowered: Lowered) -> list[tuple[str, str]]:
    """Return the accuracy of this number format and on which rows; the model's own only as what it is."""
    found, dtype = lowered.agreement, lowered.format.dtype
    if lowered.model.task == ANOMALY:
        return _detection(lowered)
    if isinstance(judged := lowered.judged, Judged):
        return _judged_accuracy(judged, dtype if found is not None else "Python, as float64")
    told = known_accuracy(lowered.model.card)
    if told is None:
        return []
    text = f"{percent(told.share)} on {told.rows} test rows in Python, as float64"
    if found is not None:
        text = f"not measured in {dtype} (calibrate on labelled rows for it); the real-valued model has {text}"
    return [("accuracy", text), ("interval", told.in_words()), *_final_training(lowered)]


def _detection(lowered: Lowered) -> list[tuple[str, str]]:
    """Return false alarms and detections of a detector in this number format, and on which rows."""
    dtype, judged = lowered.format.dtype, lowered.judged
    python = "Python, as float64"
    measured_in = python if lowered.agreement is None else dtype
    found, rows, may_be_known = known_detection(lowered.model.card), "rows held out", False
    if isinstance(judged, Judged) and judged.detection is not None:
        found, may_be_known = judged.detection, judged.held_out is None
        rows = "calibration rows" if may_be_known else "rows held out in training"
    elif measured_in == dtype:
        measured_in = f"{python}; not in {dtype} (calibrate on labelled rows for it)"
    if found is None:
        return []
    lines = [("tested in", measured_in)]
    for name, share, interval, caution in found.shares(rows, may_be_known=may_be_known):
        lines += [(name, f"{share}{caution}"), (f"{name}, interval", interval)]
    return lines if isinstance(judged, Judged) else lines + _final_training(lowered)


def _final_training(lowered: Lowered) -> list[tuple[str, str]]:
    """Return that the model is not quite the one that was tested, where that is so."""
    final_rows = lowered.model.card.get("final_rows")
    last = f"the model was trained at last on all {final_rows} rows, those of the test included, and not tested again"
    return [] if final_rows is None else [("final training", last)]


def _errors(lowered: Lowered) -> list[tuple[str, str]]:
    """Return how far the values of a regression are off in this number format, and on which rows."""
    found, dtype = lowered.agreement, lowered.format.dtype
    if isinstance(judged := lowered.judged, JudgedValues):
        return _judged_errors(judged, dtype if found is not None else "Python, as float64")
    told = known_values(lowered.model.card)
    if told is None:
        return []
    text = f"{told.figures} on {told.rows} test rows in Python, as float64"
    if found is not None:
        text = f"not measured in {dtype} (calibrate on labelled rows for it); the real-valued model has {text}"
    mean = (
        []
        if told.mean_mae is None
        else [("mean of training", f"as a value for all: mean error {bound(told.mean_mae)}")]
    )
    return [("errors", text), ("interval", told.in_words()), *mean, *_final_training(lowered)]


def _judged_errors(found: JudgedValues, numbers: str) -> list[tuple[str, str]]:
    """Return the errors on the calibration rows that were held out in training; where there is none, on all."""
    held, real = found.held_out, found.real_held_out
    if held is None or real is None:
        return [
            ("errors", f"{found.rows.figures} in {numbers} on {found.rows.rows} calibration rows"),
            ("real-valued model", found.real.figures),
            ("interval", f"{found.rows.in_words(may_be_known=True)}; none is known to be held out in training"),
        ]
    return [
        ("errors", f"{held.figures} in {numbers} on {held.rows} rows held out in training"),
        ("real-valued model", real.figures),
        ("interval", held.in_words()),
    ]


def _judged_accuracy(found: Judged, numbers: str) -> list[tuple[str, str]]:
    """Return the accuracy on the calibration rows that were held out in training; where there is none, on all."""
    held, real = found.held_out, found.real_held_out
    if held is None or real is None:
        rows = f"{found.rows.correct} of {found.rows.rows} calibration rows; the real-valued model: {found.real}"
        return [
            ("accuracy", f"{percent(found.rows.share)} in {numbers} ({rows})"),
            ("interval", f"{found.rows.in_words(may_be_known=True)}; none is known to be held out in training"),
        ]
    rows = f"{held.correct} of {held.rows} rows held out in training; the real-valued model: {real.correct}"
    return [("accuracy", f"{percent(held.share)} in {numbers} ({rows})"), ("interval", held.in_words())]


def _input_stage(program: Program) -> str:
    if program.projection is not None:
        return f"raw features, projected to {len(program.projection)} values"
    return "raw features" if program.offset is None else "raw features, scaled into a buffer"
