"""``sparsegen demo``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsegen.cli.app import app
from sparsegen.cli.console import print_json, print_table, progress_bars, say
from sparsegen.cli.costs import cost_document, cost_facts
from sparsegen.cli.options import Force, Json, Quiet
from sparsegen.cli.verdicts import makers, ties, verdict_document
from sparsegen.promised import percent

if TYPE_CHECKING:
    from sparsegen.demo import DemoRow


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")] = Path(
        "sparsegen-demo"
    ),
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train on scikit-learn's digits, export C and ONNX, compile, verify and measure, beside a full SVC."""
    from sparsegen.demo import run_demo

    with progress_bars():
        rows = run_demo(output, force=force)
    print_demo(rows, output, as_json)
    if not all(verdict.ok for row in rows for verdict in row.verdicts):
        raise typer.Exit(1)


def print_demo(rows: Sequence[DemoRow], folder: Path, as_json: bool) -> None:
    """Print one table with a column per model: accuracy, size, cost on each device, and whether devices agree."""
    if as_json:
        print_json([_document(row) for row in rows])
        return
    facts = [_facts(row) for row in rows]
    names = list(dict.fromkeys(name for column in facts for name in column))
    shown = [(name, *(column.get(name, "not run") for column in facts)) for name in names]
    title = f"digits: {rows[0].report.test_rows} test rows; files in {folder}"
    print_table(title, ("", *(row.title for row in rows)), shown)
    say(f"accuracies: {'; '.join(f'{row.title} {_interval(row)}' for row in rows)}")
    for line in (*(f"{row.title}: {tie}" for row in rows for tie in ties(row.verdicts)), *_makers(rows)):
        say(line)
    if not rows[0].costs:
        say("no compiler or emulator was found; install them with: pip install 'sparsegen[devices]'")


def _interval(row: DemoRow) -> str:
    """Return the interval of a row's accuracy with its condition."""
    n = row.report.test_rows
    return row.report.result.on(round(row.accuracy * n), n).in_words()


def _makers(rows: Sequence[DemoRow]) -> list[str]:
    """Return who made the figures of each device: its costs, and its labels where only they were compared."""
    costs = [cost for row in rows for cost in row.costs]
    measured = {cost.device for cost in costs}
    return makers([*costs, *(v for row in rows for v in row.verdicts if v.device not in measured)])


def _facts(row: DemoRow) -> dict[str, str]:
    """Return what the table says of one model, line by line."""
    facts = {
        "accuracy": percent(row.accuracy),
        "vectors": str(row.report.model.n_vectors),
        "bytes of tables": f"{row.table_bytes:,}",
    }
    differing = {verdict.device: f"{verdict.mismatches} of {verdict.rows}" for verdict in row.verdicts}
    for cost in row.costs:
        facts |= cost_facts(cost)
        if cost.device in differing:
            facts[f"{cost.device}: labels differing"] = differing.pop(cost.device)
    return facts | {f"{device}: labels differing": text for device, text in differing.items()}


def _document(row: DemoRow) -> dict[str, Any]:
    return {
        "model": row.title,
        "accuracy": row.accuracy,
        "vectors": row.report.model.n_vectors,
        "table_bytes": row.table_bytes,
        "costs": [cost_document(cost) for cost in row.costs],
        "verdicts": [verdict_document(verdict) for verdict in row.verdicts],
    }
