"""The whole path, once, end to end: about half a minute, the slowest test of the suite."""

from __future__ import annotations

import subprocess

import pytest
from c_programs import any_compiler, compile_c
from narrowing import known

from sparsegen import demo
from sparsegen.devices import DEVICES
from sparsegen.model import SparseModel

LEAST_ACCURACY = 0.985


def test_demo_end_to_end(tmp_path, monkeypatch):
    devices = ("cortex-m4f", "host")
    for name in devices:
        if DEVICES[name].missing() is not None:
            pytest.skip(str(DEVICES[name].missing()))
    monkeypatch.setattr(demo, "DEVICE_ORDER", devices)
    slmc, q7, svc = demo.run_demo(tmp_path)

    assert slmc.report.model.card["accuracy"] >= LEAST_ACCURACY
    assert slmc.report.model.n_vectors == demo.SLMC_PARAMETERS["n_vectors"]
    evaluators = [name for name in ("onnx-reference", "onnxruntime") if DEVICES[name].missing() is None]
    assert [v.device for v in slmc.verdicts] == [*devices, *evaluators]
    assert all(v.made_by == DEVICES[v.device].made_by() for v in slmc.verdicts)
    verdicts = (*slmc.verdicts, *q7.verdicts, *svc.verdicts)
    assert all(v.ok and v.mismatches == 0 and known(v.accuracy) >= LEAST_ACCURACY for v in verdicts)
    assert q7.accuracy == known(q7.verdicts[0].accuracy) >= slmc.accuracy - 0.005
    costs, svc_costs = slmc.costs[0].measurement, svc.costs[0].measurement
    assert known(q7.costs[0].measurement.flash) < known(costs.flash) / 2
    assert [c.device for c in slmc.costs] == list(devices)
    assert slmc.table_bytes < svc.table_bytes / 20
    assert known(costs.flash) <= slmc.table_bytes + 700
    assert known(costs.instructions) < known(svc_costs.instructions) / 10

    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"digits.safetensors", "digits.c", "digits.h", "example_main.c", "digits.onnx"}
    assert SparseModel.load(tmp_path / "digits.safetensors") == slmc.report.model
    sources = [tmp_path / "digits.c", tmp_path / "example_main.c"]
    built = compile_c(any_compiler(), "-std=c99", "-O2", *sources, "-o", tmp_path / "example")
    assert built.returncode == 0, built.stderr
    assert b"self-test ok" in subprocess.run([tmp_path / "example"], capture_output=True, check=True).stdout
