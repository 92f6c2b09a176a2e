"""The arguments and options that several commands share."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.console import set_quiet
from sparsegen.errors import OptionError

if TYPE_CHECKING:
    from sparsegen.targets import Target

DataFile = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="CSV with a header, NPZ, LIBSVM, Parquet or Feather file.", show_default=False),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A .safetensors model.", show_default=False)]
LabelColumn = Annotated[
    str | None, typer.Option("--label", metavar="COL", help="Label column of a CSV: name or index; default: last.")
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COL",
        help="Column that says which rows belong together, such as their recording: never split, no feature.",
        show_default=False,
    ),
]
KeptColumns = Annotated[
    str | None,
    typer.Option(
        "--features", metavar="COL,...", help="Train on these columns only: names or indices.", show_default=False
    ),
]
DroppedColumns = Annotated[
    str | None,
    typer.Option("--drop", metavar="COL,...", help="Leave these columns out: names or indices.", show_default=False),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="error|drop|mean", help="Rows with empty cells: refuse, drop, or fill with the training rows' mean."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Quiet = Annotated[
    bool,
    typer.Option("-q", "--quiet", callback=set_quiet, help="No tables, sentences or progress, only warnings."),
]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print every class and every trial of the search.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that sparsegen did not write, too.")]
Devices = Annotated[
    str | None, typer.Option("--device", metavar="NAME,...", help="Devices; default: all that can run here.")
]
Part = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Part: its device, clock, flash, RAM; see: list parts.", show_default=False),
]
Clock = Annotated[
    str | None, typer.Option(metavar="HZ", help="Clock, such as 72MHz.", show_default="the part's highest")
]
MaxFlash = Annotated[str | None, typer.Option(metavar="BYTES", help="Most flash, such as 4K.", show_default=False)]
MaxRam = Annotated[str | None, typer.Option(metavar="BYTES", help="Most RAM, the input included.", show_default=False)]
MaxMs = Annotated[
    str | None, typer.Option(metavar="TIME", help="Longest prediction, such as 1ms or 250us.", show_default=False)
]
Dtypes = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="f32|q15|q7|q15c8|q7c8|auto",
        help="Number formats, comma-separated; c8: 8-bit coefficients; auto: the smallest that is accurate enough.",
    ),
]
MaxLoss = Annotated[
    float | None, typer.Option(help="Points of accuracy that --dtype auto may lose.", show_default="0.5")
]
OneDtype = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="f32|q15|q7|q15c8|q7c8|auto",
        help="Number format; c8: 8-bit coefficients; auto: the smallest that is accurate enough.",
    ),
]
Input = Annotated[
    str,
    typer.Option(
        "--input",
        metavar="f32|raw-int16|raw-uint8|grid",
        help="What integer C reads: raw features, or grid indices.",
    ),
]
Calibrate = Annotated[
    Path | None,
    typer.Option(metavar="DATA", help="Rows to choose integer scales on.", show_default="the model card's ranges"),
]
EarlyExit = Annotated[
    bool, typer.Option("--early-exit", help="Integer C may stop once the rest cannot change the label.")
]
Opset = Annotated[
    int | None, typer.Option(metavar="N", help="ONNX: the version of its operators, 9 or later.", show_default="17")
]
IntegerLabels = Annotated[
    bool, typer.Option("--integer-labels", help="ONNX: label is the index of the class; some runtimes take no text.")
]
Float64 = Annotated[bool, typer.Option("--float64", help="ONNX: the graph reads float64 rows.")]
ForceExport = Annotated[
    bool,
    typer.Option("--force", help="Go on where integers lose too much, and overwrite files sparsegen did not write."),
]


def with_options(target: Target, opset: int | None, integer_labels: bool, float64: bool) -> Target:
    """Return the target with those of its own options that were given."""
    given = {"opset": opset, "integer_labels": integer_labels or None, "float64": float64 or None}
    return target.with_options(**{name: value for name, value in given.items() if value is not None})


def device_names(text: str | None) -> list[str] | None:
    """Return the names in a comma-separated list, each once; ``None`` means all devices."""
    if text is None or text == "all":
        return None
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise OptionError("--device names no device; see: sparsegen list devices")
    return names


def column_names(text: str | None) -> tuple[str, ...]:
    """Return the names in a comma-separated list; one that holds a comma is written in double quotes."""
    if text is None:
        return ()
    try:
        cells = next(csv.reader([text], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise OptionError(f"{text!r} is no list of columns; separate names by commas and close every quote") from None
    names = tuple(name.strip() for name in cells)
    if not all(names):
        raise OptionError(f"{text!r} is no list of columns: it has an empty name; write one as a,b,c")
    return names


def exclude(first: str, first_value: object, second: str, second_value: object) -> None:
    """Raise an error where both of two options are given."""
    if first_value is not None and second_value is not None:
        raise OptionError(f"{first} and {second} exclude each other; give one of them")


def number_or_word(option: str, text: str, words: tuple[str, ...]) -> float | str:
    """Return a number, or one of the words that an option also takes."""
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"--{option} is {text!r}, but must be a number or {' or '.join(words)}") from None
