"""The MicroPython module, built by its Makefile over toy objects; its sources compiled as a real build does."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_programs import compile_c, compiler, symbols
from golden_models import SMALL, rows
from integer_models import INTEGERS, READS
from wrapped import COUNTS, counted, packed

from benchmarks.trust._together import integer_program
from sparsegen.errors import OptionError
from sparsegen.lowering.formats import Format
from sparsegen.targets import TARGETS

STUB = Path(__file__).parent / "micropython_stub"
# What dynruntime.mk compiles with, by ARCH.
ARCHITECTURES = {
    "armv6m": ("arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m0"),
    "armv7emsp": ("arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "x64": ("gcc", "-fno-stack-protector"),
}
NATMOD = ("-std=c99", "-Os", "-Wall", "-Werror", "-DNDEBUG", "-fpic", "-fno-common", "-U_FORTIFY_SOURCE")
# Relocations that mpy_ld.py resolves in code: PC-relative ones, calls, the GOT.
ARM_RELOCATIONS = {3, 10, 25, 26, 30}


def make(package, *arguments) -> str:
    (program,) = compiler("make")
    command = [program, *arguments, f"MPY_DIR={STUB}"]
    result = subprocess.run(command, cwd=package.folder, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def calls(package, *lines: str) -> list[str]:
    """Return what the module answers to each call."""
    compiler("cc")
    make(package)
    program = package.folder / f"{package.export.name}.mpy"
    text = "".join(f"{line}\n" for line in lines)
    return subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


@pytest.mark.parametrize("name", ["poly", "laplacian_text", "rbf_projected"])
@pytest.mark.parametrize("kind", ["list", "tuple", "array:f", "array:d"])
def test_the_module_computes_what_python_computes(name, kind, tmp_path):
    of = SMALL[name]
    X = rows(of, 6)
    texts = [" ".join(f"{v:.9f}" for v in row) for row in X]
    asked = [f"{what} {kind} {text}" for text in texts for what in ("predict", "scores")]
    answers = calls(packed("micropython", of, "m", tmp_path), *asked, "selftest", "FEATURES", "CLASSES", "OUTPUTS")
    assert answers[-4:] == ["0", str(of.n_features), str(len(of.classes)), str(of.n_outputs)]
    assert [int(a) for a in answers[0:-4:2]] == of.predict_index(X).tolist()
    scores = np.array([[float(s) for s in a.split()] for a in answers[1:-4:2]])
    np.testing.assert_allclose(scores, of.scores(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["f32", "q15"])
def test_a_module_gives_probabilities_where_the_model_has_them(dtype, tmp_path):
    of = SMALL["temperature"]
    package = packed("micropython", of, "m", tmp_path / "p", numbers=Format(dtype, reject=0.7))
    lowered = package.export.lowered
    X = rows(of, 6)
    texts = [" ".join(f"{v:.9f}" for v in row) for row in X]
    answers = calls(package, *(f"{what} list {t}" for t in texts for what in ("probabilities", "predict_or_reject")))
    assert lowered is not None and lowered.probabilities is not None
    expected = lowered.probabilities.of(lowered.program.scores(lowered.inputs(X)))
    found = np.array([[float(p) for p in a.split()] for a in answers[0::2]])
    np.testing.assert_allclose(found, expected, atol=1e-5 if dtype == "f32" else 0)
    assert [int(a) for a in answers[1::2]] == of.predict_or_reject(X, 0.7).tolist()
    assert calls(packed("micropython", SMALL["poly"], "p", tmp_path / "none"), "probabilities list 1") == [
        "NameError: probabilities"
    ]


def test_labels_and_mistakes(tmp_path):
    of = SMALL["laplacian_text"]
    asked = {
        "label int 0": "left", "label int 2": "größer", "label int 3": "IndexError: there are 3 classes",
        "label int -1": "IndexError: there are 3 classes", "predict list 1 2 3": "ValueError: x must hold 4 features",
        "predict list": "ValueError: x must hold 4 features",
        "scores array:f 1 2": "ValueError: x must hold 4 features",
        "predict int 4": "TypeError: object with buffer protocol required", "wrong list 1": "NameError: wrong",
        "predict array:f 1 2 3 4 5": "ValueError: x must hold 4 features",
        "label list 1": "TypeError: can't convert to int",
    }  # fmt: skip
    assert calls(packed("micropython", of, "m", tmp_path), *asked) == list(asked.values())


def test_an_integer_module_takes_integers_in_range(counts, tmp_path):
    package = packed("micropython", COUNTS, "m", tmp_path, numbers=counts)
    code = {"int16": "h", "uint8": "B"}[package.export.input_dtype.name]
    beyond = {"h": 40000, "B": 256}[code]
    few, many = (str(counted(package.export, *row)) for row in ((1, 2, 3, 4, 5), (250, 250, 250, 250, 9)))
    asked = {
        "predict list 250 250 250 250 9": "1", "scores tuple 1 2 3 4 5": few,
        f"scores array:{code} 250 250 250 250 9": many, "scores array:1 1 2 3 4 5": few,
        "scores array:H 1 2 3 4 5": few, f"predict list 1 2 3 4 {beyond}": None,
        "predict list 1 2 3 4 0.5": "TypeError: can't convert to int", "label int 1": "many",
    }  # fmt: skip
    answers = calls(package, *asked)
    for (question, expected), answer in zip(asked.items(), answers, strict=True):
        assert answer == (
            expected or f"ValueError: a feature is outside {'-32768 to 32767' if code == 'h' else '0 to 255'}"
        )
        assert question


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("name", ["laplacian_text", "rbf_projected", "linear"])
def test_integer_modules_of_every_input_compute_what_the_simulator_does(name, reads, dtype, tmp_path):
    of = SMALL[name]
    package = packed("micropython", of, "m", tmp_path, numbers=Format(dtype, reads, rows=rows(of)))
    program = integer_program(package.export)
    inputs = program.inputs(rows(of, 5))
    texts = [" ".join(f"{v:.9f}" if reads == "f32" else str(v) for v in row) for row in inputs]
    asked = [f"{what} list {text}" for text in texts for what in ("predict", "scores", "in_range")]
    answers = calls(package, *asked, "selftest", "UNIT")
    assert answers[-2] == "0"
    assert float(answers[-1]) == pytest.approx(program.unit, rel=1e-6)
    assert [int(a) for a in answers[0:-2:3]] == program.predict_index(inputs).tolist()
    assert [[int(s) for s in a.split()] for a in answers[1:-2:3]] == program.scores(inputs).tolist()
    assert [int(a) for a in answers[2:-2:3]] == program.in_range(inputs).tolist()


@pytest.mark.parametrize(("name", "largest"), [("laplacian_text", 32767), ("rbf_projected", 4095)])
@pytest.mark.parametrize("kind", ["list", "array:H"])
def test_an_index_that_the_grid_does_not_have_is_refused(name, largest, kind, tmp_path):
    of = SMALL[name]
    package = packed("micropython", of, "m", tmp_path, numbers=Format("q15", "grid", rows=rows(of)))
    rest = " 0" * (of.n_features - 1)
    within, beyond = calls(package, *(f"predict {kind} {index}{rest}" for index in (largest, largest + 1)))
    assert within.isdigit()
    assert beyond == f"ValueError: a feature is outside 0 to {largest}"


def test_the_makefile_sets_what_dynruntime_reads(tmp_path):
    package = packed("micropython", SMALL["poly"], "gestures", tmp_path)
    sources = "SRC=gestures_mpy.c gestures.c"
    assert make(package, "-s", "print") == f"MOD=gestures {sources} ARCH=x64 LINK_RUNTIME=\n"
    assert make(package, "-s", "print", "ARCH=armv6m") == f"MOD=gestures {sources} ARCH=armv6m LINK_RUNTIME=1\n"
    assert "LINK_RUNTIME=\n" in make(package, "-s", "print", "ARCH=armv7emsp")
    text = package.texts()["Makefile"]
    assert text.rstrip().endswith("include $(MPY_DIR)/py/dynruntime.mk")
    assert all((tmp_path / source).is_file() for source in sources.removeprefix("SRC=").split())


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", SMALL)
def test_sources_hold_only_what_a_native_module_may(name, arch, tmp_path):
    """No writable data, no C library, and on Arm only relocations that MicroPython's linker knows."""
    pytest.importorskip("elftools")
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection

    package = packed("micropython", SMALL[name], "m", tmp_path)
    command, *flags = ARCHITECTURES[arch]
    extra = package.texts()["Makefile"].partition("CFLAGS += ")[2].split("\n")[0]
    runtime = (STUB / "py" / "dynruntime.h").read_text()
    for source in ("m.c", "m_mpy.c"):
        paths = [f"-I{tmp_path}", f"-I{STUB}", "-c", tmp_path / source, "-o", tmp_path / "m.o"]
        compiled = compile_c(compiler(command), *flags, *NATMOD, extra, *paths)
        assert compiled.returncode == 0, compiled.stderr
        elf = ELFFile(io.BytesIO((tmp_path / "m.o").read_bytes()))
        for section in elf.iter_sections():
            writable = section.name.startswith((".data", ".bss")) and not section.name.startswith(".data.rel.ro")
            assert not (writable and section["sh_size"]), section.name
            if arch.startswith("arm") and section.name in (".rel.text", ".rel.rodata"):
                assert isinstance(section, RelocationSection)
                assert {r["r_info_type"] for r in section.iter_relocations()} <= ARM_RELOCATIONS
        undefined = {s.name for s in symbols(elf) if s["st_shndx"] == "SHN_UNDEF" and s.name}
        own = {"_GLOBAL_OFFSET_TABLE_", "m_scores", "m_predict", "m_value", "m_label", "m_selftest", "m_probabilities"}
        unknown = {u for u in undefined - own if f"{u}(" not in runtime and f" {u}," not in runtime}
        unknown = {u for u in unknown if not u.startswith(("mp_type_", "mp_const_"))}
        if arch == "armv6m":  # soft float comes with LINK_RUNTIME
            unknown = {u for u in unknown if not u.startswith(("__aeabi_", "__gnu_thumb1_case"))}
        assert unknown == set()


@pytest.mark.parametrize("name", ["array", "machine", "json", "ujson", "lambda", "pass", "main"])
def test_a_name_that_cannot_be_imported_is_refused(name):
    with pytest.raises(OptionError, match="choose another"):
        TARGETS["micropython"].export(SMALL["poly"], name)
