"""--part, --clock, --max-flash, --max-ram and --max-ms as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_models import SMALL, model, rows

from sparsegen.budget.parts import PARTS
from sparsegen.cli.limits import parse_limits
from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError

MODEL = SMALL["binary_rbf"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("limits")
    MODEL.save(folder / "m.safetensors")
    lines = [
        ",".join(map(str, row)) + f",{label}"
        for row, label in zip(rows(MODEL), MODEL.predict(rows(MODEL)), strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(['width,"a ""quoted"" */ name",größe,label', *lines]) + "\n")
    return folder


def require(device):
    if DEVICES[device].missing() is not None:
        pytest.skip(f"{device}: {DEVICES[device].missing()}")


def test_a_part_sets_device_clock_and_memory(run, folder):
    require("cortex-m3")
    code, out, err = run("bench", folder / "m.safetensors", "--part", "stm32f103c8t6", "--dtype", "q7", "--json")
    assert (code, err) == (0, "")
    (cost,) = json.loads(out)
    assert (cost["device"], cost["profile"]["part"], cost["profile"]["clock_hz"]) == ("cortex-m3", "STM32F103C8", 72e6)
    assert cost["is_estimate"] and cost["cycles"] is None
    assert cost["milliseconds"] == cost["estimate"]["cycles"] / 72_000
    slower = json.loads(
        run(
            "bench", folder / "m.safetensors", "--part", "stm32f103c8", "--clock", "8MHz", "--dtype", "q7", "--json"
        ).out
    )[0]
    assert slower["milliseconds"] == pytest.approx(9 * cost["milliseconds"])


def test_a_part_with_another_core_has_its_timing(run, folder):
    require("cortex-m0plus")
    shown = run("bench", folder / "m.safetensors", "--part", "stm32f030f4", "--dtype", "q7").out
    assert shown.startswith("one prediction on STM32F030F4 at 48 MHz, q7; ")
    assert "~ cortex-m0plus, 48 MHz: an estimate: " in shown
    assert " cycles if memory answers without wait states (slower flash takes longer), by cycles of each " in shown
    assert "(DDI 0432C, table 3-1), with the single-cycle multiplier; compared with no real device" in shown


def test_cycles_of_an_avr_part_are_exact(run, folder):
    require("atmega328p")
    code, out, _ = run("bench", folder / "m.safetensors", "--part", "atmega168", "--dtype", "q7", "--json")
    (cost,) = json.loads(out)
    assert code == 0 and not cost["is_estimate"] and cost["estimate"] is None
    assert cost["milliseconds"] == cost["cycles"] / 20_000
    assert cost["ram_share"] == (cost["ram"] + cost["input_bytes"]) / 1024


@pytest.mark.parametrize(
    ("limit", "most", "told"),
    [
        ("--max-flash", "100", "bytes of flash, and the budget is 100; use fewer"),
        ("--max-ram", "8", "bytes of RAM, and the budget is 8; use fewer"),
        (
            "--max-ms",
            "1us",
            "ms, and the budget is 0.001 ms (time: a slow-side estimate of the slowest measured row at 64 MHz); use",
        ),
    ],
)
def test_what_is_over_the_budget_is_not_exported_and_said_by_bench(run, folder, tmp_path, limit, most, told):
    require("cortex-m4f")
    small = folder / "m.safetensors"
    where = "the model is over its budget on device cortex-m4f (nRF52832): with its input it needs "
    for options in (["--part", "nrf52832"], ["--device", "cortex-m4f"]):
        code, out, err = run("bench", small, *options, limit, most)
        assert code == 1 and "cortex-m4f" in out
        assert err.startswith(f"error: {where}") and told in err and err.count("\n") == 1
        code, out, err = run("export", small, *options, limit, most, "-o", tmp_path / "out")
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {where}") and told in err and err.count("\n") == 1
        assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_what_fits_is_exported_and_its_cost_is_told(run, folder, tmp_path):
    require("cortex-m4f")
    small, limits = folder / "m.safetensors", ["--max-flash", "4K", "--max-ram", "1K", "--max-ms", "1ms"]
    code, out, err = run("export", small, "--part", "nrf52832", "--dtype", "q7", *limits, "-o", tmp_path)
    assert (code, err) == (0, "")
    assert (
        "fits cortex-m4f, q7: " in out
        and " ms at 64 MHz if memory has no wait states" in out
        and "if memory answers without wait" in out
    )
    document = json.loads(
        run("export", small, "--part", "nrf52832", "--dtype", "q7", *limits, "-o", tmp_path, "--json").out
    )
    assert document["cost"]["budget"] == {"flash": 4096, "ram": 1024, "milliseconds": 1.0}
    assert document["cost"]["problem"] is None
    assert "cost" not in json.loads(run("export", small, "--dtype", "q7", "-o", tmp_path, "--json").out)


def test_a_part_too_small_is_refused_without_a_budget(run, folder, tmp_path):
    require("attiny85")
    model([("rbf", {"gamma": 0.1})], 120, 3, (0, 1)).save(folder / "large.safetensors")
    code, out, err = run("export", folder / "large.safetensors", "--part", "attiny25", "-o", tmp_path)
    assert (code, out) == (2, "") and err.startswith("error: the model does not fit device attiny85 (ATtiny25): it ")
    assert not list(tmp_path.iterdir())


def test_a_device_that_tells_no_time_promises_none(run, folder):
    require("host")
    code, _, err = run("bench", folder / "m.safetensors", "--device", "host", "--max-ms", "1s")
    assert code == 1
    assert "device host does not tell the milliseconds that a prediction needs, so that the budget cannot" in err
    code, _, err = run("bench", folder / "m.safetensors", "--device", "host", "--clock", "1GHz")
    assert code == 2 and "host cannot be given a clock: it runs in real time; choose a microcontroller" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--part", "stm32f103c9"], "there is no part 'stm32f103c9' (did you mean"),
        (["--part", "rp2040", "--device", "cortex-m3"], "--part (RP2040) is measured on device cortex-m0plus; leave"),
        (["--max-flash", "4Q"], "--max-flash: '4Q' is no number of bytes; write it as 4096"),
        (["--max-ram", "lots"], "--max-ram: 'lots' is no number of bytes"),
        (["--max-ms", "1h"], "--max-ms: '1h' is no time"),
        (["--clock", "fast"], "--clock: 'fast' is no clock frequency"),
    ],
)
@pytest.mark.parametrize("command", ["bench", "export"])
def test_bad_limits_are_one_sentence(run, folder, tmp_path, command, arguments, sentence):
    output = ["-o", tmp_path] if command == "export" else []
    code, out, err = run(command, folder / "m.safetensors", *arguments, *output)
    assert (code, out) == (2, "")
    assert sentence in err and err.count("\n") == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [["--max-flash", "4K"], ["--clock", "8MHz"]])
def test_an_export_for_no_device_has_no_cost(run, folder, tmp_path, limit):
    code, _, err = run("export", folder / "m.safetensors", *limit, "-o", tmp_path)
    assert code == 2 and "what a prediction costs depends on the device; give --part or --device too" in err


def test_a_part_may_be_named_with_its_own_device():
    limits = parse_limits("rp2040", None, None, None, None)
    assert limits.devices(["cortex-m0plus"]) == limits.devices(None) == ["cortex-m0plus"]
    assert parse_limits(None, None, None, None, None).devices(["host"]) == ["host"]
    with pytest.raises(OptionError, match="leave --device out"):
        limits.devices(["cortex-m0plus", "host"])


def test_parts_are_listed(run):
    lines = run("list", "parts").out
    assert all(name in lines for name in PARTS)
    assert "│ STM32F103C8   │ cortex-m3" in lines and "│ 72 MHz" in lines and "│ 64 KB" in lines
    entries = json.loads(run("list", "parts", "--json").out)
    assert {"name": "RP2040", "device": "cortex-m0plus", "clock_hz": 133_000_000, "flash_bytes": 2 << 20,
            "ram_bytes": 264 << 10} in entries  # fmt: skip


def test_accuracy_stands_beside_cost(run, folder):
    require("cortex-m3")
    options = ("--device", "cortex-m3", "--dtype", "q7")
    shown = run("bench", folder / "m.safetensors", *options, "--data", folder / "rows.csv").out
    assert "accuracy" in shown and "%" in shown.split("cortex-m3")[1].splitlines()[0]
    assert "accuracy" not in run("bench", folder / "m.safetensors", *options).out


@pytest.mark.parametrize("command", ["bench", "verify", "export"])
def test_auto_is_a_format_everywhere(run, folder, tmp_path, command):
    require("cortex-m3")
    small, data = folder / "m.safetensors", folder / "rows.csv"
    more = {"verify": [data, "--device", "cortex-m3"], "bench": ["--device", "cortex-m3"], "export": ["-o", tmp_path]}
    for loss, dtype in (("100", "q7c8"), ("-101", "f32")):
        ended = run(
            command, small, *more[command], "--dtype", "auto", "--max-loss", loss, "--calibrate", data, "--json"
        )
        document = json.loads(ended.out)
        assert (document if command == "export" else document[0])["dtype"] == dtype
    ended = run(command, small, *more[command], "--max-loss", "1")
    assert ended.code == 2 and "--max-loss goes with --dtype auto; give both or neither" in ended.err
