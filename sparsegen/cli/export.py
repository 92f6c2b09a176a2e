"""``sparsegen export``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, progress_bars, say
from sparsegen.cli.costs import cost_document, estimate_lines
from sparsegen.cli.formats import lowered_by
from sparsegen.cli.limits import Limits, parse_limits
from sparsegen.cli.options import (
    Calibrate,
    Clock,
    EarlyExit,
    Float64,
    ForceExport,
    Input,
    IntegerLabels,
    Json,
    LabelColumn,
    MaxFlash,
    MaxLoss,
    MaxMs,
    MaxRam,
    ModelFile,
    OneDtype,
    Opset,
    Part,
    Quiet,
    with_options,
)
from sparsegen.cli.verdicts import judged_document
from sparsegen.errors import OptionError

if TYPE_CHECKING:
    from sparsegen.bench import Cost
    from sparsegen.devices import Device
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
    max_loss: MaxLoss = None,
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
    part: Part = None,
    clock: Clock = None,
    max_flash: MaxFlash = None,
    max_ram: MaxRam = None,
    max_ms: MaxMs = None,
    opset: Opset = None,
    integer_labels: IntegerLabels = False,
    float64: Float64 = False,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")] = Path(),
    force: ForceExport = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a model as source code or as an ONNX graph; nothing is written where it does not fit part or budget."""
    limits = parse_limits(part, clock, max_flash, max_ram, max_ms)
    named = limits.devices(None if device is None else [device])
    if limits.any and named is None:
        raise OptionError("what a prediction costs depends on the device; give --part or --device too")

    from sparsegen.devices import DEVICES
    from sparsegen.files import require_folder
    from sparsegen.model import SparseModel
    from sparsegen.targets import PORTABLE, TARGETS

    require_folder(output)
    printer = with_options(TARGETS[target], opset, integer_labels, float64)
    model = SparseModel.load(model_file)
    chosen = None if named is None else DEVICES[named[0]]
    loops = PORTABLE if chosen is None else chosen.loops
    lowered = lowered_by(printer, model, dtype, reads, calibrate, label, max_loss, early_exit, force, reject)
    exported = printer.write(lowered, name, loops)
    cost = _fitting(chosen, exported, lowered, limits)
    exported.save(output, force=force)
    print_export(exported, lowered, output, as_json, cost)


def _fitting(device: Device | None, exported: Export, lowered: Lowered, limits: Limits) -> Cost | None:
    """Return what an export costs, or raise where it costs too much; ``None`` where nothing was asked."""
    if device is None or not limits.any:
        return None
    from sparsegen.bench import require_fit

    with progress_bars():
        return require_fit(device, exported, lowered, limits.profile, limits.clock_hz, limits.budget)


def print_export(exported: Export, lowered: Lowered, folder: Path, as_json: bool, cost: Cost | None = None) -> None:
    """Print what was written and how to use it."""
    files = [str(folder / name) for name in exported.files]
    if as_json:
        document = {"files": files, "dtype": lowered.format.dtype, "table_bytes": exported.table_bytes}
        judged = judged_document(lowered.judged)
        document |= {} if cost is None else {"cost": cost_document(cost)}
        print_json({**document, **judged, "promises": dict(lowered.promises), "usage": exported.usage})
        return
    for file in files:
        say(f"wrote {file}")
    say(f"{exported.table_bytes:,} bytes of tables, {lowered.format.dtype}")
    if cost is not None:
        say(f"fits {cost}")
        for line in estimate_lines([cost]):
            say(line)
    for subject, promise in lowered.promises:
        say(f"{subject}: {promise}")
    if lowered.judged is not None:
        say(lowered.judged)
    elsewhere = exported.runs_as == "c" and folder != Path()
    say(f"use: {f'cd {shlex.quote(str(folder))} && ' if elsewhere else ''}{exported.usage}")
