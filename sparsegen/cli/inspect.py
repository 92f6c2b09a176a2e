"""``sparsegen inspect``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_facts, print_json, print_raw, width
from sparsegen.cli.options import Force, Json, ModelFile
from sparsegen.errors import OptionError
from sparsegen.promised import percent

if TYPE_CHECKING:
    from sparsegen.arrays import Array

MAX_CELL = 400  # characters of one value in the table


@app.command()
def inspect(
    model_file: ModelFile,
    image: Annotated[
        str | None, typer.Option(metavar="HxW", help="Draw the vectors as images of this size.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="Write the drawing to a PNG.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Show a model's card, and its vectors where they are images."""
    if output is not None and image is None:
        raise OptionError("-o writes a drawing of the vectors; give their size too, such as --image 16x16")
    if as_json and image is not None and output is None:
        raise OptionError("--json prints no drawing; write it to a PNG with -o, or leave --image out")

    from sparsegen.model import SparseModel, draw
    from sparsegen.model.describe import describe

    model = SparseModel.load(model_file)
    images = None if image is None else draw.vector_images(model, parse_size(image))
    if images is not None and output is not None:
        draw.write_png(images, output, force=force)
    print_card(describe(model), None if output is not None else images, as_json)


def parse_size(text: str) -> tuple[int, int]:
    """Return (height, width) of text like ``16x16``."""
    match = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text)
    if match is None or 0 in (size := (int(match[1]), int(match[2]))):
        raise OptionError(f"image size {text!r} must be HEIGHTxWIDTH, such as 16x16")
    return size


def print_card(card: dict[str, Any], images: Array | None, as_json: bool) -> None:
    """Print the card, and the vectors where they are images."""
    if as_json:
        print_json(card)
        return
    if isinstance(search := card.get("search"), dict):
        card["search"] = {key: search.get(key) for key in ("chosen", "rows", "folds")}  # --json shows the rest
    if isinstance(accuracy := card.get("accuracy"), float) and 0 <= accuracy <= 1:
        card["accuracy"] = percent(accuracy)
    print_facts("model card", [(key.replace("_", " "), _words(value)) for key, value in card.items()])
    if images is not None:
        from sparsegen.model.draw import as_text

        print_raw(f"{as_text(images, width())}\n")


def _words(value: Any) -> str:
    """Return a card's value as a person would write it, not as JSON."""
    if isinstance(value, dict):
        text = ", ".join(f"{key} {_words(item)}" for key, item in value.items() if item is not None)
    elif isinstance(value, list):
        text = ", ".join(_words(item) for item in value)
    else:
        text = "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]} ..."
