"""``sparsegen predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, print_raw, say
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.options import DataFile, Force, Json, LabelColumn, ModelFile
from sparsegen.percentages import percent

if TYPE_CHECKING:
    from sparsegen.model.predictions import Predictions


@app.command()
def predict(
    model_file: ModelFile,
    data_file: DataFile,
    label: LabelColumn = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where the CSV goes; default: standard output.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Label the rows of a file, with a score per class."""
    from sparsegen.model import SparseModel, predictions

    model = SparseModel.load(model_file)
    X, y = rows_for(model, data_file, label)
    found = predictions.predict(model, X)
    if output is None:
        print_predictions(found, as_json)
        return
    found.save(output, force=force)
    print_summary(found, None if y is None else found.accuracy(y), output, as_json)


def print_predictions(found: Predictions, as_json: bool) -> None:
    """Print one line per row: the label and then the scores."""
    if as_json:
        print_json({"labels": found.labels, "scores": found.scores}, indent=None)
    else:
        print_raw(found.csv())


def print_summary(found: Predictions, accuracy: float | None, path: Path, as_json: bool) -> None:
    """Print how many rows were written to a file, and how many labels are those of the data."""
    if as_json:
        print_json({"output": str(path), "rows": len(found.labels), "accuracy": accuracy})
    else:
        correct = "" if accuracy is None else f", {percent(accuracy)} as labelled in the file"
        say(f"wrote {path}: {len(found.labels)} rows{correct}")
