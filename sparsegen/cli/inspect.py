"""``sparsegen inspect``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsegen.cli.anomaly_training import detection_facts
from sparsegen.cli.app import app
from sparsegen.cli.classes import print_classes
from sparsegen.cli.console import print_facts, print_json, print_raw, print_table, width
from sparsegen.cli.options import Force, Json, ModelFile
from sparsegen.cli.probabilities import probability_facts
from sparsegen.cli.value_training import quality_facts
from sparsegen.errors import OptionError, SparsegenError
from sparsegen.promised import percent

if TYPE_CHECKING:
    from sparsegen.arrays import Array
    from sparsegen.model import SparseModel
    from sparsegen.model.confusion import Confusion

MAX_CELL = 400  # characters of one value in the table
NAMED_FEATURES = 8
MEASURED_VALUES = 1 << 18  # values in all vectors up to which making the C, to tell its size, takes no time
SHOWN_ELSEWHERE = {
    *("accuracy", "accuracy_interval", "balanced_accuracy", "f1", "test_rows", "test_independent", "final_rows"),
    *("probabilities", "per_class", "confusion", "class_counts", "classes", "values", "anomalies"),
    *("feature_names", "ranges", "projected_ranges", "held_out"),
}
"""What the card says and other tables show, or nobody reads; --json shows it all."""


@app.command()
def inspect(
    model_file: ModelFile,
    image: Annotated[
        str | None, typer.Option(metavar="HxW", help="Draw the vectors as images of this size.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="Write the drawing to a PNG.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show the name and range of every feature too.")] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Show what a model is, how accurate and how large, then its card, and its vectors where they are images."""
    if output is not None and image is None:
        raise OptionError("-o writes a drawing of the vectors; give their size too, such as --image 16x16")
    if as_json and image is not None and output is None:
        raise OptionError("--json prints no drawing; write it to a PNG with -o, or leave --image out")

    from sparsegen.model import SparseModel, draw

    model = SparseModel.load(model_file)
    images = None if image is None else draw.vector_images(model, parse_size(image))
    if images is not None and output is not None:
        draw.write_png(images, output, force=force)
    print_model(model, None if output is not None else images, as_json, everything=everything)


def parse_size(text: str) -> tuple[int, int]:
    """Return (height, width) of text like ``16x16``."""
    match = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text)
    if match is None or 0 in (size := (int(match[1]), int(match[2]))):
        raise OptionError(f"image size {text!r} must be HEIGHTxWIDTH, such as 16x16")
    return size


def print_model(model: SparseModel, images: Array | None, as_json: bool, *, everything: bool = False) -> None:
    """Print what a person asks of a model first, then its card, and the vectors where they are images."""
    from sparsegen.model.confusion import Confusion
    from sparsegen.model.describe import describe

    card = describe(model)
    if as_json:
        print_json(card)
        return
    confusion = Confusion.from_card(card)
    print_facts("model", _opening(model, confusion))
    if confusion is not None:
        print_classes(model.classes, confusion, every=everything)
    if isinstance(search := card.get("search"), dict):
        card["search"] = {key: search.get(key) for key in ("chosen", "rows", "folds", "metric", "groups")}
    rest = [(key.replace("_", " "), _words(value)) for key, value in card.items() if key not in SHOWN_ELSEWHERE]
    print_facts("model card", rest)
    if everything:
        _print_features(model)
    if images is not None:
        from sparsegen.model.draw import as_text

        print_raw(f"{as_text(images, width())}\n")


def _opening(model: SparseModel, confusion: Confusion | None) -> list[tuple[str, object]]:
    """Return what the model is, how accurate, how large and for which input."""
    from sparsegen.model.task import ANOMALY, CLASSIFICATION
    from sparsegen.targets import c_table_bytes

    card = model.card
    kernels = "; ".join(" ".join([k.name, *(f"{name} {value:g}" for name, value in k.params)]) for k in model.kernels)
    facts: list[tuple[str, object]] = [
        (
            "what",
            f"{card.get('method', model.task)}, {kernels}, {_gives(model)}",
        )
    ]
    facts += _quality(model)
    if confusion is not None and confusion.is_uneven and model.task != ANOMALY:
        facts.append(("balanced", f"{percent(confusion.balanced)}: the mean recall of the classes"))
    facts += probability_facts(model)
    if card.get("final_rows") is not None:
        what = "the accuracy is that" if model.task == CLASSIFICATION else "the figures are those"
        final = f"all {card['final_rows']} rows, test rows included; {what} before"
        facts.append(("at last on", final))
    size = f", {4 * model.vectors.size:,} bytes of vectors as float32"
    if model.vectors.size <= MEASURED_VALUES:
        try:
            size = f", {c_table_bytes(model):,} bytes of tables as float32 C, plus code"
        except SparsegenError as error:
            size = f"; no C: {error}"
    names = card.get("feature_names") or ()
    some = f": {_words(list(names))}" if 0 < len(names) <= NAMED_FEATURES else " (names and ranges: --all)"
    return [*facts, ("size", f"{model.n_vectors} vectors{size}"), ("input", f"{model.n_features} features{some}")]


def _gives(model: SparseModel) -> str:
    """Return what a model gives: one of its classes, whether a row is normal, or a value."""
    from sparsegen.model.task import ANOMALY

    if model.task == ANOMALY:
        normal = (model.card.get("anomalies") or {}).get("normal")
        return "normal or not" + ("" if normal is None else f"; normal rows had the label {_words(normal)}")
    return f"{len(model.classes)} classes: {_words([*model.classes])}" if model.has_classes else "one value"


def _quality(model: SparseModel) -> list[tuple[str, object]]:
    """Return how good the model was in its test."""
    from sparsegen.model.card import known_accuracy
    from sparsegen.model.detector_quality import known_detection
    from sparsegen.model.task import ANOMALY
    from sparsegen.model.value_quality import known_values

    if model.task == ANOMALY:
        known = known_detection(model.card)
        return [("false alarms", "not known")] if known is None else detection_facts(known, "rows held out")
    if model.has_classes:
        accuracy = known_accuracy(model.card)
        return [("accuracy", "not known" if accuracy is None else f"{accuracy}, in the test")]
    errors = known_values(model.card)
    return [("errors", "not known")] if errors is None else quality_facts(errors)


def _print_features(model: SparseModel) -> None:
    """Print the name of every feature, and the range of its training rows."""
    names = model.card.get("feature_names") or [f"x{i}" for i in range(model.n_features)]
    found = model.card.get("ranges")
    ends = [("-", "-")] * model.n_features if found is None else zip(found["low"], found["high"], strict=True)
    rows = [(i, name, _words(low), _words(high)) for i, (name, (low, high)) in enumerate(zip(names, ends, strict=True))]
    print_table("features, and their range in the training rows", ("", "name", "from", "to"), rows, text=2)


def _words(value: Any) -> str:
    """Return a card's value as a person would write it, not as JSON."""
    if isinstance(value, dict):
        text = ", ".join(f"{key} {_words(item)}" for key, item in value.items() if item is not None)
    elif isinstance(value, list):
        text = ", ".join(_words(item) for item in value)
    else:
        text = "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]} ..."
