"""``sparsegen export``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, say
from sparsegen.cli.formats import lowered_by
from sparsegen.cli.options import (
    Calibrate,
    EarlyExit,
    Float64,
    ForceExport,
    Input,
    IntegerLabels,
    Json,
    LabelColumn,
    ModelFile,
    OneDtype,
    Opset,
    Quiet,
    with_options,
)
from sparsegen.cli.verdicts import judged_document
from sparsegen.errors import OptionError

if TYPE_CHECKING:
    from sparsegen.lowering.lowered import Lowered
    from sparsegen.targets import Export


@app.command()
def export(
    model_file: ModelFile,
    target: Annotated[str, typer.Option(help="Export target; see: sparsegen list targets.")] = "c",
    name: Annotated[str, typer.Option("--name", metavar="PREFIX", help="Prefix of symbols and files.")] = "model",
    dtype: OneDtype = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    label: LabelColumn = None,
    max_loss: Annotated[
        float | None, typer.Option(help="Points of accuracy that --dtype auto may lose.", show_default="0.5")
    ] = None,
    early_exit: EarlyExit = False,
    reject: Annotated[
        float | None,
        typer.Option(
            metavar="T", help="Add predict_or_reject: -1 where the probability is below T.", show_default=False
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Write the inner loops for this device.", show_default="portable")
    ] = None,
    opset: Opset = None,
    integer_labels: IntegerLabels = False,
    float64: Float64 = False,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")] = Path(),
    force: ForceExport = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a model as source code or as an ONNX graph."""
    from sparsegen.lowering.choose_format import AUTO

    if max_loss is not None and dtype != AUTO:
        raise OptionError("--max-loss goes with --dtype auto; give both or neither")

    from sparsegen.devices import DEVICES
    from sparsegen.files import require_folder
    from sparsegen.model import SparseModel
    from sparsegen.targets import PORTABLE, TARGETS

    require_folder(output)
    printer = with_options(TARGETS[target], opset, integer_labels, float64)
    model = SparseModel.load(model_file)
    loops = PORTABLE if device is None else DEVICES[device].loops
    lowered = lowered_by(printer, model, dtype, reads, calibrate, label, max_loss, early_exit, force, reject)
    exported = printer.write(lowered, name, loops)
    exported.save(output, force=force)
    print_export(exported, lowered, output, as_json)


def print_export(exported: Export, lowered: Lowered, folder: Path, as_json: bool) -> None:
    """Print what was written and how to use it."""
    files = [str(folder / name) for name in exported.files]
    if as_json:
        document = {"files": files, "dtype": lowered.format.dtype, "table_bytes": exported.table_bytes}
        judged = judged_document(lowered.judged)
        print_json({**document, **judged, "promises": dict(lowered.promises), "usage": exported.usage})
        return
    for file in files:
        say(f"wrote {file}")
    say(f"{exported.table_bytes:,} bytes of tables, {lowered.format.dtype}")
    for subject, promise in lowered.promises:
        say(f"{subject}: {promise}")
    if lowered.judged is not None:
        say(lowered.judged)
    elsewhere = exported.runs_as == "c" and folder != Path()
    say(f"use: {f'cd {shlex.quote(str(folder))} && ' if elsewhere else ''}{exported.usage}")
