"""``sparsegen compress``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import or_dash, print_facts, print_json, progress_bars
from sparsegen.cli.options import Force, GroupColumn, Json, LabelColumn, exclude, number_or_word
from sparsegen.errors import SparsegenError
from sparsegen.promised import percent, points

if TYPE_CHECKING:
    from sparsegen.model import SparseModel
    from sparsegen.training.compress import Compression


@app.command()
def compress(
    model_file: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A .safetensors model, a model file of LIBSVM, or an ONNX file with an SVMClassifier.",
            show_default=False,
        ),
    ],
    vectors: Annotated[int, typer.Option(help="Number of expansion vectors to keep.", show_default=False)],
    data_file: Annotated[
        Path,
        typer.Option("--data", metavar="DATA", help="Labelled rows: CSV, NPZ or LIBSVM file.", show_default=False),
    ],
    method: Annotated[
        str,
        typer.Option(
            metavar="slmc|mrs|rs",
            help="rs: the reduced set alone; mrs: its coefficients trained on the rows; slmc: its vectors too.",
        ),
    ] = "slmc",
    label: LabelColumn = None,
    group: GroupColumn = None,
    C: Annotated[
        str, typer.Option("--C", metavar="C|auto", help="Weight of errors; auto: by cross-validation.")
    ] = "auto",
    test_size: Annotated[
        float | None, typer.Option(help="Share of the rows held out for the test.", show_default="0.25")
    ] = None,
    test_data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Test on this file instead.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of split and training.")] = 0,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the model goes.")] = Path("model.safetensors"),
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Rewrite a fitted support vector machine on fewer vectors, and say what that loses."""
    exclude("--test-size", test_size, "--test-data", test_data)

    from sparsegen import data
    from sparsegen.data.data_file import TEST_SIZE
    from sparsegen.files import require_writable
    from sparsegen.model.readers import read_model
    from sparsegen.training.compress import compress as compressed

    weight = number_or_word("C", C, ("auto",))
    require_writable(output, force=force)
    with progress_bars():
        share = TEST_SIZE if test_size is None else test_size
        train_set, test_set = data.read_train_and_test(
            data_file, label, test_path=test_data, test_size=share, seed=seed, group=group
        )
        original = read_model(model_file, train_set.X.shape[1])
        sets = [
            data.match_features(rows, original.card.get("feature_names"), original.n_features)
            for rows in (train_set, test_set)
        ]
        found = compressed(original, sets[0], sets[1], vectors, method=method, C=weight, seed=seed)
        found.model.save(output, force=force)
    print_compression(found, output, as_json)


def print_compression(found: Compression, path: Path, as_json: bool) -> None:
    """Print what became of the machine, and what is lost on the held-out rows."""
    before, after = _table_bytes(found.original), _table_bytes(found.model)
    if as_json:
        print_json(
            {
                "model": str(path),
                "method": found.method,
                "test_rows": found.result.rows,
                "vectors": found.model.n_vectors,
                "accuracy": found.accuracy,
                "lost_points": 100 * found.loss,
                "table_bytes": after,
                "original": {**found.as_json(), "table_bytes": before},
            }
        )
        return
    kept = f"{percent(found.agreement)} of {found.result.rows} rows keep the label that the original gives them"
    facts = [
        ("vectors", f"{found.original.n_vectors} -> {found.model.n_vectors}"),
        ("C tables", f"{_bytes(before)} -> {_bytes(after)} of flash in f32, plus code"),
        ("test accuracy", f"{found.result}, all held out here"),
        (
            "before",
            f"{percent(found.original_accuracy)} of the same rows, which the original may have been trained on, and "
            "through it the start",
        ),
        ("lost", f"{points(100 * found.loss)} points"),
    ]
    if found.is_trained:
        facts.append(("reduced set alone", f"{percent(found.reduced_accuracy)} of the same rows"))
    facts.append(("agreement", kept))
    print_facts(f"saved to {path}", facts)


def _bytes(count: int | None) -> str:
    return or_dash(count, lambda n: f"{n:,} bytes")


def _table_bytes(model: SparseModel) -> int | None:
    """Return the bytes of a model's tables; ``None`` where it cannot be exported as it is."""
    from sparsegen.targets import c_table_bytes

    try:
        return c_table_bytes(model)
    except SparsegenError:
        return None
