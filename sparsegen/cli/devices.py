"""The commands that take a model to a device: export, verify, bench, flash. Heavy imports wait until one needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsegen.cli.options import (
    Calibrate,
    DataFile,
    Devices,
    Dtype,
    EarlyExit,
    Input,
    Json,
    LabelColumn,
    MaxLoss,
    ModelFile,
    Name,
    OneDtype,
    device_names,
)
from sparsegen.errors import OptionError, ToolError


def export(
    model_file: ModelFile,
    target: Annotated[str, typer.Option(help="Export target; see: sparsegen list targets.")] = "c",
    name: Name = "model",
    dtype: OneDtype = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    label: LabelColumn = None,
    max_loss: MaxLoss = None,
    early_exit: EarlyExit = False,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Write integer loops for this device.", show_default="portable")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")] = Path(),
    as_json: Json = False,
) -> None:
    """Write a model as source code or as an ONNX graph."""
    if max_loss is not None and dtype != "auto":
        raise OptionError("--max-loss goes with --dtype auto; give both or neither")

    from sparsegen.cli import output as out
    from sparsegen.devices import DEVICES
    from sparsegen.files import write_all
    from sparsegen.model import SparseModel
    from sparsegen.targets import PORTABLE, TARGETS

    model = SparseModel.load(model_file)
    loops = PORTABLE if device is None else DEVICES[device].loops
    lowered = _lowered(TARGETS[target], model, dtype, reads, calibrate, label, max_loss, early_exit)
    exported = TARGETS[target].write(lowered, name, loops)
    write_all(output, exported.files)
    out.print_export(exported, lowered, output, as_json)


def verify(
    model_file: ModelFile,
    data_file: DataFile,
    label: LabelColumn = None,
    target: Annotated[str, typer.Option(help="Export target to check.")] = "c",
    device: Devices = None,
    dtype: Dtype = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    early_exit: EarlyExit = False,
    as_json: Json = False,
) -> None:
    """Run every row through the export on each device and compare with Python; exit code 1 on a mismatch."""
    devices = device_names(device)

    from sparsegen import verify as verification
    from sparsegen.cli import output as out
    from sparsegen.cli.console import fit_warnings, progress_bars
    from sparsegen.cli.formats import make_formats

    formats = make_formats(dtype, reads, early_exit=early_exit)
    with fit_warnings(), progress_bars():
        model, X, y = model_and_rows(model_file, data_file, label)
        verdicts = []
        for numbers in _calibrated(formats, model, calibrate, label):
            found = verification.verify(model, X, y, target=target, devices=devices, numbers=numbers)
            verdicts += _some_device(found, target)
    out.print_verdicts(verdicts, as_json)
    if not all(verdict.ok for verdict in verdicts):
        raise typer.Exit(1)


def bench(
    model_file: ModelFile,
    device: Devices = None,
    data_file: Annotated[
        Path | None, typer.Option("--data", metavar="DATA", help="Rows to predict; default: the model's own examples.")
    ] = None,
    label: LabelColumn = None,
    target: Annotated[str, typer.Option(help="Export target to measure.")] = "c",
    dtype: Dtype = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    early_exit: EarlyExit = False,
    as_json: Json = False,
) -> None:
    """Measure what one prediction costs on each device; exit code 1 where the model does not fit a named one."""
    if label is not None and data_file is None and calibrate is None:
        raise OptionError("--label names a column of --data; give --data too, or leave --label out")
    devices = device_names(device)

    from sparsegen import bench as benchmark
    from sparsegen.cli import costs as out
    from sparsegen.cli.console import progress_bars
    from sparsegen.cli.formats import make_formats
    from sparsegen.model import SparseModel

    formats = make_formats(dtype, reads, early_exit=early_exit)
    with progress_bars():
        if data_file is None:
            model, X = SparseModel.load(model_file), None
        else:
            model, X, _ = model_and_rows(model_file, data_file, label)
        costs = []
        for numbers in _calibrated(formats, model, calibrate, label):
            found = benchmark.bench(model, X, target=target, devices=devices, numbers=numbers)
            costs += _some_device(found, target)
    out.print_costs(costs, as_json)
    if out.print_problems(costs, named=devices is not None):
        raise typer.Exit(1)


def flash(
    model_file: ModelFile,
    board: Annotated[str, typer.Option(help="Board; see: sparsegen list boards.", show_default=False)],
    port: Annotated[str | None, typer.Option(help="Serial port of the board, such as /dev/ttyACM0.")] = None,
    emulated: Annotated[bool, typer.Option("--emulate", help="Run in the board's emulator; no hardware.")] = False,
    dtype: OneDtype = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    data_file: Annotated[
        Path | None,
        typer.Option("--data", metavar="DATA", help="Rows to store as examples; default: the model's own examples."),
    ] = None,
    label: LabelColumn = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Keep the firmware's files in this folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Build firmware around a model and write it to a board, or run it in the board's emulator."""
    from sparsegen.cli import output as out
    from sparsegen.files import folder_or_temporary
    from sparsegen.firmware import flash as firmware
    from sparsegen.firmware.boards import BOARDS
    from sparsegen.model import SparseModel
    from sparsegen.targets import TARGETS

    chosen = BOARDS[board]
    firmware.check_way(chosen, port, emulated=emulated)
    model = SparseModel.load(model_file)
    rows = None if data_file is None else model_and_rows(model_file, data_file, label)[1]
    lowered = _lowered(TARGETS["c"], model, dtype, reads, calibrate, label)
    with folder_or_temporary(output) as folder:
        built = firmware.build(firmware.make_firmware(lowered, chosen, rows), chosen, folder)
        if not emulated:
            firmware.flash(built, port)
        lines = firmware.emulate(built) if emulated else None
    out.print_firmware(built, lines, output, port, as_json)
    if lines is not None and not firmware.succeeded(lines):
        raise typer.Exit(1)


def model_and_rows(model_file: Path, data_file: Path, label: str | None) -> tuple[Any, Any, Any]:
    """Return a model, and the rows of a file as it takes them."""
    from sparsegen import data
    from sparsegen.model import SparseModel

    model = SparseModel.load(model_file)
    X, y = data.read_features(data_file, model.card.get("feature_names"), label, n_features=model.n_features)
    return model, X, y


def _calibrated(formats: list[Any], model: Any, data_file: Path | None, label: str | None) -> list[Any]:
    """Return the formats with the calibration rows of a file, read as the model's rows are."""
    if data_file is None:
        return formats
    from dataclasses import replace

    from sparsegen import data

    X, y = data.read_features(data_file, model.card.get("feature_names"), label, n_features=model.n_features)
    return [replace(numbers, rows=X, labels=y) for numbers in formats]


def _lowered(
    target: Any,
    model: Any,
    dtype: str,
    reads: str,
    calibrate: Path | None,
    label: str | None,
    max_loss: float | None = None,
    early_exit: bool = False,
) -> Any:
    """Return the model in the one format that ``--dtype`` names, or in the one that auto finds."""
    from sparsegen.cli.formats import make_formats
    from sparsegen.lowering.choose_format import choose_format

    formats = make_formats("q7" if dtype == "auto" else dtype, reads, early_exit=early_exit)
    if len(formats) > 1:
        raise OptionError(f"an export has one number format, but --dtype is {dtype!r}; export once for each")
    (wanted,) = _calibrated(formats, model, calibrate, label)
    if dtype != "auto":
        return target.lower(model, wanted)
    return choose_format(model, wanted, 0.5 if max_loss is None else max_loss, target.lower).lowered


def _some_device(results: list[Any], target: str) -> list[Any]:
    if not results:
        raise ToolError(f"no device can run {target} exports here; what each needs: sparsegen list devices")
    return results
