"""The ``sparsegen`` application that every command registers itself with."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsegen.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
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
        bool, typer.Option("-V", "--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass
