"""``sparsegen report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, progress_bars, say
from sparsegen.cli.formats import calibrated, parse_formats, resolved
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.inspect import parse_size
from sparsegen.cli.limits import parse_limits
from sparsegen.cli.options import (
    Calibrate,
    Clock,
    DataFile,
    Devices,
    EarlyExit,
    Force,
    Input,
    Json,
    LabelColumn,
    MaxFlash,
    MaxLoss,
    MaxMs,
    MaxRam,
    ModelFile,
    OneDtype,
    Part,
    Quiet,
    device_names,
)
from sparsegen.errors import DataError, OptionError

if TYPE_CHECKING:
    from sparsegen.data import Dataset
    from sparsegen.model import SparseModel


@app.command()
def report(
    model_file: ModelFile,
    data_file: DataFile,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="HTML", help="Where the page goes.")] = Path(
        "report.html"
    ),
    device: Devices = None,
    part: Part = None,
    clock: Clock = None,
    max_flash: MaxFlash = None,
    max_ram: MaxRam = None,
    max_ms: MaxMs = None,
    label: LabelColumn = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Rows to train baselines on.",
            show_default="those of DATA that were not held out in training",
        ),
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Train and measure what else the flash would buy.")
    ] = True,
    dtype: OneDtype = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    max_loss: MaxLoss = None,
    early_exit: EarlyExit = False,
    image: Annotated[
        str | None, typer.Option(metavar="HxW", help="Features are pixels of such an image.", show_default="a guess")
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="PREFIX", help="Prefix of symbols in the C.")] = "model",
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a page about a model: accuracy, cost, vectors, the C, and a playground; one HTML file, no network."""
    limits = parse_limits(part, clock, max_flash, max_ram, max_ms)
    devices = limits.devices(device_names(device))
    size = None if image is None else parse_size(image)
    formats = parse_formats(dtype, reads, early_exit=early_exit, max_loss=max_loss)
    if len(formats) > 1:
        raise OptionError(f"a page is about one number format, but --dtype is {dtype!r}; make a page for each")

    from sparsegen.files import require_writable, write_atomic
    from sparsegen.model import SparseModel
    from sparsegen.report import report as make_page
    from sparsegen.targets import TARGETS

    require_writable(output, force=force)
    model = SparseModel.load(model_file)
    with progress_bars():
        test_set = _labelled(model, data_file, label)
        train_set = None if train is None else _labelled(model, train, label)
        (numbers,) = resolved(calibrated(formats, model, calibrate, label), model, TARGETS["c"])
        page = make_page(
            model,
            test_set,
            train_set=train_set,
            devices=devices,
            profile=limits.profile,
            clock_hz=limits.clock_hz,
            budget=limits.budget,
            numbers=numbers,
            image=size,
            name=name,
            baselines=baselines,
        )
    write_atomic(output, page, force=force)
    if as_json:
        print_json({"page": str(output), "bytes": len(page)})
        return
    say(f"wrote {output}: {len(page):,} bytes; open it in a browser, it needs no network")


def _labelled(model: SparseModel, path: Path, label: str | None) -> Dataset:
    from sparsegen.data import from_arrays

    X, y = rows_for(model, path, label)
    if y is None:
        raise DataError(f"{path.name} has no labels, and a page tells how well rows are labelled; bring labelled rows")
    return from_arrays(X, y, model.card.get("feature_names"), path.name)
