"""``sparsegen verify``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import fit_warnings, or_dash, print_json, print_table, progress_bars
from sparsegen.cli.formats import calibrated, parse_formats, run_each
from sparsegen.cli.inputs import rows_for
from sparsegen.cli.options import (
    Calibrate,
    DataFile,
    Devices,
    Dtypes,
    EarlyExit,
    Input,
    Json,
    LabelColumn,
    ModelFile,
    device_names,
)
from sparsegen.cli.verdicts import makers, result, ties, verdict_document
from sparsegen.percentages import percent

if TYPE_CHECKING:
    from sparsegen.verify import Verdict

COLUMNS = (
    *("device", "result", "rows", "mis-\nmatches", "un-\ndecided"),
    *("|score\ndifference|", "label of\nmodel", "accuracy", "model's\naccuracy"),
)


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
    early_exit: EarlyExit = False,
    as_json: Json = False,
) -> None:
    """Run every row through the export on each device and compare with Python.

    Exit code 1 on a mismatch, or where integers lose too much accuracy on labelled rows.
    """
    devices = device_names(device)

    from sparsegen import verify as verification
    from sparsegen.model import SparseModel

    formats = parse_formats(dtype, reads, early_exit=early_exit)
    with fit_warnings(), progress_bars():
        model = SparseModel.load(model_file)
        X, y = rows_for(model, data_file, label)
        verdicts = run_each(
            calibrated(formats, model, calibrate, label),
            target,
            lambda numbers: verification.verify(model, X, y, target=target, devices=devices, numbers=numbers),
        )
    print_verdicts(verdicts, as_json)
    if not all(verdict.ok for verdict in verdicts):
        raise typer.Exit(1)


def print_verdicts(verdicts: Sequence[Verdict], as_json: bool) -> None:
    """Print the comparison of each device with Python."""
    if as_json:
        print_json([verdict_document(verdict) for verdict in verdicts])
        return
    from sparsegen.lowering.formats import FORMATS

    for dtype in dict.fromkeys(v.dtype for v in verdicts):
        alike = [v for v in verdicts if v.dtype == dtype]
        against = "its simulator, bit by bit" if FORMATS[dtype].is_exact else "Python"
        title = f"{alike[0].target} export ({dtype}) against {against}"
        print_table(title, COLUMNS, [_cells(verdict) for verdict in alike], text=2)
        for line in (*ties(alike), *makers(alike)):
            print(line)


def _cells(verdict: Verdict) -> tuple[object, ...]:
    return (
        verdict.device,
        result(verdict),
        verdict.rows,
        verdict.mismatches,
        verdict.undecided,
        f"{verdict.max_difference:.2e}",
        or_dash(verdict.same_labels, percent),
        or_dash(verdict.accuracy, percent),
        or_dash(verdict.real_accuracy, percent),
    )
