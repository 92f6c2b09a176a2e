"""The options that commands share, and what the text of an option means."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from sparsegen.errors import OptionError

DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help="CSV with a header, NPZ or LIBSVM file.", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A .safetensors model.", show_default=False)]
LabelColumn = Annotated[
    str | None, typer.Option("--label", metavar="COL", help="Label column of a CSV: name or index; default: last.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Devices = Annotated[
    str | None, typer.Option("--device", metavar="NAME,...", help="Devices; default: all that can run here.")
]
Name = Annotated[str, typer.Option("--name", metavar="PREFIX", help="Prefix of symbols and files.")]

# of export, verify, bench and flash
Dtype = Annotated[str, typer.Option("--dtype", metavar="f32|q15|q7", help="Number formats, comma-separated.")]
OneDtype = Annotated[
    str,
    typer.Option(
        "--dtype", metavar="f32|q15|q7|auto", help="Number format; auto: the smallest that is accurate enough."
    ),
]
MaxLoss = Annotated[
    float | None, typer.Option(help="Points of accuracy that --dtype auto may lose.", show_default="0.5")
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

# of train
Vectors = Annotated[
    int | None,
    typer.Option(help="Number of expansion vectors: flash and time grow with it.", show_default="16, or 3 per class"),
]
Ratio = Annotated[
    float | None,
    typer.Option(help="Instead: share of the full SVM's support vectors, such as 0.05.", show_default=False),
]
KernelName = Annotated[str | None, typer.Option(help="Kernel; see: sparsegen list kernels.", show_default="rbf")]
Gamma = Annotated[
    str | None,
    typer.Option(metavar="G|scale|auto", help="Kernel width; auto: by cross-validation.", show_default="scale"),
]
ErrorWeight = Annotated[
    str | None,
    typer.Option("--C", metavar="C|auto", help="Weight of errors; auto: by cross-validation.", show_default="1"),
]
Projection = Annotated[
    int | None,
    typer.Option(help="Learn a projection to this many values: smaller, for many features.", show_default=False),
]
Scale = Annotated[str, typer.Option(metavar="standard|minmax|none", help="Feature scaling; exports take raw features.")]
TestSize = Annotated[float | None, typer.Option(help="Share of the rows held out for the test.", show_default="0.25")]
TestFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Test on this file instead.", show_default=False)]


def number_or_word(option: str, text: str, words: tuple[str, ...]) -> float | str:
    """Return a number, or one of the words that an option also takes."""
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"--{option} is {text!r}, but must be a number or {' or '.join(words)}") from None


def settings_of(texts: list[str], taken: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of ``--set NAME=VALUE``; those in ``taken`` have options of their own."""
    values: dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise OptionError(f"--set {text!r} must be NAME=VALUE, such as --set loss=hinge")
        if name in taken or name in values:
            reason = "is given twice" if name in values else "has an option of its own; see: sparsegen train --help"
            raise OptionError(f"--set {text!r}: {name} {reason}")
        try:
            values[name] = json.loads(value)
        except (ValueError, RecursionError):
            values[name] = value
    return values


def device_names(text: str | None) -> list[str] | None:
    """Return the names in a comma-separated list, each once; ``None`` means all devices."""
    if text is None or text == "all":
        return None
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise OptionError("--device names no device; see: sparsegen list devices")
    return names


def exclude(first: str, first_value: object, second: str, second_value: object) -> None:
    """Raise an error where both of two options are given."""
    if first_value is not None and second_value is not None:
        raise OptionError(f"{first} and {second} exclude each other; give one of them")


def check_output(path: Path) -> None:
    """Find out before training, not after it, that the model cannot be written."""
    try:
        if path.is_dir():
            raise OptionError(f"cannot write {path}: it is a folder; name a file in it")
        folder = next((parent for parent in path.absolute().parents if parent.exists()), Path())
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror}; choose another -o") from None
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise OptionError(f"cannot write {path}: {folder} is not a folder that can be written to; choose another -o")
