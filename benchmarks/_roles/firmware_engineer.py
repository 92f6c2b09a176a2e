"""A firmware engineer with 4 kB and 1 ms: what it costs, what the header says, what their build system takes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks._roles import rows
from benchmarks._roles.visit import Skip, Visit
from sparsegen import SparseModel
from sparsegen.devices import DEVICES

FLASH, MILLISECONDS = 4096, 1.0
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Wdeclaration-after-statement -Werror"
SAME_MACROS = {"FEATURES", "CLASSES", "OUTPUTS", "VECTORS", "UNIT", "PROBABILITY_ONE", "REJECT_BELOW", "EXPORT"}
MAIN = r"""
#include "motor.h"
#include <stdio.h>

static const float rows[][MOTOR_FEATURES] = {%s};

int main(void)
{
    unsigned i;

    for (i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        motor_score_t score;
        uint16_t p[MOTOR_CLASSES];
        const int k = motor_predict_score(rows[i], &score);

        motor_probabilities(rows[i], p);
        printf("%%d %%.6f %%d\n", k, (double)p[k] / MOTOR_PROBABILITY_ONE, motor_predict_or_reject(rows[i]));
    }
    return motor_selftest();
}
"""


def visit(engineer: Visit) -> None:
    """From a table to code that a reviewer lets pass."""
    X, y = rows.blobs(engineer.seed, 300, features=6)
    names = [f"band {j}" for j in range(6)]
    table = [[*np.round(row, 4), ("idle", "worn out", "broken")[k]] for row, k in zip(X, y, strict=True)]
    rows.write(Path("motor.csv"), [*names, "state"], table)
    engineer.types(
        "a model with probabilities",
        "train motor.csv --vectors 8 --gamma 0.1 --C 1 --probability -o motor.safetensors",
        r"log loss [\d.]+ \(class shares alone: [\d.]+\), Brier score",
        "in integers q15 [\\d.]+ %, q7 [\\d.]+ % of these rows",
    )
    _search(engineer)
    _budget(engineer)
    _header(engineer)
    _program(engineer, X)
    _macros(engineer)
    _packages(engineer)
    _cmake(engineer)


def _search(engineer: Visit) -> None:
    with engineer.wish("4 kB and 1 ms on a Blue Pill by one command"):
        if missing := DEVICES["cortex-m3"].missing():
            raise Skip(missing)
        engineer.types(
            "4 kB and 1 ms on a Blue Pill by one command",
            "search motor.csv --part stm32f103c8 --flash 4K --latency 1ms --trials 4 -o best.safetensors",
            r"held out in training; accuracy on those: [\d.]+ % \(",
            r"[\d,]+ of 4,096 bytes",
            "of 1 ms: the slowest measured row at 72 MHz",
        )
        engineer.types(
            "a page about it",
            "report best.safetensors motor.csv --part stm32f103c8 --dtype q7 --no-baselines -o best.html",
            r"wrote best.html: [\d,]+ bytes",
        )


def _budget(engineer: Visit) -> None:
    for device in ("atmega328p", "cortex-m0plus"):
        asked = f"4 kB and 1 ms on {device}"
        with engineer.wish(asked):
            if missing := DEVICES[device].missing():
                raise Skip(missing)
            ended = engineer.command("bench", "motor.safetensors", "--dtype", "q7", "--device", device, "--json")
            (cost,) = json.loads(ended.out)
            worst = cost["worst_milliseconds"]
            instructions = cost["worst_instructions"]
            # Without a count of cycles: four cycles an instruction are more than a Cortex-M0+ ever takes here.
            at_most = worst if worst is not None else 4e3 * instructions / cost["profile"]["clock_hz"]
            took = f"{worst:.2f} ms" if worst is not None else f"{instructions:,} instructions"
            told = f"{cost['flash']:,} bytes of flash, {cost['ram']} of RAM, at most {took}; {cost['made_by']}"
            engineer.sees(asked, told, cost["flash"] <= FLASH and at_most <= MILLISECONDS)
    with engineer.wish("does a model of 600 vectors fit an ATtiny85"):
        if missing := DEVICES["attiny85"].missing():
            raise Skip(missing)
        engineer.types(
            "a model for an ATtiny85 that is too large",
            "train motor.csv --method svm --C 0.01 --gamma 1 -o large.safetensors",
            r"vectors \d+",
        )
        engineer.types(
            "does it fit",
            "bench large.safetensors --device attiny85",
            "does not fit[^:;]*|[^.;:]*too (large|small)",
            code=1,
        )


def _header(engineer: Visit) -> None:
    engineer.types(
        "C in 8-bit integers, with its accuracy",
        "export motor.safetensors --name motor --dtype q7 --calibrate motor.csv --reject 0.8 -o q7",
        r"score error: at most \S+ for every input in range",
        r"proved: the labels of \S+ % of 300 calibration rows: they are in range and their lead is more than \S+",
    )
    header = Path("q7/motor.h").read_text() if Path("q7/motor.h").is_file() else ""
    for asked, pattern in (
        ("which sparsegen made it", r"made by: sparsegen \S+"),
        ("may I ship it", "licence: yours, without any condition[^:]*: [^,]*"),
        ("how accurate are the integers", r"accuracy: \S+ % in q7 \(\d+ of \d+ rows held out in training[^)]*\)"),
        ("with which interval", "interval: 95 % interval .*"),
        ("where is the inverse of the kernel matrix", "coefficients: beta = Kz\\^-1.*no m x m matrix is stored"),
        ("how sure is a label", r"proved: the labels of .*"),
        ("names for the classes", r"MOTOR_CLASS_WORN_OUT = \d /\* worn out \*/"),
        ("the class with its score in one call", r"int motor_predict_score\(const float \*x, int32_t \*score\);"),
        ("how far off a probability may be", "Each is within .* of what the model's calibration gives .*"),
    ):
        found = re.search(pattern, header)
        engineer.sees(asked, found[0] if found else f"nothing like {pattern!r}", found is not None)


def _program(engineer: Visit, X: np.ndarray) -> None:
    asked = "strict C99, probabilities and unknown as in Python"
    with engineer.wish(asked):
        few = np.round(np.vstack([X[:20], (X[20:40] + X[40:60]) / 2]), 4)  # whose halves lie between the classes
        lines = ", ".join("{" + ", ".join(f"{value!r}f" for value in row.tolist()) + "}" for row in few)
        Path("q7/main.c").write_text(MAIN % lines)
        system = shutil.which("cc")
        compiler = [system] if system else [sys.executable, "-m", "ziglang", "cc"]
        command = [*compiler, "-std=c99", "-O2", *WARNINGS.split(), "q7/motor.c", "q7/main.c", "-o", "q7/program"]
        built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert built.returncode == 0, built.stderr
        ran = subprocess.run(
            [str(Path("q7/program").resolve())], capture_output=True, text=True, check=False, timeout=60
        )
        assert ran.returncode == 0, "the self-test failed"
        model = SparseModel.load("motor.safetensors")
        device = np.array([line.split() for line in ran.stdout.splitlines()], dtype=float)
        probabilities = model.probabilities(few)
        off = np.abs(device[:, 1] - probabilities[np.arange(40), device[:, 0].astype(int)]).max()
        same = int(np.sum(device[:, 0] == model.predict_index(few)))
        unknown = int(np.sum(device[:, 2] == -1))
        below = device[:, 1] < 0.8 - 1e-4
        stated = re.search(
            r"In range, each is within ([\d.]+) of the real-valued model's", Path("q7/motor.h").read_text()
        )
        assert stated, "the header states no bound of probabilities"
        told = (
            f"no warning; {same} of 40 labels, probabilities within {off:.4f} of {stated[1]} stated, {unknown} unknown"
        )
        rejects = bool((device[below, 2] == -1).all()) and 0 < unknown < 40
        engineer.sees(asked, told, same >= 36 and off <= float(stated[1]) and rejects)
    with engineer.wish("no symbol of libc or libm"):
        tool, system = shutil.which("nm"), shutil.which("cc")
        if tool is None or system is None:
            raise Skip("nm or cc is not installed")
        subprocess.run([system, "-std=c99", "-O2", "-c", "q7/motor.c", "-o", "q7/motor.o"], check=True, timeout=60)
        told = subprocess.run([tool, "-u", "q7/motor.o"], capture_output=True, text=True, check=True).stdout.strip()
        engineer.sees("no symbol of libc or libm", told or "nm -u prints nothing", not told)


def _macros(engineer: Visit) -> None:
    asked = "the same macros, whatever the export"
    with engineer.wish(asked):
        found = {}
        for target, dtype in (("c", "f32"), ("c", "q15"), ("header", "q7"), ("cpp", "f32")):
            folder = f"macros-{target}-{dtype}"
            command = (
                f"export motor.safetensors --name motor --target {target} --dtype {dtype} --reject 0.8 -o {folder}"
            )
            assert engineer.command(*command.split()).code == 0
            text = (Path(folder) / "motor.h").read_text()
            found[folder] = set(re.findall(r"#define MOTOR_([A-Z_]+) ", text)) & SAME_MACROS
        told = f"{', '.join(sorted(SAME_MACROS))} in {len(found)} exports"
        missing = "; ".join(
            f"{of} has no {', '.join(sorted(SAME_MACROS - has))}" for of, has in found.items() if has != SAME_MACROS
        )
        engineer.sees(asked, missing or told, not missing)


def _packages(engineer: Visit) -> None:
    for target, says, wanted in (
        ("esp-idf", r"use: .*idf.py .* flash monitor", ("idf_component.yml", "idf_component_register")),
        ("rust", r"use: .*cargo test.*", ("Cargo.toml", "#![no_std]")),
        ("zephyr", r"use: .*west build.* in a west workspace.*", ("module.yml", "")),
        ("platformio", r"use: .*pio run.*", ("library.json", "")),
    ):
        asked, folder = f"a package for {target}", f"package-{target}"
        ended = engineer.types(asked, f"export motor.safetensors --name motor --target {target} -o {folder}", says)
        with engineer.wish(asked):
            texts = [path.read_text() for path in Path(folder).rglob("*") if path.is_file()]
            assert wanted[0] in ended.text and any(wanted[1] in text for text in texts), f"no {wanted} in it"


def _cmake(engineer: Visit) -> None:
    asked = "find_package(sparsegen_motor 0.1) of an installed model"
    with engineer.wish(asked):
        cmake = shutil.which("cmake")
        if cmake is None or shutil.which("cc") is None:
            raise Skip("cmake or a C compiler is not installed")
        ended = engineer.command("export", "motor.safetensors", "--name", "motor", "--target", "cmake", "-o", "cm")
        assert ended.code == 0, ended.text
        Path("user").mkdir()
        Path("user/CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.14)\nproject(user LANGUAGES C)\n"
            "find_package(sparsegen_motor 0.1 REQUIRED)\nmessage(STATUS found-it)\n"
        )
        steps = ("-S cm -B b", "--build b", "--install b --prefix prefix", "-S user -B u -DCMAKE_PREFIX_PATH=prefix")
        for step in steps:
            arguments = step.replace("=prefix", f"={Path('prefix').resolve()}").split()
            done = subprocess.run([cmake, *arguments], capture_output=True, text=True, check=False, timeout=120)
            assert done.returncode == 0, done.stderr
        engineer.sees(asked, "found, built and installed with cmake", "found-it" in done.stdout)
