"""How training a detector of anomalies went, in words and in JSON: printed by ``train``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsegen.cli.console import print_facts, print_json, print_warnings, say
from sparsegen.cli.training import c_tables, hint, print_search, search_words, size_facts
from sparsegen.promised import at_least, at_most_percent, percent

if TYPE_CHECKING:
    from sparsegen.model.detector_quality import DetectorQuality
    from sparsegen.training.anomalies import AnomalyReport


def print_anomaly_training(
    report: AnomalyReport,
    integers: Mapping[str, DetectorQuality],
    path: Path,
    as_json: bool,
    *,
    verbose: bool = False,
) -> None:
    """Print what was trained, how often it is wrong on each kind of rows and how large it will be."""
    table_bytes, problems = c_tables(report.model)
    warnings = [*report.warnings, *problems]
    print_warnings(warnings)
    if as_json:
        print_json(
            {**_document(report, integers), "model": str(path), "table_bytes": table_bytes, "warnings": warnings}
        )
        return
    if report.search is not None and verbose:
        print_search(report.search, at_least)
    print_facts(f"saved to {path}", _facts(report, integers, table_bytes))
    if (told := hint()) is not None:
        say(told)


def _document(report: AnomalyReport, integers: Mapping[str, DetectorQuality]) -> dict[str, Any]:
    model = report.model
    return {
        "method": model.card["method"],
        "normal": model.card["anomalies"]["normal"],
        "nu": model.card["anomalies"]["nu"],
        **report.result.document(),
        "train_rows": report.train_rows,
        "test_rows": report.test_rows,
        "final_rows": model.card.get("final_rows"),
        "integers": {name: part.document() for name, part in integers.items()},
        "vectors": model.n_vectors,
        "features": model.n_features,
        "seconds": round(report.seconds, 3),
        "search": None if report.search is None else report.search.as_json(),
    }


def _facts(
    report: AnomalyReport, integers: Mapping[str, DetectorQuality], table_bytes: int | None
) -> list[tuple[str, object]]:
    model = report.model
    about = model.card["anomalies"]
    facts: list[tuple[str, object]] = [
        ("method", model.card["method"]),
        *detection_facts(report.result, "rows held out"),
    ]
    if integers:
        seen = min(_rows(part) for part in integers.values())
        which = "these rows" if seen == report.test_rows else f"{seen} of these rows"
        figures = "; ".join(f"{name} {_figures(part)}" for name, part in integers.items())
        facts.append(("in integers", f"{figures}: on {which}, without rows to calibrate on"))
    rows = f"{report.train_rows} normal rows (label {about['normal']}), {model.n_features} features, nu {about['nu']:g}"
    facts.append(("trained on", rows))
    if report.is_final:
        final = f"{model.card['final_rows']} normal rows, those of the test included; the figures are those before"
        facts.append(("at last on", final))
    facts += size_facts(model, table_bytes, report.seconds)
    if report.search is not None:
        facts.append(("chosen", search_words(report.search, "accuracy")))
    return facts


def detection_facts(found: DetectorQuality, rows: str = "rows") -> list[tuple[str, object]]:
    """Return false alarms, detections and the area under the curve in words."""
    facts: list[tuple[str, object]] = [*found.lines(rows)]
    if found.area is not None:
        facts.append(("ROC area", found.area_in_words))
    return facts


def _figures(found: DetectorQuality) -> str:
    shares = [] if found.alarms is None else [f"false alarms {at_most_percent(found.alarms.share)}"]
    shares += [] if found.detections is None else [f"detected {percent(found.detections.share)}"]
    return ", ".join(shares)


def _rows(found: DetectorQuality) -> int:
    return sum(part.rows for part in (found.alarms, found.detections) if part is not None)
