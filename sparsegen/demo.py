"""The whole path on scikit-learn's digits: train, export, compile, verify, measure, beside a full SVC."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparsegen import data
from sparsegen.bench import Cost, bench
from sparsegen.files import write_all
from sparsegen.registry import DEVICES, TARGETS
from sparsegen.training import TrainingReport, train
from sparsegen.verify import Verdict, verify

DEVICE_ORDER = ("cortex-m4f", "cortex-m0plus", "rv32imc", "host")
SLMC_PARAMETERS = {"n_vectors": 30, "projection": 10, "C": 3.0}
SVC_PARAMETERS = {"C": 10.0}


@dataclass(frozen=True)
class DemoRow:
    """One model of the demo's table."""

    title: str
    report: TrainingReport
    table_bytes: int
    costs: list[Cost]
    verdicts: list[Verdict]


def run_demo(folder: Path) -> list[DemoRow]:
    """Write a trained, exported and verified digits model to ``folder`` and return what the table shows."""
    from sklearn.datasets import load_digits

    digits: Any = load_digits()
    whole = data.from_arrays(digits.data, digits.target, source="digits")
    train_set, test_set = data.split(whole, 1 / 3, seed=0)
    slmc = train(train_set, test_set, scale="none", parameters=dict(SLMC_PARAMETERS))
    svc = train(train_set, test_set, method="svm", scale="none", parameters=dict(SVC_PARAMETERS))
    files = {"digits.safetensors": slmc.model.to_bytes()}
    for target in ("c", "onnx"):
        files |= TARGETS[target].export(slmc.model, "digits").files
    write_all(folder, files)
    devices = [name for name in DEVICE_ORDER if DEVICES[name].missing() is None]
    rows = []
    for title, report, checked in (
        ("sparsegen SLMC", slmc, devices),
        ("scikit-learn SVC", svc, devices[:1]),
    ):
        verdicts = verify(report.model, test_set.X, test_set.y, devices=checked, name="digits") if checked else []
        if report is slmc:
            verdicts += verify(report.model, test_set.X, test_set.y, target="onnx", name="digits")
        costs = bench(report.model, test_set.X[:8], devices=devices, name="digits") if devices else []
        table_bytes = TARGETS["c"].export(report.model, "digits").table_bytes
        rows.append(DemoRow(title, report, table_bytes, costs, verdicts))
    return rows
