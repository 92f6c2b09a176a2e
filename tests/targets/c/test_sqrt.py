"""The square root of generated C: rounded to nearest for every float, whatever the compiler and its flags."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from c_programs import compile_c, compiler, run_c, written
from golden_models import SMALL, model, rows

from sparsegen.verify import verify

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")

# (root +- half a unit)^2 has 50 bits, so double holds it exactly: no library is needed to say what is nearest.
EVERY_MANTISSA = """
#include "%s"
#include <stdio.h>
int main(void)
{
    long wrong = 0;
    union { float value; uint32_t bits; } a;
    for (a.bits = 0x3F800000u; a.bits < 0x40800000u; ++a.bits) {
        const double root = (double)m_sqrt(a.value), half = 1.0 / 16777216.0;
        wrong += (root - half) * (root - half) >= (double)a.value || (root + half) * (root + half) <= (double)a.value;
    }
    printf("%%ld", wrong);
    return 0;
}
"""
APPLY = """
#include "%s"
#include <stdio.h>
int main(void)
{
    float a;
    while (fread(&a, sizeof a, 1, stdin) == 1) {
        a = m_sqrt(a);
        fwrite(&a, sizeof a, 1, stdout);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return written(SMALL["matern32"], "m", tmp_path_factory.mktemp("sqrt") / "m").folder / "m.c"


@pytest.fixture(scope="module")
def root(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("apply")

    def apply(a):
        return np.frombuffer(run_c(APPLY % source, folder, stdin=np.asarray(a, np.float32).tobytes()), np.float32)

    return apply


@pytest.mark.parametrize("flags", [("-O0",), ("-Os", "-funsafe-math-optimizations"), ("-O3",)], ids=" ".join)
@pytest.mark.parametrize("name", ["gcc", "clang", "zig"])
def test_every_mantissa_is_rounded_to_nearest(name, flags, source, tmp_path):
    """From 1 to 4: the exponent repeats from there."""
    (tmp_path / "program.c").write_text(EVERY_MANTISSA % source)
    command = compiler(name)
    program = tmp_path / "program"
    built = compile_c(command, "-std=c99", *WARNINGS, *flags, tmp_path / "program.c", "-o", program)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([program], capture_output=True, check=True, timeout=300).stdout == b"0"


def test_every_exponent_is_rounded_to_nearest(root):
    rng = np.random.default_rng(0)
    mantissas = np.concatenate([[0, 1, 2, 2**23 - 2, 2**23 - 1], rng.integers(0, 2**23, 2000)])
    bits = (np.arange(1, 255)[:, None] * 2**23 + mantissas).ravel().astype(np.uint32)
    a = bits.view(np.float32)
    assert np.array_equal(root(a), np.sqrt(a))


def test_the_edges(root):
    tiny = np.finfo(np.float32).tiny
    assert root([0.0, -0.0, -1e-45, -1e-7, -1.0, -3.4e38, -np.inf, np.nan, -np.nan]).tolist() == [0.0] * 9
    assert root([1e-45, np.nextafter(tiny, np.float32(0.0))]).tolist() == [0.0, 0.0]
    assert root([tiny]).tolist() == [2.0**-63]
    largest = np.finfo(np.float32).max
    assert root([np.inf, largest]).tolist() == [float(np.sqrt(largest))] * 2


@pytest.mark.parametrize("offset", [0.0, 100.0, 1e5])
@pytest.mark.parametrize("kernel", ["matern32", "cauchy"])
@pytest.mark.parametrize(("target", "device"), [("c", "host"), ("onnx", "onnxruntime")])
def test_rows_that_are_vectors(kernel, target, device, offset):
    """There the dot form of a distance is rounded to just above or below 0."""
    of = model([(kernel, {"gamma": 0.8})], 12, 5, (0, 1, 2), offset=np.full(5, offset), scale=np.full(5, 0.7))
    vectors = (of.transform.offset + of.vectors / of.transform.scale).astype(np.float32).astype(np.float64)
    beside = np.nextafter(vectors.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    (verdict,) = verify(of, np.vstack([vectors, beside, rows(of)]), target=target, devices=[device])
    assert verdict.ok
    assert verdict.relative_difference < 1e-5
