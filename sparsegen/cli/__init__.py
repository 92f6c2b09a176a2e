"""The ``sparsegen`` command: parse, call the library, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sparsegen.cli import devices as cli_devices
from sparsegen.cli.devices import model_and_rows
from sparsegen.cli.options import (
    DataFile,
    ErrorWeight,
    Gamma,
    Json,
    KernelName,
    LabelColumn,
    ModelFile,
    Projection,
    Ratio,
    Scale,
    TestFile,
    TestSize,
    Vectors,
    check_output,
    exclude,
    number_or_word,
    settings_of,
)
from sparsegen.errors import OptionError, SparsegenError
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

    from sparsegen import data
    from sparsegen.cli import output as out
    from sparsegen.cli.console import progress_bars
    from sparsegen.training import train as training

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
    from sparsegen.cli import output as out

    model, X, y = model_and_rows(model_file, data_file, label)
    out.print_predictions(model, X, y, output, as_json)


for _command in (cli_devices.export, cli_devices.verify, cli_devices.bench, cli_devices.flash):
    app.command()(_command)


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

    from sparsegen.cli import output as out
    from sparsegen.model import SparseModel, draw

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
    from sparsegen.cli import output as out

    out.print_list(what, as_json)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")] = Path(
        "sparsegen-demo"
    ),
    as_json: Json = False,
) -> None:
    """Train on scikit-learn's digits, export C and ONNX, compile, verify and measure, beside a full SVC."""
    from sparsegen.cli import output as out
    from sparsegen.cli.console import progress_bars
    from sparsegen.demo import run_demo

    with progress_bars():
        rows = run_demo(output)
    out.print_demo(rows, output, as_json)
    if not all(verdict.ok for row in rows for verdict in row.verdicts):
        raise typer.Exit(1)


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
