"""``sparsegen train``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sparsegen.cli.anomaly_training import print_anomaly_training
from sparsegen.cli.app import app
from sparsegen.cli.console import progress_bars
from sparsegen.cli.options import (
    DataFile,
    DroppedColumns,
    Force,
    GroupColumn,
    Json,
    KeptColumns,
    LabelColumn,
    Missing,
    Quiet,
    Verbose,
    column_names,
    exclude,
    number_or_word,
)
from sparsegen.cli.training import print_training
from sparsegen.cli.value_training import print_value_training
from sparsegen.errors import OptionError

PRINTERS: Mapping[str, Callable[..., None]] = {
    "classification": print_training,
    "anomaly": print_anomaly_training,
    "regression": print_value_training,
}
"""By task."""


@app.command()
def train(
    data_file: DataFile,
    label: LabelColumn = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="NPY file of the labels, for DATA that is an NPY file.", show_default=False),
    ] = None,
    group: GroupColumn = None,
    features: KeptColumns = None,
    drop: DroppedColumns = None,
    missing: Missing = "error",
    task: Annotated[
        str,
        typer.Option(metavar="classify|anomaly|regress", help="What labels are: classes, normal or not, values."),
    ] = "classify",
    normal: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="Of anomalies: the label of normal rows.", show_default="normal, or 1 of 1 and -1"
        ),
    ] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Of anomalies: the file has no labels, and every row is normal.")
    ] = False,
    nu: Annotated[
        float | None,
        typer.Option(
            help="Of anomalies: at most this share of the training rows may lie outside.", show_default="0.05"
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Training method; see: sparsegen list methods.",
            show_default="slmc; slmo for anomalies, slmr for values",
        ),
    ] = None,
    vectors: Annotated[
        int | None,
        typer.Option(
            help="Number of expansion vectors: flash and time grow with it.", show_default="16, or 3 per class"
        ),
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(help="Instead: share of the full SVM's support vectors, such as 0.05.", show_default=False),
    ] = None,
    kernel: Annotated[str | None, typer.Option(help="Kernel; see: sparsegen list kernels.", show_default="rbf")] = None,
    gamma: Annotated[
        str | None,
        typer.Option(
            metavar="G|scale|auto",
            help="Kernel width; auto: by cross-validation.",
            show_default="auto; scale where not slmc",
        ),
    ] = None,
    C: Annotated[
        str | None,
        typer.Option(
            "--C",
            metavar="C|auto",
            help="Weight of errors; auto: by cross-validation.",
            show_default="auto; 1 where not slmc",
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="balanced|LABEL=W,...",
            help="Weight of a class's errors: balanced, by label, or JSON; others have 1.",
            show_default="1 for every class",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="accuracy|balanced|f1|auc|r2|mae",
            help="What gamma and C are chosen for; auc of anomalies, r2 or mae of values.",
            show_default="accuracy; balanced with --class-weight; auc; r2",
        ),
    ] = None,
    projection: Annotated[
        int | None,
        typer.Option(help="Learn a projection to this many values: smaller, for many features.", show_default=False),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="auto|standard|minmax|none",
            help="Feature scaling; exports take raw features. auto: by cross-validation with gamma, else standard.",
        ),
    ] = "auto",
    probability: Annotated[
        bool, typer.Option("--probability", help="Learn probabilities too: up to five more fits.")
    ] = False,
    test_size: Annotated[
        float | None, typer.Option(help="Share of the rows held out for the test.", show_default="0.25")
    ] = None,
    test_data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Test on this file instead.", show_default=False)
    ] = None,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Train by blocks of rows: Parquet files of any size, from 1 GiB on by itself."),
    ] = False,
    final: Annotated[
        bool, typer.Option("--final", help="After the test, train again on all rows; the accuracy is that before.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of split and training.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method, such as loss=hinge."),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the model goes.")] = Path("model.safetensors"),
    force: Force = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a model on labelled rows and test it on rows it has not seen."""
    exclude("--vectors", vectors, "--ratio", ratio)
    exclude("--features", features, "--drop", drop)
    exclude("--test-size", test_size, "--test-data", test_data)
    given = {
        "kernel": kernel,
        "gamma": None if gamma is None else number_or_word("gamma", gamma, ("scale", "auto")),
        "C": None if C is None else number_or_word("C", C, ("auto",)),
        "nu": nu,
        "n_vectors": vectors,
        "ratio": ratio,
        "class_weight": None if class_weight is None else _class_weight(class_weight),
        "projection": projection,
        "probability": probability or None,
    }
    parameters = {name: value for name, value in given.items() if value is not None}
    parameters |= _settings(settings or [], {**given, "random_state": seed})

    from sparsegen import data
    from sparsegen.data.normal import NORMAL, teller
    from sparsegen.data.streams import Wish, stream_if_large
    from sparsegen.files import require_writable
    from sparsegen.lowering.preview import preview
    from sparsegen.model.task import ANOMALY, CLASSIFICATION, task_named
    from sparsegen.training.tasks import train_for
    from sparsegen.training.train_stream import test_rows, train_stream

    wanted = task_named(task)
    is_detector = wanted.name == ANOMALY
    if unlabelled and not is_detector:
        raise OptionError("--unlabelled goes with --task anomaly: others learn from labels")
    if stream and wanted.name != CLASSIFICATION:
        raise OptionError(f"a model for {wanted.name} is trained in memory; leave --stream out")
    require_writable(output, force=force)
    with progress_bars():
        share: dict[str, Any] = {} if test_size is None else {"test_size": test_size}
        columns: dict[str, Any] = {"keep": column_names(features), "drop": column_names(drop), "missing": missing}
        about: dict[str, Any] = {
            "scale": scale,
            "seed": seed,
            "parameters": parameters,
            "metric": metric,
        }
        wish = Wish(label, labels, group=group, **columns)
        may_stream = wanted.name == CLASSIFICATION and normal is None
        rows = stream_if_large(data_file, wish, always=stream) if may_stream else None
        if rows is not None:
            test_set = None if test_data is None else test_rows(test_data, label, rows)
            report, test_set = train_stream(rows, test_set, final=final, method=method or "slmc", **share, **about)
        else:
            train_set, test_set = data.read_train_and_test(
                data_file,
                label,
                test_path=test_data,
                seed=seed,
                group=group,
                has_classes=wanted.has_classes,
                is_normal=teller(data_file.name, normal) if is_detector else None,
                label_of_all=(normal or NORMAL) if unlabelled else None,
                **share,
                **columns,
            )
            report = train_for(wanted.name, train_set, test_set, method=method, final=final, normal=normal, **about)
            test_set = report.test_set if is_detector else test_set
        report.model.save(output, force=force)
        integers: dict[str, Any] = dict(preview(report.tested, test_set))
    PRINTERS[wanted.name](report, integers, output, as_json, verbose=verbose)


def _class_weight(text: str) -> str | dict[str, float]:
    """Return ``balanced``, or the weights of ``LABEL=W,...`` or of a JSON object by label."""
    if text == "balanced":
        return text
    if text.lstrip().startswith("{"):
        try:
            pairs = json.loads(text, object_pairs_hook=list)
        except (ValueError, RecursionError):
            raise OptionError(f'--class-weight {text!r} is no JSON object such as {{"tap": 2}}') from None
    else:
        pairs = [(label, weight) for label, _, weight in (part.rpartition("=") for part in text.split(","))]
    weights: dict[str, float] = {}
    for label, weight in pairs:
        if label in weights:
            raise OptionError(f"--class-weight {text!r} names {label!r} twice")
        try:
            weights[label] = float(weight)
        except (TypeError, ValueError):
            raise OptionError(
                f"--class-weight {text!r} must be balanced, LABEL=WEIGHT,... or JSON, such as tap=2,shake=0.5"
            ) from None
    return weights


def _settings(texts: list[str], taken: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of ``--set NAME=VALUE``; those in ``taken`` have options of their own."""
    values: dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise OptionError(f"--set {text!r} must be NAME=VALUE, such as --set loss=hinge")
        if name in taken or name in values:
            reason = "is given twice" if name in values else "has an option of its own; see: sparsegen train --help"
            raise OptionError(f"--set {text!r}: {name} {reason}")
        try:
            values[name] = json.loads(value)
        except (ValueError, RecursionError):
            values[name] = value
    return values
