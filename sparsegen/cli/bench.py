"""``sparsegen bench``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, print_table, print_warnings, progress_bars, say
from sparsegen.cli.costs import COLUMNS, cost_document, estimate_lines
from sparsegen.cli.formats import calibrated, parse_formats, resolved, run_each
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.limits import parse_limits
from sparsegen.cli.options import (
    Calibrate,
    Clock,
    Devices,
    Dtypes,
    EarlyExit,
    Input,
    Json,
    LabelColumn,
    MaxFlash,
    MaxLoss,
    MaxMs,
    MaxRam,
    ModelFile,
    Part,
    device_names,
)
from sparsegen.cli.verdicts import judged_lines, makers
from sparsegen.errors import OptionError

if TYPE_CHECKING:
    from sparsegen.bench import Cost
    from sparsegen.devices import Profile


@app.command()
def bench(
    model_file: ModelFile,
    device: Devices = None,
    part: Part = None,
    clock: Clock = None,
    max_flash: MaxFlash = None,
    max_ram: MaxRam = None,
    max_ms: MaxMs = None,
    data_file: Annotated[
        Path | None, typer.Option("--data", metavar="DATA", help="Rows to predict; default: the model's own examples.")
    ] = None,
    label: LabelColumn = None,
    target: Annotated[str, typer.Option(help="Export target to measure.")] = "c",
    dtype: Dtypes = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    max_loss: MaxLoss = None,
    early_exit: EarlyExit = False,
    as_json: Json = False,
) -> None:
    """Measure what one prediction costs on each device; exit code 1 where it does not fit a named one or the budget."""
    if label is not None and data_file is None and calibrate is None:
        raise OptionError("--label names a column of --data; give --data too, or leave --label out")
    limits = parse_limits(part, clock, max_flash, max_ram, max_ms)
    devices = limits.devices(device_names(device))

    from sparsegen import bench as benchmark
    from sparsegen.model import SparseModel
    from sparsegen.targets import TARGETS

    formats = parse_formats(dtype, reads, early_exit=early_exit, max_loss=max_loss)
    with progress_bars():
        model = SparseModel.load(model_file)
        X, y = (None, None) if data_file is None else rows_for(model, data_file, label)
        costs = run_each(
            resolved(calibrated(formats, model, calibrate, label), model, TARGETS[target]),
            target,
            lambda numbers: benchmark.bench(
                model,
                X,
                y,
                target=target,
                devices=devices,
                numbers=numbers,
                profile=limits.profile,
                clock_hz=limits.clock_hz,
                budget=limits.budget,
            ),
        )
    print_costs(costs, as_json, limits.profile)
    if print_problems(costs, named=devices is not None):
        raise typer.Exit(1)


def print_costs(costs: Sequence[Cost], as_json: bool, part: Profile | None = None) -> None:
    """Print what a prediction costs on each device, or on a part; columns that no device fills are left out."""
    if as_json:
        print_json([cost_document(cost) for cost in costs])
        return
    for dtype in dict.fromkeys(cost.dtype for cost in costs):
        alike = [cost for cost in costs if cost.dtype == dtype]
        filled = {name: cells for name, show in COLUMNS.items() if set(cells := [show(c) for c in alike]) != {"-"}}
        rows = list(zip([cost.device for cost in alike], *filled.values(), strict=True))
        where = "" if part is None else f" on {part.part} at {alike[0].clock}"
        print_table(f"one prediction{where}, {dtype}; RAM used: with its input", ("device", *filled), rows)
        for line in (*judged_lines(alike), *estimate_lines(alike), *makers(alike)):
            say(line)


def print_problems(costs: Sequence[Cost], *, named: bool) -> bool:
    """Print a sentence for each device that the model does not fit; return whether that is an error.

    It is an error for devices that were named, or where no device is left; otherwise it is a warning.
    """
    problems = [cost.problem for cost in costs if cost.problem is not None]
    wrong = bool(problems) and (named or len(problems) == len(costs))
    print_warnings(problems, "error" if wrong else "warning")
    return wrong
