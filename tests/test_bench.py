"""bench: what a prediction costs, with the user's rows or with the export's own examples."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from golden_models import SMALL, model, rows
from narrowing import a, known

from sparsegen.bench import Cost, bench
from sparsegen.devices import DEVICES, Measurement, Profile
from sparsegen.errors import DataError, OptionError
from sparsegen.lowering.formats import Format
from sparsegen.model.held_out import remember
from sparsegen.model.judged import Judged
from sparsegen.targets import TARGETS

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
    assert cost.table_bytes < known(cost.measurement.flash) < cost.table_bytes + 700
    assert 0 < known(cost.measurement.ram) < 200
    assert 100 < known(cost.measurement.instructions) < 1000
    assert cost.measurement.latency_us is None


def test_labelled_rows_tell_the_accuracy_beside_the_cost():
    require("cortex-m4f")
    X = rows(MODEL)
    y = MODEL.predict(X).copy()
    y[:3] = 1 - y[:3]
    remembered = replace(MODEL, card={"held_out": remember(X[:10], X[10:]), "accuracy": 0.7, "test_rows": 10})
    for dtype in ("f32", "q7"):
        (cost,) = bench(remembered, X[:20], y[:20], devices=["cortex-m4f"], numbers=Format(dtype))
        judged = a(Judged, cost.judged)
        right = known(judged.held_out)
        assert (judged.rows.rows, right.rows) == (20, 10)
        if dtype == "f32":
            assert (judged.rows.correct, right.correct) == (17, 7)
    assert bench(MODEL, X[:1], devices=["cortex-m4f"])[0].judged is None


def test_avr_costs():
    require("atmega328p")
    (cost,) = bench(MODEL, rows(MODEL), devices=["atmega328p"])
    cycles, worst = known(cost.measurement.cycles), known(cost.measurement.worst_cycles)
    assert 5000 < cycles <= worst < 50_000
    assert (cost.milliseconds, cost.worst_milliseconds) == (cycles / 16_000, worst / 16_000)
    assert cost.flash_share == known(cost.measurement.flash) / 32_768
    assert cost.ram_share == (known(cost.measurement.ram) + 12) / 2048
    assert cost.problem is None


@pytest.mark.parametrize("device", ["attiny85", "cortex-m3"])
def test_a_model_that_does_not_fit_is_measured_as_far_as_it_goes(device, monkeypatch):
    require(device)
    there = 8192
    monkeypatch.setattr(DEVICES[device], "profile", Profile("part", 8_000_000, there, 512))
    (cost,) = bench(model([("rbf", {"gamma": 0.1})], 500, 3, (0, 1)), devices=[device])
    assert known(cost.measurement.flash) > there and known(cost.flash_share) > 1
    needed = rf"it needs at least {cost.measurement.flash:,} bytes of flash, and there are {there:,}; use fewer"
    assert re.search(rf"^the model does not fit device {device} \(.*\): {needed}", known(cost.problem))


def test_too_little_ram_counts_the_input():
    part = Profile("part", 1_000_000, 1000, 100)
    fits, wide = (Cost("d", Measurement(10, 50, None, None), 4, part, n) for n in (50, 51))
    assert fits.problem is None and fits.ram_share == 1
    assert "it with its input needs at least 101 bytes of RAM, and there are 100; " in known(wide.problem)
    assert Cost("d", Measurement(10, None, None, None), 4, part, 101).problem is not None
    assert Cost("host", Measurement(10, 50, None, None), 4).problem is None


def test_worst_and_mean_instructions():
    require("cortex-m0plus")
    (cost,) = bench(MODEL, rows(MODEL), devices=["cortex-m0plus"])
    mean = known(cost.measurement.instructions)
    assert mean < known(cost.measurement.worst_instructions) < 2 * mean


def test_host_costs():
    require("host")
    (cost,) = bench(MODEL, devices=["host"], name="other")
    assert known(cost.measurement.latency_us) > 0
    assert cost.measurement.ram is None
    assert cost.made_by == DEVICES["host"].made_by(measuring=True)


def test_onnx_costs():
    require("onnxruntime")
    (cost,) = bench(MODEL, rows(MODEL), target="onnx", devices=["onnxruntime"])
    assert known(cost.measurement.flash) > cost.table_bytes


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
