"""What each command prints: a table for people, or one JSON document for machines."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sparsegen.arrays import Array
from sparsegen.cli.console import or_dash, percent, print_facts, print_json, print_table, print_warnings, width
from sparsegen.cli.costs import cost_document, cost_facts, device_cells, device_document
from sparsegen.data.checks import Labels
from sparsegen.demo import DemoRow
from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError, SparsegenError, nearest
from sparsegen.files import write_atomic
from sparsegen.firmware.boards import BOARDS
from sparsegen.firmware.flash import Built
from sparsegen.kernels import KERNELS
from sparsegen.lowering.lowered import Lowered
from sparsegen.methods import METHODS
from sparsegen.model import SparseModel
from sparsegen.model.draw import as_text
from sparsegen.targets import TARGETS, Export
from sparsegen.training.choose import SearchResult
from sparsegen.training.train import TrainingReport
from sparsegen.verify import Verdict


def print_training(report: TrainingReport, path: Path, as_json: bool) -> None:
    """Print what was trained, how good it is and how large it will be."""
    model = report.model
    table_bytes, flaw = _table_bytes(model)
    warnings = [*report.warnings, *flaw]
    print_warnings(warnings)
    if as_json:
        document = {
            "model": str(path),
            "method": model.card["method"],
            "accuracy": report.accuracy,
            "train_rows": report.train_rows,
            "test_rows": report.test_rows,
            "vectors": model.n_vectors,
            "features": model.n_features,
            "classes": list(model.classes),
            "table_bytes": table_bytes,
            "seconds": round(report.seconds, 3),
            "search": None if report.search is None else report.search.as_json(),
            "warnings": warnings,
        }
        print_json(document)
        return
    facts = [
        ("method", model.card["method"]),
        ("test accuracy", f"{percent(report.accuracy)} of {report.test_rows} rows"),
        ("trained on", f"{report.train_rows} rows, {model.n_features} features, {len(model.classes)} classes"),
        ("vectors", model.n_vectors),
        ("C tables", or_dash(table_bytes, lambda n: f"{n:,} bytes of flash, plus code")),
        ("time", f"{report.seconds:.1f} s"),
    ]
    if report.search is not None:
        facts.append(("chosen", _search_words(report.search)))
        _print_search(report.search)
    print_facts(f"saved to {path}", facts)


def _table_bytes(model: SparseModel) -> tuple[int | None, list[str]]:
    """Return the bytes of constants in C, or a warning where there is no C for the model."""
    try:
        return TARGETS["c"].export(model, "model").table_bytes, []
    except SparsegenError as error:
        return None, [f"the model cannot be exported as C: {error}"]


def _search_words(search: SearchResult) -> str:
    pairs = ", ".join(f"{name} {value:g}" for name, value in search.chosen.items())
    return f"{pairs} (best of {len(search.candidates)}, {search.folds}-fold cross-validation on {search.rows} rows)"


def _print_search(search: SearchResult) -> None:
    names = tuple(search.chosen)
    rows = [
        (*(f"{parameters[name]:g}" for name in names), percent(accuracy), "chosen" * (parameters == search.chosen))
        for parameters, accuracy in search.candidates
    ]
    print_table("cross-validation", (*names, "accuracy", ""), rows, text=0)


def print_predictions(model: SparseModel, X: Array, y: Labels | None, path: Path | None, as_json: bool) -> None:
    """Print one line per row, the label and then the scores; or write them to a CSV and print a summary."""
    labels, scores = model.predict(X).tolist(), model.scores(X).tolist()
    if path is None and as_json:
        print(json.dumps({"labels": labels, "scores": scores}, ensure_ascii=False))
        return
    names = [str(c) for c in model.classes] if model.n_outputs > 1 else [str(model.classes[1])]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", *(f"score_{name}" for name in names)])
    writer.writerows([label, *row] for label, row in zip(labels, scores, strict=True))
    if path is None:
        sys.stdout.write(text.getvalue())
        return
    write_atomic(path, text.getvalue().encode())
    accuracy = None if y is None else float(np.mean(np.array(labels).astype(str) == y.astype(str)))
    if as_json:
        print_json({"output": str(path), "rows": len(labels), "accuracy": accuracy})
    else:
        correct = "" if accuracy is None else f", {percent(accuracy)} as labelled in the file"
        print(f"wrote {path}: {len(labels)} rows{correct}")


def print_export(exported: Export, lowered: Lowered, folder: Path, as_json: bool) -> None:
    """Print what was written and how to use it."""
    files = [str(folder / name) for name in exported.files]
    if as_json:
        document = {"files": files, "dtype": lowered.format.dtype, "table_bytes": exported.table_bytes}
        print_json({**document, "promises": dict(lowered.promises), "usage": exported.usage})
        return
    for file in files:
        print(f"wrote {file}")
    print(f"{exported.table_bytes:,} bytes of tables, {lowered.format.dtype}")
    for subject, sentence in lowered.promises:
        print(f"{subject}: {sentence}")
    elsewhere = exported.runs_as == "c" and folder != Path()
    print(f"use: {f'cd {shlex.quote(str(folder))} && ' if elsewhere else ''}{exported.usage}")


def print_verdicts(verdicts: Sequence[Verdict], as_json: bool) -> None:
    """Print the comparison of each device with Python."""
    if as_json:
        print_json([{**asdict(verdict), "ok": verdict.ok} for verdict in verdicts])
        return
    columns = ("device", "result", "rows", "mis-\nmatches", "|score\ndifference|", "label of\nmodel", "accuracy")
    for dtype in dict.fromkeys(v.dtype for v in verdicts):
        rows = [
            (
                v.device, "ok" if v.ok else "DIFFERS", v.rows, v.mismatches, f"{v.max_difference:.2e}",
                or_dash(v.same_labels, percent), or_dash(v.accuracy, percent),
            )
            for v in verdicts
            if v.dtype == dtype
        ]  # fmt: skip
        against = "Python" if dtype == "f32" else "its simulator, bit by bit"
        print_table(f"{verdicts[0].target} export ({dtype}) against {against}", columns, rows, text=2)


def print_firmware(
    built: Built, lines: Sequence[str] | None, folder: Path | None, port: str | None, as_json: bool
) -> None:
    """Print how large the firmware is, and what it said in the emulator or how to hear it on the board."""
    board = built.board
    if as_json:
        sizes = {"flash": built.flash, "ram": built.ram}
        print_json({"board": board.name, **sizes, "folder": None if folder is None else str(folder), "serial": lines})
        return
    print(
        f"{board.name}: {built.flash:,} of {board.flash_bytes:,} bytes of flash, {built.ram:,} of {board.ram_bytes:,} "
        "bytes of RAM, examples included"
    )
    if folder is not None:
        print(f"files in {folder}: make, make emulate, make size and make flash work there")
    if lines is None:
        print(f"flashed; its serial line ({port or 'USB'}, 115200 baud) tells the results after a reset")
    for line in lines or ():
        print(line)


def print_card(model: SparseModel, images: Array | None, as_json: bool) -> None:
    """Print the card, and the vectors where they are images."""
    facts = {
        "task": model.task,
        "kernels": [{"name": k.name, **dict(k.params)} for k in model.kernels],
        "vectors": model.n_vectors,
        "features": model.n_features,
        "projection": None if model.transform.projection is None else len(model.transform.projection),
        "classes": list(model.classes),
        "sha256": model.sha256,
    }
    card = {**facts, **model.card, **facts}  # the facts come first, and no card of a stranger's can deny them
    if as_json:
        print_json(card)
        return
    if isinstance(search := card.get("search"), dict):
        card["search"] = {key: search.get(key) for key in ("chosen", "rows", "folds")}  # the rest: --json
    print_facts("model card", [(key.replace("_", " "), _words(value)) for key, value in card.items()])
    if images is not None:
        print(as_text(images, width()))


def _words(value: Any, most: int = 400) -> str:
    """Return a card's value as a person would write it, not as JSON."""
    if isinstance(value, dict):
        text = ", ".join(f"{key} {_words(item)}" for key, item in value.items() if item is not None)
    elif isinstance(value, list):
        text = ", ".join(_words(item) for item in value)
    else:
        text = "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= most else f"{text[:most]} ..."


def print_list(what: str, as_json: bool) -> None:
    """Print the entries of one registry."""
    lists: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "methods": lambda: [{"name": name, "what": entry.summary} for name, entry in METHODS.items()],
        "kernels": lambda: [
            {"name": name, "what": entry.formula, "parameters": ", ".join(entry.parameters) or "none"}
            for name, entry in KERNELS.items()
        ],
        "targets": lambda: [{"name": name, "what": entry.description} for name, entry in TARGETS.items()],
        "devices": lambda: [device_document(entry) for entry in DEVICES.values()],
        "boards": lambda: [
            {"name": name, "device": entry.device, "what": entry.description, "missing": entry.missing()}
            for name, entry in BOARDS.items()
        ],
    }
    if what not in lists:
        raise OptionError(f"there is no list of {what!r}{nearest(what, lists)}; choose one of: {', '.join(lists)}")
    entries = lists[what]()
    if as_json:
        print_json(entries)
        return
    if what == "devices":
        entries = [device_cells(entry) for entry in entries]
    if what == "boards":
        reasons = [entry.pop("missing") for entry in entries]
        entries = [
            {**e, "runs here": "yes" if r is None else f"no: {r}"} for e, r in zip(entries, reasons, strict=True)
        ]
    print_table(what, tuple(entries[0]), [tuple(entry.values()) for entry in entries], text=len(entries[0]))


def print_demo(rows: Sequence[DemoRow], folder: Path, as_json: bool) -> None:
    """Print one table with a column per model: accuracy, size, cost on each device, and whether devices agree."""
    if as_json:
        print_json([_demo_document(row) for row in rows])
        return
    facts = [_demo_facts(row) for row in rows]
    names = list(dict.fromkeys(name for column in facts for name in column))
    shown = [(name, *(column.get(name, "not run") for column in facts)) for name in names]
    title = f"digits: {rows[0].report.test_rows} test rows; files in {folder}"
    print_table(title, ("", *(row.title for row in rows)), shown)
    if not rows[0].costs:
        print("no compiler or emulator was found; install them with: pip install 'sparsegen[devices]'")


def _demo_facts(row: DemoRow) -> dict[str, str]:
    """Return what the demo's table says of one model, line by line."""
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


def _demo_document(row: DemoRow) -> dict[str, Any]:
    return {
        "model": row.title,
        "accuracy": row.accuracy,
        "vectors": row.report.model.n_vectors,
        "table_bytes": row.table_bytes,
        "costs": [cost_document(cost) for cost in row.costs],
        "verdicts": [{**asdict(v), "ok": v.ok} for v in row.verdicts],
    }
