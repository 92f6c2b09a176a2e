"""Every demo is built as its README says and run in its emulator; it must be right, not only run."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.trust._together import integer_program
from sparsegen import data
from sparsegen.devices._toolchain import host_compiler
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
DEMOS = ROOT / "firmware_demo"
TOOLS = {
    "arduino_uno": ("make", "avr-gcc", "simavr"),
    "cortex_m": ("make", "arm-none-eabi-gcc", "qemu-system-arm"),
    "riscv": ("make", "riscv64-unknown-elf-gcc", "qemu-system-riscv32"),
}
Make = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a function that runs make in a copy of a demo; what is trained once stays for the next test."""
    demos = tmp_path_factory.mktemp("demos") / "firmware_demo"
    shutil.copytree(DEMOS, demos, ignore=shutil.ignore_patterns("build", "__pycache__"))

    def run(demo: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        missing = [tool for tool in TOOLS[demo] if shutil.which(tool) is None]
        if missing:
            pytest.skip(f"{' and '.join(missing)} not found")
        command = ["make", "-s", "-C", str(demos / demo), f"PYTHON={sys.executable}", *arguments]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)

    return run


# ---- arduino_uno -----------------------------------------------------------------------------------------------------


def test_the_uno_recognises_exercises_as_its_readme_says(make: Make) -> None:
    done = make("arduino_uno", "emulate", "size")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    windows = [line for line in lines if re.fullmatch(r" +\d+\.\d\d s  \w+( \(it was \w+\))?", line)]
    wrong = [line for line in windows if "it was" in line]
    assert len(windows) == 48
    assert len(wrong) <= 6
    assert f"{48 - len(wrong)} of 48 windows right" in lines
    (cost,) = re.findall(r"(\d+) cycles a sample, (\d+) cycles a prediction, self-test ok", done.stdout)
    assert int(cost[0]) < 2_000
    assert int(cost[1]) < 16_000
    printed = lines[lines.index("sparsegen: exercises, atmega328p") :]
    readme = (DEMOS / "arduino_uno" / "README.md").read_text().split("```")[-2].split("\n")[1:]
    # Labels, rights and cycles depend on the last bits of training and on the compiler; the rest is as it is shown.
    shown = [re.sub(r"\d+ of|\d+ cycles|(?<= s  ).*", "", line) for line in readme if line.strip(" .")]
    assert len(shown) > 6
    assert set(shown) <= {re.sub(r"\d+ of|\d+ cycles|(?<= s  ).*", "", line) for line in printed}


def test_the_uno_says_what_python_computes(make: Make) -> None:
    """The labels on the serial line are those of the model's simulator for the features of the NumPy twin."""
    done = make("arduino_uno", "emulate")
    made = Path(done.args[done.args.index("-C") + 1]) / "build" / "generated"
    model = SparseModel.load(made / "exercise.safetensors")
    X, y = data.read_features(made / "train.csv", None, n_features=9)
    numbers = Format(dtype="q7", input="raw-int16", rows=X, labels=y)
    export = TARGETS["c"].export(model, "exercise", numbers, "avr")
    program = integer_program(export)
    assert export.files["exercise.c"] == (made / "exercise.c").read_bytes()
    X, _ = data.read_features(made / "test.csv", None, n_features=9)
    expected = [str(model.classes[i]) for i in program.predict_index(program.inputs(X))]
    assert re.findall(r"^ +\d+\.\d\d s  (\w+)", done.stdout, re.MULTILINE) == expected


def test_the_uno_takes_recordings_from_a_folder(make: Make, tmp_path: Path) -> None:
    missing = make("arduino_uno", f"DATA={tmp_path}")
    assert missing.returncode != 0
    assert f"there is no emlearn_exercises.npz in {tmp_path}" in missing.stderr
    rng = np.random.default_rng(0)
    y = np.arange(16) % 2
    rate = np.where(y == 1, 5.0, 0.5)[:, None] * np.arange(1000) / 100.0
    X = 0.7 * np.sin(2.0 * np.pi * (rate + rng.random((16, 1))))[:, :, None] + [0.0, 0.0, 1.0]
    np.savez(tmp_path / "emlearn_exercises.npz", X=X.astype(np.float32), y=y, classes=np.array(["slow", "fast"]))
    done = make("arduino_uno", f"DATA={tmp_path}", "emulate")
    assert done.returncode == 0, done.stderr
    assert "24 of 24 windows right" in done.stdout


def test_the_uno_reads_a_sensor_too(make: Make) -> None:
    done = make("arduino_uno", "SENSOR=1", "size")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def features_in_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[[NDArray[np.int16]], NDArray[np.int16]]:
    """Return a function that gives the features of features.c, built for this computer."""
    compiler = host_compiler()
    if compiler is None:
        pytest.skip("no C compiler found")
    library = tmp_path_factory.mktemp("features") / "features.so"
    source = DEMOS / "arduino_uno" / "features.c"
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run([*compiler, *strict, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.features_add.restype = ctypes.c_uint8

    def run(samples: NDArray[np.int16]) -> NDArray[np.int16]:
        state, out, rows = ctypes.create_string_buffer(256), np.zeros(9, dtype=np.int16), []
        loaded.features_start(state)
        for sample in np.ascontiguousarray(samples):
            if loaded.features_add(state, sample.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)):
                rows.append(out.copy())
        return np.array(rows, dtype=np.int16).reshape(-1, 9)

    return run


def demo_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"arduino_uno_{name}", DEMOS / "arduino_uno" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("extreme", [(-32768, -32768), (32767, 32767), (-32768, 32767), (-1, 0), (31, 32)])
def test_features_of_extremes_are_equal_to_the_bit(
    features_in_c: Callable[[NDArray[np.int16]], NDArray[np.int16]], extreme: tuple[int, int]
) -> None:
    samples = np.resize(np.array(extreme, dtype=np.int16), (300, 3))
    expected = demo_module("features").windows(samples)
    assert expected.shape == (3, 9)
    np.testing.assert_array_equal(features_in_c(samples), expected)


@given(st.integers(0, 2**32), st.integers(0, 400), st.integers(1, 32767))
@settings(max_examples=60, deadline=None)
def test_features_are_equal_to_the_bit(
    features_in_c: Callable[[NDArray[np.int16]], NDArray[np.int16]], seed: int, n: int, size: int
) -> None:
    rng = np.random.default_rng(seed)
    centre = rng.integers(-32768, 32768, 3)
    samples = np.clip(centre + rng.integers(-size, size + 1, (n, 3)), -32768, 32767).astype(np.int16)
    np.testing.assert_array_equal(features_in_c(samples), demo_module("features").windows(samples))


def test_recordings_feel_gravity_and_are_split_whole() -> None:
    motions = demo_module("motions")
    samples, labels = motions.generate(3, seed=1)
    assert [recording.shape for recording in samples] == [(500, 3)] * 12
    still = [np.linalg.norm(s.mean(axis=0)) for s, label in zip(samples, labels, strict=True) if label == "other"]
    np.testing.assert_allclose(still, motions.COUNTS_PER_G, rtol=0.05)
    train, test = motions.split((samples, labels), 1)
    assert (len(train[0]), len(test[0])) == (8, 4)
    assert sorted(test[1]) == sorted(motions.CLASSES)
    assert not any(np.array_equal(a, b) for a in train[0] for b in test[0])


# ---- cortex_m and riscv ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("demo", "board", "counts", "most"),
    [
        ("cortex_m", "microbit", "ticks", 2_500),
        ("cortex_m", "mps2-an385", "ticks", 3_000),
        ("cortex_m", "mps2-an386", "ticks", 2_200),
        ("riscv", "sifive_e", "instructions", 14_000),
    ],
)
def test_digits(make: Make, demo: str, board: str, counts: str, most: int) -> None:
    done = make(demo, f"BOARD={board}", "emulate", "size")
    assert done.returncode == 0, done.stderr
    printed = done.stdout[done.stdout.index("sparsegen: digits") :]
    assert printed.startswith(f"sparsegen: digits 8x8, {board}\nself-test ok\n")
    (right,) = re.findall(r"^(\d+) of 200 images right$", printed, re.MULTILINE)
    assert int(right) >= 190
    (cost,) = re.findall(rf"^(\d+) {counts} a prediction$", printed, re.MULTILINE)
    assert 1_000 < int(cost) < most
    digits = "".join(re.findall(r"^[0-9]{50}$", printed, re.MULTILINE))
    assert len(digits) == 200
    shown = "".join(re.findall(r"^[0-9]{50}$", (DEMOS / demo / "README.md").read_text(), re.MULTILINE))
    assert len(shown) == 200
    assert sum(a == b for a, b in zip(digits, shown, strict=True)) >= 190  # training may differ in its last bits


def test_an_unknown_board_and_a_board_without_a_cable_are_sentences(make: Make) -> None:
    unknown = make("cortex_m", "BOARD=toaster")
    assert "there is no board toaster here; choose one of: microbit mps2-an385 mps2-an386" in unknown.stderr
    emulated = make("cortex_m", "BOARD=mps2-an385", "flash")
    assert "use make emulate" in emulated.stderr
