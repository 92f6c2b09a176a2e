"""What every device promises, over the whole registry."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from sparsegen.devices import DEVICES, MEASURED_ROWS, thin
from sparsegen.devices._toolchain import compiler_name
from sparsegen.errors import DataError, OptionError, ToolError

C_DEVICES = [name for name in DEVICES if DEVICES[name].runs == "c"]


def available(name):
    device = DEVICES[name]
    reason = device.missing()
    if reason is not None:
        pytest.skip(f"{name}: {reason}")
    return device


def test_registry_holds_the_promised_devices():
    promised = "host cortex-m0plus cortex-m3 cortex-m4f cortex-m7 cortex-m33 rv32imc atmega328p attiny85"
    assert {*promised.split(), "onnxruntime", "onnx-reference"} <= set(DEVICES)
    assert all(DEVICES[name].name == name for name in DEVICES)


def test_listing_devices_loads_no_emulator_or_compiler():
    code = (
        "import sys; from sparsegen.devices import DEVICES; list(DEVICES); "
        "print(sorted({'unicorn', 'elftools', 'ziglang', 'onnxruntime', 'onnx'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_names_the_programs_and_versions_that_make_its_results(name):
    made_by = available(name).made_by()
    assert re.search(r"[a-z]+ \d+\.\d+", made_by)
    assert made_by in DEVICES[name].made_by(measuring=True)
    assert ("unicorn" in made_by) == (name.startswith("cortex") or name == "rv32imc")
    assert ("simavr" in made_by) == name.startswith("at")


@pytest.mark.parametrize(
    ("program", "first", "named"),
    [
        ("cc", "cc (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc 12.2.0"),
        ("cc", "Apple clang version 15.0.0 (clang-1500.3.9.4)", "clang 15.0.0"),
        ("clang", "Debian clang version 14.0.6", "clang 14.0.6"),
        ("avr-gcc", "avr-gcc (GCC) 5.4.0", "avr-gcc 5.4.0"),
        ("gcc-13", "gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", "gcc-13 13.3.0"),
        ("tcc", "what is this?", "tcc"),
    ],
)
def test_a_compiler_is_named_by_what_it_says_of_itself(program, first, named, tmp_path):
    told = f"{first}\nCopyright (C) 2022 Free Software Foundation, Inc.\n"
    script = tmp_path / program
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{told}END\n")
    script.chmod(0o755)
    assert compiler_name([str(script)]) == named


@pytest.mark.parametrize("name", C_DEVICES)
def test_outputs_equal_the_numpy_twin(name, sample):
    out = available(name).run(sample.export, sample.X)
    np.testing.assert_array_equal(out.scores, sample.scores)
    np.testing.assert_array_equal(out.labels, sample.labels)
    assert out.scores.dtype == np.float32 and out.labels.dtype == np.int32


@pytest.mark.parametrize("name", C_DEVICES)
def test_measurement_is_plausible(name, sample):
    cost = available(name).measure(sample.export, sample.X)
    assert cost.flash is None or 50 < cost.flash < 6000
    assert cost.ram is None or 0 <= cost.ram < 400
    assert cost.instructions is None or 20 < cost.instructions < 10_000
    assert cost.cycles is None or 20 < cost.cycles < 20_000
    assert not cost.instructions is cost.cycles is cost.latency_us is None
    for mean, worst in ((cost.instructions, cost.worst_instructions), (cost.cycles, cost.worst_cycles)):
        assert worst is None or (mean is not None and worst >= mean)


@pytest.mark.parametrize("name", C_DEVICES)
def test_compile_error_becomes_a_sentence(name, make_export):
    broken = make_export("int m_predict(const float *x) { return wrong; }", 3, 1)
    with pytest.raises(ToolError, match=r"m \(c99\) does not compile; the compiler says:(.|\n)*wrong"):
        available(name).run(broken, np.zeros((1, 3), np.float32))


@pytest.mark.parametrize("name", DEVICES)
def test_wrong_width_and_wrong_kind_are_refused(name, sample):
    device = available(name)
    if device.runs == "c":
        with pytest.raises(DataError, match="features, got an array of shape"):
            device.run(sample.export, sample.X[:, :-1])
    else:
        with pytest.raises(OptionError, match=f"runs {device.runs} exports, but target c99 makes c"):
            device.run(sample.export, sample.X)


def test_thin_keeps_few_rows_and_spreads_many():
    rows = np.arange(1000, dtype=np.float32)[:, np.newaxis]
    assert thin(rows[:10]) is not None and len(thin(rows[:10])) == 10
    few = thin(rows)[:, 0]
    assert len(few) == MEASURED_ROWS and few[0] == 0 and few[-1] == 999 and np.all(np.diff(few) > 0)
