"""The whole path on scikit-learn's digits: train, export, verify, measure, in float32 and q7, next to a full SVC."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparsegen import data
from sparsegen.bench import Cost, bench_exports
from sparsegen.devices import DEVICES
from sparsegen.files import require_folder, write_all
from sparsegen.lowering.agreement import agreement
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.integer_program import IntegerProgram
from sparsegen.targets import PORTABLE, TARGETS
from sparsegen.training.report import TrainingReport
from sparsegen.training.train import train
from sparsegen.verify import Exports, Verdict, verify, verify_exports

DEVICE_ORDER = ("cortex-m4f", "cortex-m0plus", "rv32imc", "host")
SLMC_PARAMETERS = {"n_vectors": 30, "projection": 10, "C": 3.0, "gamma": "scale"}
SVC_PARAMETERS = {"C": 10.0}


@dataclass(frozen=True)
class DemoRow:
    """One model of the demo's table."""

    title: str
    report: TrainingReport
    accuracy: float
    """Share of the test rows labelled correctly in this number format."""
    table_bytes: int
    costs: list[Cost]
    verdicts: list[Verdict]


def run_demo(folder: Path, *, force: bool = False) -> list[DemoRow]:
    """Write a trained, exported and verified digits model to ``folder`` and return what the table shows."""
    from sklearn.datasets import load_digits

    require_folder(folder)
    digits: Any = load_digits()
    whole = data.from_arrays(digits.data, digits.target, source="digits")
    train_set, test_set = data.split(whole, 1 / 3, seed=0)
    slmc = train(train_set, test_set, scale="none", parameters=dict(SLMC_PARAMETERS))
    svc = train(train_set, test_set, method="svm", scale="none", parameters=dict(SVC_PARAMETERS))
    in_c, in_onnx = (TARGETS[target].export(slmc.model, "digits") for target in ("c", "onnx"))
    files = {"digits.safetensors": slmc.model.to_bytes(), **in_onnx.files, **in_c.files}
    write_all(folder, files, gate=in_c.gate, force=force)
    devices = [name for name in DEVICE_ORDER if DEVICES[name].missing() is None]
    rows = []
    q7 = Format("q7", "raw-uint8", rows=train_set.X, labels=train_set.y)
    for title, report, numbers, checked in (
        ("SLMC", slmc, FLOAT32, devices),
        ("SLMC, q7", slmc, q7, devices),
        ("SVC", svc, FLOAT32, devices[:1]),
    ):
        X, y = test_set.X, test_set.y
        exports = Exports(report.model, "c", "digits", numbers)
        verdicts = verify_exports(exports, X, y, checked) if checked else []
        if report is slmc and numbers is FLOAT32:
            verdicts += verify(report.model, X, y, target="onnx", name="digits")
        costs = bench_exports(exports, X[:8], devices) if devices else []
        export = exports[PORTABLE]
        accuracy = report.accuracy
        if isinstance(export.program, IntegerProgram):
            accuracy = float(agreement(export.program, report.model, X, y).accuracy or 0.0)
        rows.append(DemoRow(title, report, accuracy, export.table_bytes, costs, verdicts))
    return rows
