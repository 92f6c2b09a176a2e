"""How training went, in words and in JSON: printed by ``train``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsegen.cli.classes import print_classes
from sparsegen.cli.console import or_dash, print_facts, print_json, print_table, print_warnings, say
from sparsegen.cli.probabilities import probability_facts
from sparsegen.errors import SparsegenError
from sparsegen.promised import percent

if TYPE_CHECKING:
    from sparsegen.model import SparseModel
    from sparsegen.promised import Accuracy
    from sparsegen.training.choose import SearchResult
    from sparsegen.training.report import TrainingReport


def print_training(
    report: TrainingReport, integers: Mapping[str, Accuracy], path: Path, as_json: bool, *, verbose: bool = False
) -> None:
    """Print what was trained, how good it is and how large it will be."""
    table_bytes, problems = c_tables(report.model)
    warnings = [*report.warnings, *problems]
    print_warnings(warnings)
    if as_json:
        print_json(
            {**_document(report, integers), "model": str(path), "table_bytes": table_bytes, "warnings": warnings}
        )
        return
    if report.search is not None and verbose:
        print_search(report.search, percent)
    print_classes(report.model.classes, report.confusion, every=verbose)
    print_facts(f"saved to {path}", _facts(report, integers, table_bytes))
    if (told := hint()) is not None:
        say(told)


def c_tables(model: SparseModel) -> tuple[int | None, list[str]]:
    """Return the bytes of tables that a model's C has, or why there is no C."""
    from sparsegen.targets import c_table_bytes

    try:
        return c_table_bytes(model), []
    except SparsegenError as error:
        return None, [f"the model cannot be exported as C: {error}"]


def _document(report: TrainingReport, integers: Mapping[str, Accuracy]) -> dict[str, Any]:
    model, found = report.model, report.confusion
    return {
        "method": model.card["method"],
        "accuracy": report.accuracy,
        "accuracy_interval": report.result.interval,
        "balanced_accuracy": found.balanced,
        "f1": found.f1,
        "train_rows": report.train_rows,
        "test_rows": report.test_rows,
        "test_groups": report.result.groups,
        "final_rows": model.card.get("final_rows"),
        "integers": {
            name: {"accuracy": part.share, "rows": part.rows, "accuracy_interval": part.interval}
            for name, part in integers.items()
        },
        "vectors": model.n_vectors,
        "features": model.n_features,
        "classes": list(model.classes),
        "per_class": found.by_class(model.classes),
        "confusion": found.matrix,
        "probabilities": model.card.get("probabilities"),
        "seconds": round(report.seconds, 3),
        "search": None if report.search is None else report.search.as_json(),
    }


def _facts(
    report: TrainingReport, integers: Mapping[str, Accuracy], table_bytes: int | None
) -> list[tuple[str, object]]:
    model, found, n = report.model, report.confusion, report.test_rows
    rows = f"{report.train_rows} rows, {model.n_features} features, {len(model.classes)} classes"
    facts: list[tuple[str, object]] = [("method", model.card["method"]), ("test accuracy", report.result)]
    if found.is_uneven:
        facts.append(("balanced", f"{percent(found.balanced)}: the mean recall of the classes"))
    if integers:
        shares = ", ".join(f"{name} {percent(part.share)}" for name, part in integers.items())
        seen = min(part.rows for part in integers.values())
        which = "these rows" if seen == n else f"the first {seen} of these rows"
        facts.append(("in integers", f"{shares} of {which}, without rows to calibrate on"))
    facts += probability_facts(model)
    facts.append(("trained on", rows))
    if report.is_final:
        final = f"{model.card['final_rows']} rows, test rows included; the accuracies are those before"
        facts.append(("at last on", final))
    facts += size_facts(model, table_bytes, report.seconds)
    if report.search is not None:
        facts.append(("chosen", search_words(report.search, "accuracy")))
    return facts


def size_facts(model: SparseModel, table_bytes: int | None, seconds: float) -> list[tuple[str, object]]:
    """Return how large a model is, and how long its training took."""
    return [
        ("vectors", model.n_vectors),
        ("C tables", or_dash(table_bytes, lambda n: f"{n:,} bytes of flash, plus code")),
        ("time", f"{seconds:.1f} s"),
    ]


def hint() -> str | None:
    """Return what else there is where nothing can run C; ``None`` where something can."""
    from sparsegen.devices import DEVICES

    if any(device.missing() is None for device in DEVICES.values() if device.runs == "c"):
        return None
    return "next: sparsegen export works as it is; verify and bench need: pip install 'sparsegen[devices]'"


def search_words(search: SearchResult, usual: str) -> str:
    """Return what a search has chosen, and on what; the metric is told unless it is the usual one."""
    from sparsegen.training.choose import as_text

    pairs = ", ".join(f"{name} {as_text(value)}" for name, value in search.chosen.items())
    best = f"best of {len(search.candidates)}" + ("" if search.metric == usual else f" by {search.metric}")
    rows = f"{search.rows} rows" + ("" if search.groups is None else f" in {search.groups} groups")
    tested = "one fold held out" if search.folds == 1 else f"{search.folds}-fold cross-validation"
    return f"{pairs} ({best}, {tested} on {rows})"


def print_search(search: SearchResult, show: Callable[[float], str]) -> None:
    """Print every trial of a search as a table."""
    from sparsegen.training.choose import as_text

    names = tuple(search.chosen)
    rows = [
        (*(as_text(parameters[name]) for name in names), show(score), "chosen" * (parameters == search.chosen))
        for parameters, score in search.candidates
    ]
    print_table("cross-validation", (*names, search.metric, ""), rows, text=0)
