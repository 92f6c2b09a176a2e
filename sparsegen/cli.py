"""The ``sparsegen`` command: parse, call the library, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sparsegen.cli_options import (
    Calibrate,
    DataFile,
    Devices,
    Dtype,
    EarlyExit,
    ErrorWeight,
    Gamma,
    Input,
    Json,
    KernelName,
    LabelColumn,
    MaxLoss,
    ModelFile,
    Name,
    OneDtype,
    Projection,
    Ratio,
    Scale,
    TestFile,
    TestSize,
    Vectors,
    check_output,
    device_names,
    exclude,
    number_or_word,
    settings_of,
)
from sparsegen.errors import OptionError, SparsegenError, ToolError
from sparsegen.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train the smallest accurate classifier that fits your microcontroller; export verified C99 and ONNX.",
    epilog="From a CSV to C: sparsegen train data.csv --vectors 20, then sparsegen export model.safetensors -o out, "
    "then sparsegen verify model.safetensors data.csv. To see it all at once: sparsegen demo.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sparsegen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def train(
    data_file: DataFile,
    label: LabelColumn = None,
    method: Annotated[str, typer.Option(help="Training method; see: sparsegen list methods.")] = "slmc",
    vectors: Vectors = None,
    ratio: Ratio = None,
    kernel: KernelName = None,
    gamma: Gamma = None,
    C: ErrorWeight = None,
    projection: Projection = None,
    scale: Scale = "standard",
    test_size: TestSize = None,
    test_data: TestFile = None,
    seed: Annotated[int, typer.Option(help="Seed of split and training.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method, such as loss=hinge."),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the model goes.")] = Path("model.safetensors"),
    as_json: Json = False,
) -> None:
    """Train a model on labelled rows and test it on rows it has not seen."""
    exclude("--vectors", vectors, "--ratio", ratio)
    exclude("--test-size", test_size, "--test-data", test_data)
    given = {
        "kernel": kernel,
        "gamma": None if gamma is None else number_or_word("gamma", gamma, ("scale", "auto")),
        "C": None if C is None else number_or_word("C", C, ("auto",)),
        "n_vectors": vectors,
        "ratio": ratio,
        "projection": projection,
    }
    parameters = {name: value for name, value in given.items() if value is not None}
    parameters |= settings_of(settings or [], {**given, "random_state": seed})
    check_output(output)

    from sparsegen import cli_output as out
    from sparsegen import data, training
    from sparsegen.console import progress_bars

    with progress_bars():
        rows = data.read(data_file, label)
        if test_data is None:
            train_set, test_set = data.split(rows, 0.25 if test_size is None else test_size, seed)
        else:
            held_out = data.read(test_data, label, part="test")
            train_set, test_set = rows, data.match_features(held_out, rows.feature_names, rows.X.shape[1])
        report = training.train(train_set, test_set, method=method, scale=scale, seed=seed, parameters=parameters)
        report.model.save(output)
    out.print_training(report, output, as_json)


@app.command()
def predict(
    model_file: ModelFile,
    data_file: DataFile,
    label: LabelColumn = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where the CSV goes; default: standard output.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Label the rows of a file, with a score per class."""
    from sparsegen import cli_output as out

    model, X, y = _model_and_rows(model_file, data_file, label)
    out.print_predictions(model, X, y, output, as_json)


@app.command()
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

    from dataclasses import replace

    from sparsegen import cli_output as out
    from sparsegen.files import write_all
    from sparsegen.model import SparseModel
    from sparsegen.registry import DEVICES, TARGETS

    model = SparseModel.load(model_file)
    chosen = _one_format(model, dtype, reads, calibrate, label, max_loss, early_exit)
    if device is not None:
        chosen = replace(chosen, loops=DEVICES[device].loops)
    exported = TARGETS[target].export(model, name, chosen)
    write_all(output, exported.files)
    out.print_export(exported, output, as_json)


@app.command()
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

    from sparsegen import cli_output as out
    from sparsegen import verify as verification
    from sparsegen.console import fit_warnings, progress_bars
    from sparsegen.formats import make_formats

    formats = make_formats(dtype, reads, early_exit=early_exit)
    with fit_warnings(), progress_bars():
        model, X, y = _model_and_rows(model_file, data_file, label)
        verdicts = []
        for numbers in _calibrated(formats, model, calibrate, label):
            found = verification.verify(model, X, y, target=target, devices=devices, numbers=numbers)
            verdicts += _some_device(found, target)
    out.print_verdicts(verdicts, as_json)
    if not all(verdict.ok for verdict in verdicts):
        raise typer.Exit(1)


@app.command()
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
    from sparsegen import cli_costs as out
    from sparsegen.console import progress_bars
    from sparsegen.formats import make_formats
    from sparsegen.model import SparseModel

    formats = make_formats(dtype, reads, early_exit=early_exit)
    with progress_bars():
        if data_file is None:
            model, X = SparseModel.load(model_file), None
        else:
            model, X, _ = _model_and_rows(model_file, data_file, label)
        costs = []
        for numbers in _calibrated(formats, model, calibrate, label):
            found = benchmark.bench(model, X, target=target, devices=devices, numbers=numbers)
            costs += _some_device(found, target)
    out.print_costs(costs, as_json)
    if out.print_problems(costs, named=devices is not None):
        raise typer.Exit(1)


@app.command()
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
    from sparsegen import cli_output as out
    from sparsegen import flash as firmware
    from sparsegen.files import folder_or_temporary
    from sparsegen.model import SparseModel
    from sparsegen.registry import BOARDS

    chosen = BOARDS[board]
    firmware.check_way(chosen, port, emulated=emulated)
    model = SparseModel.load(model_file)
    rows = None if data_file is None else _model_and_rows(model_file, data_file, label)[1]
    numbers = _one_format(model, dtype, reads, calibrate, label)
    with folder_or_temporary(output) as folder:
        built = firmware.build(firmware.make_firmware(model, chosen, numbers, rows), chosen, folder)
        if not emulated:
            firmware.flash(built, port)
        lines = firmware.emulate(built) if emulated else None
    out.print_firmware(built, lines, output, port, as_json)
    if lines is not None and not firmware.succeeded(lines):
        raise typer.Exit(1)


@app.command()
def inspect(
    model_file: ModelFile,
    image: Annotated[
        str | None, typer.Option(metavar="HxW", help="Draw the vectors as images of this size.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PNG", help="Write the drawing to a PNG.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a model's card, and its vectors where they are images."""
    if output is not None and image is None:
        raise OptionError("-o writes a drawing of the vectors; give their size too, such as --image 16x16")
    if as_json and image is not None and output is None:
        raise OptionError("--json prints no drawing; write it to a PNG with -o, or leave --image out")

    from sparsegen import cli_output as out
    from sparsegen import draw
    from sparsegen.model import SparseModel

    model = SparseModel.load(model_file)
    images = None if image is None else draw.vector_images(model, draw.parse_size(image))
    if images is not None and output is not None:
        draw.write_png(images, output)
    out.print_card(model, None if output is not None else images, as_json)


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(metavar="methods|kernels|targets|devices|boards", show_default=False)],
    as_json: Json = False,
) -> None:
    """List the methods, kernels, targets, devices or boards there are."""
    from sparsegen import cli_output as out

    out.print_list(what, as_json)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")] = Path(
        "sparsegen-demo"
    ),
    as_json: Json = False,
) -> None:
    """Train on scikit-learn's digits, export C and ONNX, compile, verify and measure, beside a full SVC."""
    from sparsegen import cli_output as out
    from sparsegen.console import progress_bars
    from sparsegen.demo import run_demo

    with progress_bars():
        rows = run_demo(output)
    out.print_demo(rows, output, as_json)
    if not all(verdict.ok for row in rows for verdict in row.verdicts):
        raise typer.Exit(1)


def _model_and_rows(model_file: Path, data_file: Path, label: str | None) -> tuple[Any, Any, Any]:
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


def _one_format(
    model: Any,
    dtype: str,
    reads: str,
    calibrate: Path | None,
    label: str | None,
    max_loss: float | None = None,
    early_exit: bool = False,
) -> Any:
    """Return the one format that ``--dtype`` names, or the one that auto finds."""
    from dataclasses import replace

    from sparsegen.formats import choose_dtype, make_formats

    formats = make_formats("q7" if dtype == "auto" else dtype, reads, early_exit=early_exit)
    if len(formats) > 1:
        raise OptionError(f"an export has one number format, but --dtype is {dtype!r}; export once for each")
    (chosen,) = _calibrated(formats, model, calibrate, label)
    if dtype != "auto":
        return chosen
    return replace(chosen, dtype=choose_dtype(model, chosen, 0.5 if max_loss is None else max_loss)[0])


def _some_device(results: list[Any], target: str) -> list[Any]:
    if not results:
        raise ToolError(f"no device can run {target} exports here; what each needs: sparsegen list devices")
    return results


def main() -> None:
    """Run the command; mistakes of the user become one sentence and exit code 2."""
    if hasattr(sys.stdout, "reconfigure"):  # a label may have letters that the terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SparsegenError as error:
        _fail(" ".join(str(error).split()))
    except MemoryError:
        _fail("there is not enough memory; use fewer rows, features or vectors")
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)


def _fail(sentence: str) -> None:
    print(f"error: {sentence}", file=sys.stderr)
    sys.exit(2)
