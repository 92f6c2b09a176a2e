"""``sparsegen report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import progress_bars, say
from sparsegen.cli.formats import calibrated, parse_formats
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.inspect import parse_size
from sparsegen.cli.options import (
    Calibrate,
    DataFile,
    Devices,
    EarlyExit,
    Force,
    Input,
    LabelColumn,
    ModelFile,
    Quiet,
    device_names,
)
from sparsegen.errors import DataError, OptionError


@app.command()
def report(
    model_file: ModelFile,
    data_file: DataFile,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="HTML", help="Where the page goes.")] = Path(
        "report.html"
    ),
    device: Devices = None,
    label: LabelColumn = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Rows to train baselines on; default: rows of DATA that the model was not tested on.",
            show_default=False,
        ),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            "--dtype", metavar="f32|q15|q7|q15c8|q7c8", help="Number format of the C; c8: 8-bit coefficients."
        ),
    ] = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    early_exit: EarlyExit = False,
    image: Annotated[
        str | None, typer.Option(metavar="HxW", help="Features are pixels of such an image.", show_default="a guess")
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="PREFIX", help="Prefix of symbols in the C.")] = "model",
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Train and measure what else the flash would buy.")
    ] = True,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a page about a model: accuracy, cost, vectors, the C, and a playground; one HTML file, no network."""
    devices = device_names(device)
    size = None if image is None else parse_size(image)
    formats = parse_formats(dtype, reads, early_exit=early_exit)
    if len(formats) > 1:
        raise OptionError(f"a page is about one number format, but --dtype is {dtype!r}; make a page for each")

    from sparsegen.data import Dataset, from_arrays
    from sparsegen.files import require_writable, write_atomic
    from sparsegen.model import SparseModel
    from sparsegen.report import report as make_page

    require_writable(output, force=force)
    model = SparseModel.load(model_file)

    def labelled(path: Path) -> Dataset:
        X, y = rows_for(model, path, label)
        if y is None:
            raise DataError(
                f"{path.name} has no labels, and a page tells how well rows are labelled; bring labelled rows"
            )
        return from_arrays(X, y, model.card.get("feature_names"), path.name)

    test_set, train_set = labelled(data_file), None if train is None else labelled(train)
    (numbers,) = calibrated(formats, model, calibrate, label)
    with progress_bars():
        page = make_page(
            model,
            test_set,
            train_set=train_set,
            devices=devices,
            numbers=numbers,
            image=size,
            name=name,
            baselines=baselines,
        )
    write_atomic(output, page, force=force)
    say(f"wrote {output}: {len(page):,} bytes; open it in a browser, it needs no network")
