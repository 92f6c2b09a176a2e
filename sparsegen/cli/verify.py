"""``sparsegen verify``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import fit_warnings, or_dash, print_json, print_table, progress_bars, say
from sparsegen.cli.formats import calibrated, parse_formats, resolved, run_each
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.options import (
    Calibrate,
    DataFile,
    Devices,
    Dtypes,
    EarlyExit,
    Float64,
    Input,
    IntegerLabels,
    Json,
    LabelColumn,
    MaxLoss,
    ModelFile,
    Opset,
    Quiet,
    device_names,
    with_options,
)
from sparsegen.cli.verdicts import judged_lines, makers, result, ties, verdict_document
from sparsegen.promised import bound, percent

if TYPE_CHECKING:
    from sparsegen.verify import Verdict

UNDECIDED, MODEL_ACCURACY, PROBABILITY = "un-\ndecided", "model's\naccuracy", "|probability\ndifference|"
SAME_LABELS = "label of\nmodel"
COLUMNS: dict[str, Callable[[Verdict], object]] = {
    "device": lambda v: v.device,
    "result": result,
    "rows": lambda v: v.rows,
    "mis-\nmatches": lambda v: v.mismatches,
    UNDECIDED: lambda v: v.undecided,
    "|score\ndifference|": lambda v: bound(v.max_difference),
    PROBABILITY: lambda v: or_dash(v.probability_difference, bound),
    SAME_LABELS: lambda v: or_dash(v.same_labels, percent),
    "accuracy": lambda v: or_dash(v.accuracy, percent),
    MODEL_ACCURACY: lambda v: or_dash(v.real_accuracy, percent),
}


@app.command()
def verify(
    model_file: ModelFile,
    data_file: DataFile,
    label: LabelColumn = None,
    target: Annotated[str, typer.Option(help="Export target to check.")] = "c",
    device: Devices = None,
    dtype: Dtypes = "f32",
    reads: Input = "f32",
    calibrate: Calibrate = None,
    max_loss: MaxLoss = None,
    early_exit: EarlyExit = False,
    opset: Opset = None,
    integer_labels: IntegerLabels = False,
    float64: Float64 = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run every row through the export on each device and compare with Python.

    Exit code 1 on a mismatch, or where integers lose too much accuracy on labelled rows.
    """
    devices = device_names(device)

    from sparsegen import verify as verification
    from sparsegen.model import SparseModel
    from sparsegen.targets import TARGETS

    printer = with_options(TARGETS[target], opset, integer_labels, float64)
    formats = parse_formats(dtype, reads, early_exit=early_exit, max_loss=max_loss)
    with fit_warnings(), progress_bars():
        model = SparseModel.load(model_file)
        X, y = rows_for(model, data_file, label)
        verdicts = run_each(
            resolved(calibrated(formats, model, calibrate, label), model, printer),
            target,
            lambda numbers: verification.verify(model, X, y, target=printer, devices=devices, numbers=numbers),
        )
    print_verdicts(verdicts, as_json)
    if not all(verdict.ok for verdict in verdicts):
        raise typer.Exit(1)


def print_verdicts(verdicts: Sequence[Verdict], as_json: bool) -> None:
    """Print the comparison of each device with Python; a column that says nothing new is left out."""
    if as_json:
        print_json([verdict_document(verdict) for verdict in verdicts])
        return
    from sparsegen.lowering.formats import FORMATS

    for dtype in dict.fromkeys(v.dtype for v in verdicts):
        alike = [v for v in verdicts if v.dtype == dtype]
        against = "its simulator, bit by bit" if FORMATS[dtype].is_exact else "Python"
        title = f"{alike[0].target} export ({dtype}) against {against}"
        columns = {name: [show(verdict) for verdict in alike] for name, show in COLUMNS.items()}
        if not any(columns[UNDECIDED]):
            del columns[UNDECIDED]
        if set(columns[PROBABILITY]) == {"-"}:
            del columns[PROBABILITY]
        if columns[MODEL_ACCURACY] == columns["accuracy"]:
            del columns[MODEL_ACCURACY]
        if set(columns[SAME_LABELS]) == {"-"}:  # there are no labels
            del columns[SAME_LABELS], columns["accuracy"]
        print_table(title, tuple(columns), list(zip(*columns.values(), strict=True)), text=2)
        for line in (*judged_lines(alike), *ties(alike), *makers(alike)):
            say(line)
