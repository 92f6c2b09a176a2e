"""bench: what a prediction costs, with the user's rows or with the export's own examples."""

from __future__ import annotations

import pytest
from golden_models import SMALL, rows

from sparsegen.bench import bench
from sparsegen.errors import DataError, OptionError
from sparsegen.registry import DEVICES, TARGETS

MODEL = SMALL["binary_rbf"]


def require(device):
    if DEVICES[device].missing() is not None:
        pytest.skip(str(DEVICES[device].missing()))


@pytest.mark.parametrize("X", [None, rows(MODEL)], ids=["examples", "rows"])
def test_emulated_costs(X):
    require("cortex-m4f")
    (cost,) = bench(MODEL, X, devices=["cortex-m4f"])
    assert cost.device == "cortex-m4f"
    assert cost.table_bytes == TARGETS["c"].export(MODEL, "m").table_bytes
    assert cost.table_bytes < cost.measurement.flash < cost.table_bytes + 700
    assert 0 < cost.measurement.ram < 200
    assert 100 < cost.measurement.instructions < 1000
    assert cost.measurement.latency_us is None


def test_host_costs():
    require("host")
    (cost,) = bench(MODEL, devices=["host"], name="other")
    assert cost.measurement.latency_us > 0
    assert cost.measurement.ram is None


def test_onnx_costs():
    require("onnxruntime")
    (cost,) = bench(MODEL, rows(MODEL), target="onnx", devices=["onnxruntime"])
    assert cost.measurement.flash > cost.table_bytes


def test_all_devices_that_can_run_are_measured_in_order():
    names = [cost.device for cost in bench(MODEL)]
    assert names == [n for n in DEVICES if DEVICES[n].runs == "c" and DEVICES[n].missing() is None]


def test_same_figures_every_time():
    require("cortex-m0plus")
    assert bench(MODEL, devices=["cortex-m0plus"]) == bench(MODEL, devices=["cortex-m0plus"])


def test_bad_requests_are_one_sentence():
    with pytest.raises(OptionError, match="does not run onnx exports"):
        bench(MODEL, target="onnx", devices=["host"])
    with pytest.raises(DataError, match="takes rows of 3 features"):
        bench(MODEL, rows(MODEL)[:, :2], devices=["host"])
