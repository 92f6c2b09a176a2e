"""``sparsegen predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, print_raw, remark, say
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.options import DataFile, Force, Json, LabelColumn, ModelFile, Quiet
from sparsegen.cli.verdicts import judged_document

if TYPE_CHECKING:
    from sparsegen.model.judged import Judged
    from sparsegen.model.judged_values import JudgedValues
    from sparsegen.model.predictions import Predictions


@app.command()
def predict(
    model_file: ModelFile,
    data_file: DataFile,
    label: LabelColumn = None,
    reject: Annotated[
        float | None,
        typer.Option(metavar="T", help="Give no label where its probability is below T.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where the CSV goes; default: standard output.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Label the rows of a file, with a score per class and probabilities where there are some, or give their values."""
    from sparsegen.model import SparseModel, predictions

    model = SparseModel.load(model_file)
    X, y = rows_for(model, data_file, label)
    found = predictions.predict(model, X, reject)
    result = None if y is None else found.test(model, X, y)
    if output is None:
        print_predictions(found, result, as_json)
        return
    found.save(output, force=force)
    print_summary(found, result, output, as_json)


def print_predictions(found: Predictions, result: Judged | JudgedValues | None, as_json: bool) -> None:
    """Print one line per row: label, scores and probabilities; how many are right goes to standard error."""
    if as_json:
        shares = {} if found.probabilities is None else {"probabilities": found.probabilities}
        scores = {"scores": found.scores} if found.score_names else {}
        document = {f"{found.heading}s": found.labels, **scores, **shares, **judged_document(result)}
        print_json(document, indent=None)
        return
    print_raw(found.csv())
    if result is not None:
        remark(result)
        if found.unknown:
            remark(f"{found.unknown} of {len(found.labels)} rows have no label, and count as wrong")


def print_summary(found: Predictions, result: Judged | JudgedValues | None, path: Path, as_json: bool) -> None:
    """Print how many rows were written to a file, and how many labels are those of the data."""
    if as_json:
        counts = {"rows": len(found.labels), "unknown": found.unknown}
        print_json({"output": str(path), **counts, **judged_document(result)})
        return
    unknown = f", {found.unknown} without a label" if found.unknown else ""
    if unknown and result is not None:
        unknown += f", {'which counts' if found.unknown == 1 else 'which count'} as wrong"
    say(f"wrote {path}: {len(found.labels)} rows{unknown}")
    if result is not None:
        say(result)
