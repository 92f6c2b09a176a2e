"""The C export: clean under every compiler, no libc, no writable data, small, deterministic, true to its comments."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from c_programs import (
    any_compiler,
    compile_c,
    compiler,
    emulated,
    run_c,
    runs_with,
    symbols,
    warning_level,
    written,
)
from golden_models import EVERY, FLASH, SMALL, model, rbf, rows
from narrowing import known

from sparsegen.devices import DEVICES
from sparsegen.devices._toolchain import SECTION_FLAGS
from sparsegen.devices.host import Host
from sparsegen.errors import ModelError, OptionError
from sparsegen.kernels import KERNELS, Kernel, Parameter
from sparsegen.kernels.expression import DOT, L1DIST, Exp, Param, Reciprocal
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS
from sparsegen.targets.render import render

EXP2_BOUND = "2.0e-7"
GOLDEN = Path(__file__).parents[2] / "golden"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")
HOSTILE = (
    'quote " inside', "back\\slash", "end */ of comment", "// line", "/* open", "??/ trigraph ??'", "größe 日本 🎈",
    "%s %n %d", '"); system("true', "\\n", "1", "trailing \\", "{{ name }}", "{% endfor %}", "\\101", "\\x41", "'",
)  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_golden(name, update_golden):
    export = TARGETS["c"].export(SMALL[name], name)
    for file, content in export.files.items():
        path = GOLDEN / name / file
        if update_golden:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        assert content.decode() == path.read_text(), f"{path.name} changed; see pytest --update-golden"


@pytest.mark.parametrize("language", ["c99", "c++17"])
@pytest.mark.parametrize("name", ["gcc", "clang", "zig"])
def test_no_compiler_warns(name, language, c_exports, all_in_one, tmp_path):
    command = compiler(name)
    if language == "c++17":
        command += ["-x", "c++"]
    mains = [w.folder / "example_main.c" for w in c_exports.values()][:6]
    for source in [all_in_one, *mains] if name == "gcc" else [all_in_one, mains[0]]:
        flags = (f"-std={language}", warning_level(name, "-O2"), *WARNINGS)
        result = compile_c(command, *flags, "-c", source, "-o", tmp_path / "out.o")
        assert result.returncode == 0, result.stderr
        assert "warning" not in result.stderr.replace("argument unused", "")


def test_declarations_open_their_blocks(tmp_path):
    """As old compilers and many coding rules want it; a loop may declare its counter."""
    export = TARGETS["c"].export(EVERY["long_rows"], "simd", loops="simd")
    for file, content in export.files.items():
        (tmp_path / file).write_bytes(content)
    sources = [header.with_suffix(".c") for header in sorted(GOLDEN.glob("*/*.h"))]
    plain = [source for source in sources if source.parent.name != "integer_avr"] + [tmp_path / "simd.c"]
    (avr,) = GOLDEN.glob("integer_avr/integer_avr.c")
    assert len(plain) > 15
    flags = ("-std=gnu99", "-Wdeclaration-after-statement", "-Werror", "-fsyntax-only")
    assert (result := compile_c(any_compiler(), *flags, *plain)).returncode == 0, result.stderr
    if shutil.which("avr-gcc") is not None:
        assert (result := compile_c(["avr-gcc"], *flags, "-mmcu=atmega328p", avr)).returncode == 0, result.stderr


@pytest.mark.parametrize("name", EVERY)
def test_sanitizers_are_silent_over_all_rows(name, c_exports):
    command = next((found for found in ("gcc", "clang") if Host((found,)).missing() is None), None)
    if command is None:
        pytest.skip("neither gcc nor clang is on the PATH")
    flags = ("-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
    of = c_exports[name].model
    X = rows(of)
    out = Host((command,), flags).run(c_exports[name].export, X.astype(np.float32))
    expected = of.scores(X)
    assert np.abs(out.scores - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max())
    assert np.array_equal(out.labels, of.predict_index(X))


@pytest.mark.parametrize("device", ["cortex-m0plus", "cortex-m4f"])
def test_object_needs_no_library_and_writes_no_data(device, all_in_one, tmp_path):
    pytest.importorskip("elftools")
    from elftools.elf.elffile import ELFFile

    flags = emulated(device).compiler_flags
    compiled = compile_c(
        compiler("zig"),
        *flags,
        "-std=c99",
        "-Os",
        "-ffreestanding",
        *SECTION_FLAGS,
        "-c",
        all_in_one,
        "-o",
        tmp_path / "m.o",
    )
    assert compiled.returncode == 0, compiled.stderr
    elf = ELFFile(io.BytesIO((tmp_path / "m.o").read_bytes()))
    undefined = {s.name for s in symbols(elf) if s["st_shndx"] == "SHN_UNDEF"}
    arithmetic = r"__aeabi_(f(add|sub|mul|div|2iz|2uiz|cmp\w+|rsub)|i2f|ui2f|idiv|uidiv|lmul)|__\w+sf[23]"
    assert {name for name in undefined if name and not re.fullmatch(arithmetic, name)} == set()
    if device == "cortex-m4f":
        assert undefined <= {""}
    writable = {s.name: s["sh_size"] for s in elf.iter_sections() if s["sh_flags"] & 1 and s["sh_flags"] & 2}
    assert sum(writable.values()) == 0, writable
    defined = {s.name for s in symbols(elf) if s["st_info"]["bind"] == "STB_GLOBAL"}
    of_classes, of_value = ("scores", "predict", "predict_score", "label", "selftest"), ("scores", "value", "selftest")
    public = {
        f"{name}_{function}" for name, of in EVERY.items() for function in (of_classes if of.has_classes else of_value)
    }
    public |= {f"{name}_probabilities" for name, of in EVERY.items() if of.calibration is not None}
    assert defined - undefined == public


@pytest.mark.parametrize("kind", FLASH)
def test_code_is_small(kind):
    device = DEVICES["cortex-m4f"]
    if device.missing() is not None:
        pytest.skip(str(device.missing()))
    export = TARGETS["c"].export(FLASH[kind], "m")
    measured = device.measure(export, rows(FLASH[kind], 8).astype(np.float32))
    assert known(measured.flash) <= export.table_bytes + 700
    if kind == "binary rbf 16 x 16":
        assert known(measured.instructions) <= 1400
        assert known(measured.ram) <= 128


def test_table_bytes_are_those_of_the_tables():
    for name, of in EVERY.items():
        export = TARGETS["c"].export(of, name)
        source = export.files[f"{name}.c"].decode()
        sizes = re.findall(rf"^static const {name.upper()}_ROM float {name}_\w+\[(\d+)\]", source, re.MULTILINE)
        assert export.table_bytes == 4 * sum(map(int, sizes))
        assert f"flash: {export.table_bytes} bytes of tables" in export.files[f"{name}.h"].decode()


EXP2_FLAGS = {
    "plain": ("-O2",),
    "fast": ("-O3", "-ffast-math"),
    "reassociated": ("-O2", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"),
    "x87": ("-O2", "-mfpmath=387"),
    "fused": ("-O2", "-mfma", "-ffp-contract=fast"),
}
"""What once broke the exponential, or might."""


@pytest.fixture(scope="module", params=EXP2_FLAGS)
def exp2(request, tmp_path_factory):
    """The exp2 of a generated file, applied to an array: ``rises`` as for positive exponents too."""
    folder, flags = tmp_path_factory.mktemp("exp2"), EXP2_FLAGS[request.param]
    if not runs_with(any_compiler(), flags, folder):
        pytest.skip(f"this computer has no use for {' '.join(flags)}")

    def apply(t, *, rises):
        function = render("c/exp2.c.j2", name="m", exponents_rise=rises).decode()
        source = f"""
        #include <stdint.h>
        #include <stdio.h>
        {function}
        int main(void)
        {{
            float t;
            while (fread(&t, sizeof t, 1, stdin) == 1) {{
                t = m_exp2(t);
                fwrite(&t, sizeof t, 1, stdout);
            }}
            return 0;
        }}
        """
        given = np.asarray(t, dtype=np.float32).tobytes()
        return np.frombuffer(run_c(source, folder, *flags, stdin=given), dtype=np.float32)

    return apply


@pytest.mark.parametrize("rises", [False, True])
def test_exp2_keeps_its_bound(rises, exp2):
    rng = np.random.default_rng(0)
    last = 127 if rises else 0
    t = np.concatenate(
        [
            np.linspace(-126, last, 500_001), np.linspace(-1, 1 if rises else 0, 200_001),
            rng.uniform(-30, 0, 200_000), np.arange(-126, last + 1),
            np.nextafter(np.arange(-126, last, 0.5, dtype=np.float32), np.float32(200)),
            np.nextafter(np.arange(-125.5, last, 0.5, dtype=np.float32), np.float32(-200)),
        ]
    ).astype(np.float32)  # fmt: skip
    exact = np.exp2(t.astype(np.float64))
    assert np.max(np.abs(exp2(t, rises=rises) - exact) / exact) <= float(EXP2_BOUND)
    assert f"error of at most {EXP2_BOUND}" in render("c/exp2.c.j2", name="m", exponents_rise=rises).decode()


@pytest.mark.parametrize("rises", [False, True])
def test_exp2_at_the_edges(rises, exp2):
    assert exp2([0.0, -0.0, 1e-30, -1e-30], rises=rises).tolist() == [1.0] * 4
    assert exp2([-126], rises=rises).tolist() == [2.0**-126]
    beyond = [np.nan, -np.nan, np.inf, -np.inf, 1e30, -1e30, 127.5, 128, 1e9, -127, -1e9, 3.4e38, -3.4e38]
    assert exp2(beyond, rises=rises).tolist() == [0.0] * len(beyond)
    below = exp2(np.linspace(-126.5, -126, 1001)[:-1], rises=rises)
    assert below.min() >= 0
    assert below.max() <= 2.0**-126
    above = np.linspace(127, 127.49, 100) if rises else np.linspace(0.0, 0.49, 100)
    exact = np.exp2(above.astype(np.float32).astype(np.float64))
    assert np.allclose(exp2(above, rises=rises), exact, rtol=float(EXP2_BOUND), atol=0.0)


def test_a_kernel_of_rising_exponents_gets_the_exponential_for_them(tmp_path):
    """Of the kernels that come along, none has one."""
    rising = Kernel("rising", "exp(gamma x.z)", Exp(Param("gamma") * DOT), {"gamma": Parameter("slope", 0.5)})
    of = model([rising.bind(gamma=2.0)], 4, 3, (0, 1, 2))
    w = written(of, "rising", tmp_path / "rising")
    assert "127.5f" in w.export.files["rising.c"].decode()
    assert not any(kernel.bind().exponents_rise for kernel in KERNELS.values())
    X = rows(of)
    out = Host((any_compiler()[0],)).run(w.export, X.astype(np.float32))
    assert np.allclose(out.scores, of.scores(X), rtol=1e-5, atol=1e-5)


def test_a_sum_of_differences_keeps_its_constant_term(tmp_path):
    """Of the kernels that come along, none has one."""
    falling = Reciprocal(2.5 + Param("gamma") * L1DIST)
    kernel = Kernel("l1cauchy", "1 / (2.5 + gamma |x-z|)", falling, {"gamma": Parameter("slope", 0.5)})
    of = model([kernel.bind()], 4, 3, (0, 1))
    w = written(of, "l1cauchy", tmp_path / "l1cauchy")
    X = rows(of)
    out = Host((any_compiler()[0],)).run(w.export, X.astype(np.float32))
    assert np.allclose(out.scores, of.scores(X), rtol=1e-5, atol=1e-5)


def test_labels_come_back_byte_for_byte(tmp_path):
    card = {"method": "*/ #error \\", "feature_names": ["a */ b", "// c \\", "??/ ü\n%s"]}
    of = model([rbf()], 3, 3, HOSTILE, card=card)
    w = written(of, "hostile", tmp_path / "hostile")
    source = f"""
    #include "{w.folder}/hostile.c"
    #include <stdio.h>
    int main(void)
    {{
        int i;
        for (i = -1; i <= HOSTILE_CLASSES; ++i) {{
            fputs(hostile_label(i), stdout);
            putchar(0);
        }}
        return hostile_selftest();
    }}
    """
    printed = run_c(source, tmp_path, *WARNINGS)
    assert printed.split(b"\0") == [b"", *(label.encode() for label in HOSTILE), b"", b""]
    if (gcc := Host(("gcc",))).missing() is None:
        assert gcc.run(w.export, rows(of).astype(np.float32)).labels.tolist() == of.predict_index(rows(of)).tolist()


def test_a_label_with_a_line_break_never_becomes_a_model():
    with pytest.raises(ModelError, match="printable characters"):
        model([rbf()], 2, 2, ("a\nb", "c"))


def test_the_same_model_gives_the_same_bytes_in_any_process():
    script = (
        "import hashlib, golden_models as g\nfrom sparsegen.targets import TARGETS\n"
        "for t in ('c', 'onnx'):\n for n, m in g.EVERY.items():\n  for f, b in TARGETS[t].export(m, n).files.items():\n"
        "   print(f, hashlib.sha256(b).hexdigest())"
    )
    here = [
        f"{file} {hashlib.sha256(content).hexdigest()}"
        for target in ("c", "onnx")
        for name, of in EVERY.items()
        for file, content in TARGETS[target].export(of, name).files.items()
    ]
    tests = Path(__file__).parents[2]
    for seed in ("0", "12345"):
        environment = {
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)]),
            "OPENBLAS_NUM_THREADS": "1",
        }
        printed = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert printed.stdout.splitlines() == here


@pytest.mark.parametrize("name", EVERY)
def test_no_date_and_no_path(name, c_exports):
    for file, content in c_exports[name].export.files.items():
        text = content.decode()
        assert not re.search(r"\b(19|20)\d\d[-/]\d\d|\d\d:\d\d", text), file
        assert str(Path.home()) not in text
        assert str(Path(__file__).parent) not in text
        assert not re.search(r"[\"' ]/(home|tmp|usr|root|work)", text)
        assert text.isascii()
        assert max(map(len, text.splitlines())) <= 140


def test_every_symbol_and_macro_has_the_prefix(c_exports):
    w = c_exports["several_kernels"]
    source = (w.export.files["several_kernels.c"] + w.export.files["several_kernels.h"]).decode()
    for symbol in re.findall(
        r"^(?:static )?(?:const )?(?:float|int|void|char \*)(?: \*)?\s*(\w+)[\[(]", source, re.MULTILINE
    ):
        assert symbol.startswith("several_kernels_")
    assert {m.split("_")[0] for m in re.findall(r"#define (\w+)", source)} == {"SEVERAL"}


def test_example_program_runs(c_exports, tmp_path):
    for name in ("binary_rbf", "laplacian_text"):
        folder = c_exports[name].folder
        command = known(re.search(r"Build: cc (.*?) -o example", (folder / "example_main.c").read_text()))[1].split()
        assert command[0] == "-std=c99"
        built = compile_c(
            any_compiler(), *command[:2], *(folder / file for file in command[2:]), "-o", tmp_path / "example"
        )
        assert built.returncode == 0, built.stderr
        assert b"self-test ok" in subprocess.run([tmp_path / "example"], capture_output=True, check=True).stdout


def test_card_is_in_the_header():
    header = TARGETS["c"].export(SMALL["binary_rbf"], "m").files["m.h"].decode()
    assert "method: by hand" in header
    assert "kernel: rbf(gamma=0.25)" in header
    assert "accuracy: 96.25 % on 80 test rows" in header
    assert f"model: sha256 {SMALL['binary_rbf'].sha256[:16]}" in header
    assert 'x[1]: a "quoted" * / name' in header
    assert "x[2]: gr??e" in header


def test_more_vectors_than_a_16_bit_int_counts_get_a_wider_index():
    m = 32768
    of = SparseModel(np.arange(float(m))[:, None], np.ones((1, 1, m)), np.zeros(1), EVERY["one_feature"].kernels,
                     EVERY["one_feature"].transform, (0, 1))  # fmt: skip
    source = TARGETS["c"].export(of, "m").files["m.c"].decode()
    assert "for (long u = 0;" in source
    assert "for (int u = 0;" not in source
    assert "for (int u = 0;" in TARGETS["c"].export(EVERY["one_feature"], "m").files["m.c"].decode()


def test_a_coefficient_beyond_float32_is_one_sentence():
    of = model([rbf()], 2, 2, (0, 1))
    huge = SparseModel(of.vectors, 1e39 * of.coef, of.intercept, of.kernels, of.transform, of.classes)
    for target in ("c", "onnx"):
        with pytest.raises(ModelError, match="does not fit in float32; rescale"):
            TARGETS[target].export(huge, "m")


def test_a_bad_name_is_refused_by_every_target():
    for target in TARGETS.values():
        with pytest.raises(OptionError, match="cannot prefix"):
            target.export(SMALL["poly"], "../m")
