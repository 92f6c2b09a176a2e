"""How training a regression went, in words and in JSON: printed by ``train``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsegen.cli.console import print_facts, print_json, print_warnings, say
from sparsegen.cli.training import c_tables, hint, print_search, search_words, size_facts
from sparsegen.promised import at_least, bound

if TYPE_CHECKING:
    from sparsegen.model.value_quality import ValueQuality
    from sparsegen.training.values import ValueReport


def print_value_training(
    report: ValueReport, integers: Mapping[str, ValueQuality], path: Path, as_json: bool, *, verbose: bool = False
) -> None:
    """Print what was trained, how far its values are off and how large it will be."""
    table_bytes, problems = c_tables(report.model)
    warnings = [*report.warnings, *problems]
    print_warnings(warnings)
    if as_json:
        print_json(
            {**_document(report, integers), "model": str(path), "table_bytes": table_bytes, "warnings": warnings}
        )
        return
    if report.search is not None and verbose:
        print_search(report.search, score)
    print_facts(f"saved to {path}", _facts(report, integers, table_bytes))
    if (told := hint()) is not None:
        say(told)


def score(value: float) -> str:
    """Return what a choice by cross-validation was for: R2, or the negative of an error."""
    return at_least(value)


def _document(report: ValueReport, integers: Mapping[str, ValueQuality]) -> dict[str, Any]:
    model = report.model
    return {
        "method": model.card["method"],
        "values": report.result.as_json(),
        "train_rows": report.train_rows,
        "test_rows": report.test_rows,
        "final_rows": model.card.get("final_rows"),
        "integers": {name: part.as_json() for name, part in integers.items()},
        "vectors": model.n_vectors,
        "features": model.n_features,
        "seconds": round(report.seconds, 3),
        "search": None if report.search is None else report.search.as_json(),
    }


def _facts(
    report: ValueReport, integers: Mapping[str, ValueQuality], table_bytes: int | None
) -> list[tuple[str, object]]:
    model, found = report.model, report.result
    facts: list[tuple[str, object]] = [("method", model.card["method"]), *quality_facts(found)]
    if integers:
        errors = ", ".join(f"{name} {bound(part.mae)}" for name, part in integers.items())
        seen = min(part.rows for part in integers.values())
        which = "these rows" if seen == found.rows else f"the first {seen} of these rows"
        facts.append(("in integers", f"mean error {errors} on {which}, without rows to calibrate on"))
    facts.append(("trained on", f"{report.train_rows} rows, {model.n_features} features"))
    if report.is_final:
        final = f"{model.card['final_rows']} rows, test rows included; the errors are those before"
        facts.append(("at last on", final))
    facts += size_facts(model, table_bytes, report.seconds)
    if report.search is not None:
        facts.append(("chosen", search_words(report.search, "r2")))
    return facts


def quality_facts(found: ValueQuality) -> list[tuple[str, object]]:
    """Return the errors of values in words, and those of the mean of the training rows."""
    facts: list[tuple[str, object]] = [
        ("test", f"{found.figures} on {found.rows} rows"),
        ("interval", found.in_words()),
    ]
    if found.mean_mae is not None:
        facts.append(("the mean alone", f"mean error {bound(found.mean_mae)}: one value for every row"))
    return facts
