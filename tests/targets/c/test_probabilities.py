"""Probabilities in C: bounds under attack, all formats against the simulator, rejection, scores of the chosen class."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_programs import any_compiler, compile_c, damaged, run_c, runs_with
from golden_models import INTEGER, SMALL, model, rbf, rows

from sparsegen.devices import DEVICES
from sparsegen.devices._toolchain import first_lines
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.lowering.probabilities import ONE, FloatProbabilities
from sparsegen.model import Calibration, SparseModel
from sparsegen.targets import TARGETS, Export
from sparsegen.targets.render import render
from sparsegen.verify import verify

FLAGS = {
    "plain": ("-O2",),
    "fast": ("-O3", "-ffast-math"),
    "fused": ("-O2", "-mfma", "-ffp-contract=fast"),
}


def calibrated(of: SparseModel, slope: float = 2.5, offset: float = 0.0) -> SparseModel:
    kind = "platt" if of.n_outputs == 1 else "temperature"
    return replace(of, calibration=Calibration(kind, slope, offset))


TWO, THREE = calibrated(SMALL["binary_rbf"], 2.0, -0.6), SMALL["temperature"]


def share_out(made: FloatProbabilities, scores: np.ndarray, folder: Path, *flags: str) -> np.ndarray:
    """Return what the generated function makes of given scores: a program of one feature per score hands them on."""
    n = scores.shape[1]
    function = render(
        "c/float_probabilities.c.j2", name="m", upper="M", has_one_score=n == 1, n_classes=made.n_classes, n_outputs=n,
        probability_slope=made.slope, probability_offset=made.offset, probabilities_have_offset=made.offset != 0.0,
    ).decode()  # fmt: skip
    source = f"""
    #include <stdint.h>
    #include <stdio.h>
    #define M_OUTPUTS {n}
    {render("c/exp2.c.j2", name="m", exponents_rise=False).decode()}
    static void m_scores(const float *x, float *scores) {{ for (int k = 0; k < {n}; ++k) {{ scores[k] = x[k]; }} }}
    {function}
    int main(void)
    {{
        float x[{n}], p[{made.n_classes}];
        while (fread(x, sizeof x, 1, stdin) == 1) {{
            (void)m_weigh(x, p);
            fwrite(p, sizeof p, 1, stdout);
        }}
        return 0;
    }}
    """
    printed = run_c(source, folder, *flags, stdin=scores.astype(np.float32).tobytes())
    return np.frombuffer(printed, dtype=np.float32).reshape(len(scores), made.n_classes)


def attacks(n_outputs: int, slope: float, offset: float) -> np.ndarray:
    """Return float32 scores: every size of difference, ties, next to the zero, next to 16 and 126 octaves."""
    rng = np.random.default_rng(5)
    size = np.exp(rng.uniform(-12, 6, (2000, 1)))
    t = size * rng.uniform(-1, 1, (2000, n_outputs))
    t[:300] = np.log(2.0) * (
        np.array([[16.0, 126.0, 1.0]]).T[rng.integers(0, 3, 300)] + rng.uniform(-0.6, 0.6, (300, 1))
    )
    t[:300] *= rng.choice([-1.0, 0.0, 1.0], (300, n_outputs))
    if n_outputs > 2:
        t[300:600] = -np.log(n_outputs) * rng.uniform(0.9, 1.1, (300, n_outputs))
        t[300:600, 0] = 0.0
    return ((t - offset) / slope).astype(np.float32)


@pytest.mark.parametrize("flags", FLAGS)
def test_no_float_probability_is_further_off_than_stated(flags: str, tmp_path: Path) -> None:
    if not runs_with(any_compiler(), FLAGS[flags], tmp_path):
        pytest.skip(f"this computer has no use for {' '.join(FLAGS[flags])}")
    tight = 0.0
    for n, slope, offset in ((2, 1.0, 0.0), (2, 3.7e-4, -2.5), (2, 90.0, 40.0), (3, 1.3, 0.0), (26, 0.2, 0.0)):
        of = calibrated(model([rbf()], 2, 2, tuple(range(n))), slope, offset)
        made = lower(of).probabilities
        assert isinstance(made, FloatProbabilities)
        scores = attacks(of.n_outputs, slope, offset)
        found = share_out(made, scores, tmp_path, *FLAGS[flags]).astype(np.float64)
        off = float(np.abs(found - made.of(scores)).max())
        assert off <= made.bound, (n, slope, offset)
        assert np.abs(found.sum(axis=1) - 1.0).max() <= (made.sum_error if n > 2 or flags == "plain" else 1e-7)
        if made.is_agreed:
            predicted = (scores[:, 0] > 0).astype(int) if n == 2 else np.argmax(scores, axis=1)
            assert np.all(found[np.arange(len(found)), predicted] == found.max(axis=1))
        tight = max(tight, off / made.bound)
    assert tight > 0.1, "the bound is silly"


def test_meaningless_scores_give_numbers_from_0_to_1(tmp_path: Path) -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 0.0, 1e-45, 1.0], dtype=np.float32)
    for flags in FLAGS.values():
        if not runs_with(any_compiler(), flags, tmp_path):
            continue
        for n in (2, 3):
            of = calibrated(model([rbf()], 2, 2, tuple(range(n))), 5.0)
            made = lower(of).probabilities
            assert isinstance(made, FloatProbabilities)
            grid = np.stack(np.meshgrid(*[odd] * of.n_outputs), axis=-1).reshape(-1, of.n_outputs)
            found = share_out(made, grid, tmp_path, *flags)
            assert np.all((found >= 0.0) & (found <= 1.0)), flags


class Library:
    """An export as a library of this process."""

    def __init__(self, export: Export, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name, content in export.files.items():
            (folder / name).write_bytes(content)
        made = compile_c(any_compiler(), "-shared", "-fPIC", "-O2", folder / "m.c", "-o", folder / "m.so")
        assert made.returncode == 0, made.stderr
        self.library, self.export = ctypes.CDLL(str(folder / "m.so")), export

    def call(self, function: str, row: np.ndarray, out: np.ndarray | None = None) -> int:
        arguments = [ctypes.c_void_p(row.ctypes.data)] + ([] if out is None else [ctypes.c_void_p(out.ctypes.data)])
        return int(getattr(self.library, f"m_{function}")(*arguments))


@pytest.mark.parametrize("dtype", ["f32", "q15", "q7c8"])
@pytest.mark.parametrize("of", [TWO, THREE], ids=["two", "three"])
def test_every_function_agrees_with_the_others(of: SparseModel, dtype: str, tmp_path: Path) -> None:
    export = TARGETS["c"].export(of, "m", Format(dtype, reject=0.75))
    assert export.lowered is not None
    made = export.lowered.probabilities
    assert made is not None
    compiled = Library(export, tmp_path)
    seen = set()
    for row in export.lowered.inputs(rows(of)):
        scores, score = np.empty(of.n_outputs, export.score_dtype), np.empty(1, export.score_dtype)
        p = np.empty(made.n_classes, made.dtype)
        index = compiled.call("predict", row)
        compiled.call("scores", row, scores)
        assert compiled.call("predict_score", row, score) == index
        assert score[0] == (scores[index] if of.n_outputs > 1 else scores[0] if index else -scores[0])
        compiled.call("probabilities", row, p)
        expected = made.of(scores[None])[0]
        assert np.abs(p.astype(float) - expected).max() <= (0.0 if dtype != "f32" else made.bound)
        below = p[index] < (np.float32(0.75) if dtype == "f32" else 0.75 * ONE)
        assert compiled.call("predict_or_reject", row) == (-1 if below else index)
        seen.add(bool(below))
    assert seen == {False, True}
    assert compiled.library.m_selftest() == 0


def test_the_self_test_finds_damage_to_what_makes_probabilities(tmp_path: Path) -> None:
    for number, (of, dtype, change) in enumerate(
        [
            (TWO, "q7", None),
            (TWO, "q7", (r"(if \(d < )\d+u", r"\g<1>1000u")),
            (THREE, "q15", (r"(\(d >> 16\) \* )\d+u", r"\g<1>40000u")),
            (TWO, "f32", (r"(t = \(scores\[0\] \* )[\d.e+-]+f", r"\g<1>2.9f")),
            (THREE, "f32", (r"(scores\[best\]\) \* )[\d.e+-]+f", r"\g<1>3.5f")),
        ]
    ):
        export = TARGETS["c"].export(of, "m", Format(dtype))
        if change is None:
            broken, expected = damaged(export, "weights"), -1
        else:
            source, n = re.subn(*change, export.files["m.c"].decode(), count=1)
            assert n == 1
            broken, expected = replace(export, files={**export.files, "m.c": source.encode()}), 1
        found = Library(broken, tmp_path / str(number)).library.m_selftest()
        assert found == -1 if expected == -1 else found > 0, change


def test_models_without_probabilities_have_none_of_it() -> None:
    for name, golden in INTEGER.items():
        if golden.model.calibration is None:
            assert b"probabilit" not in b"".join(golden.export(name).files.values())
    header = TARGETS["c"].export(THREE, "m").files["m.h"].decode()
    assert "m_probabilities" in header
    assert "reject" not in header, "only where a confidence was asked for"


def test_verify_compares_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    device: Any = DEVICES["host"]
    if (reason := device.missing()) is not None:
        pytest.skip(first_lines(reason, Path()))
    X = rows(THREE)
    for dtype in ("f32", "q7"):
        (good,) = verify(THREE, X, devices=["host"], numbers=Format(dtype))
        assert good.ok
        assert good.probability_difference is not None
        assert good.probability_difference <= (0.0 if dtype == "q7" else 1e-6)
    original = type(device).run

    def moved(self: Any, export: Export, rows: np.ndarray) -> Any:
        out = original(self, export, rows)
        assert out.probabilities is not None
        changed = out.probabilities.copy()
        changed[3, 1] += changed.dtype.type(1 if changed.dtype.kind == "u" else 1e-4)
        return replace(out, probabilities=changed)

    monkeypatch.setattr(type(device), "run", moved)
    for dtype in ("f32", "q7"):
        (bad,) = verify(THREE, X, devices=["host"], numbers=Format(dtype))
        assert not bad.ok
        assert bad.mismatches == 1
