"""Integer C: clean under every compiler, needs no library, as small and quick as promised, true to its header."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c_programs import any_compiler, compile_c, compiler, damaged, emulated, run_c, symbols, warning_level
from golden_models import INTEGER, SMALL, model, rbf, rows
from integer_models import INTEGERS, READS, SIXTEEN, TAILS, integer_export_of, tail_model
from narrowing import known
from pooled_models import POOLED

from benchmarks.trust._together import integer_program, shared_inputs, together
from sparsegen.devices import DEVICES
from sparsegen.devices._toolchain import SECTION_FLAGS
from sparsegen.errors import ModelError, OptionError
from sparsegen.lowering.formats import Format
from sparsegen.model import SparseModel
from sparsegen.targets import TARGETS

GOLDEN = Path(__file__).parents[2] / "golden"
WARNINGS = (
    "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wdouble-promotion", "-Werror",
)  # fmt: skip
HELPERS = r"__aeabi_(f(add|sub|mul|2iz|2uiz|cmp\w+)|l?mul|uidiv|idiv)|__\w+sf[23]|__fixu?nssfsi|__fixsfsi"


@pytest.fixture(scope="session")
def integer_exports():
    """One export of every kind of program, input and loops, and of every tail with the loops that have tails."""
    of = {
        "rbf": SIXTEEN,
        "several": model([rbf(1.0), rbf(0.25), rbf(4.0)], 4, 3, (0, 1, 2)),
        "laplacian": SMALL["laplacian_text"],
        "linear": SMALL["linear"],
        "wide": model([rbf(0.02)], 3, 41, ("a", "b")),
        "projected": INTEGER["integer_projected"].model,
    }
    found = []
    for (kind, made), dtype, reads in itertools.product(of.items(), INTEGERS, READS):
        if kind != "projected" or reads != "raw-uint8":
            name = f"{kind}_{dtype}_{reads.replace('-', '_')}"
            found.append(integer_export_of(made, name, dtype, reads, rows(made)))
    for kind in ("rbf", "several", "laplacian", "linear"):
        found.append(integer_export_of(of[kind], f"{kind}_q7c8_f32", "q7c8", "f32", rows(of[kind])))
    tails = [*itertools.product(INTEGERS, TAILS, ("dsp", "avr")), ("q7c8", 9, "dsp"), ("q7c8", 9, "avr")]
    for dtype, d, loops in tails:
        made = tail_model(d, pixels=True)
        found.append(
            integer_export_of(made, f"{loops}_{dtype}_{d}", dtype, "raw-int16" if d % 2 else "grid", rows(made), loops)
        )
    for (i, pooled), loops in itertools.product(enumerate(POOLED.values()), ("portable", "dsp", "avr")):
        dtype, reads = ("q15", "f32") if i % 2 else ("q7", "raw-uint8")
        found.append(integer_export_of(pooled.model, f"{loops}_{dtype}_pooled{i}", dtype, reads, pooled.rows, loops))
    return {export.name: export for export in found}


@pytest.fixture(scope="session")
def one_file(integer_exports, tmp_path_factory):
    """Return what writes a C file that includes all exports whose name begins in some way."""
    folder = tmp_path_factory.mktemp("integer")
    for export in integer_exports.values():
        for file, content in export.files.items():
            (folder / (f"{export.name}_main.c" if file == "example_main.c" else file)).write_bytes(content)

    def write(prefix=""):
        names = [name for name in integer_exports if name.startswith(prefix)]
        path = folder / f"all_{prefix}.c"
        path.write_text("".join(f'#include "{name}.c"\n' for name in names))
        return path

    return write


@pytest.mark.parametrize("name", INTEGER)
def test_golden(name, update_golden):
    for file, content in INTEGER[name].export(name).files.items():
        path = GOLDEN / name / file
        if update_golden:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        assert content.decode() == path.read_text(), f"{path.name} changed; see pytest --update-golden"


# ---- Compilers -------------------------------------------------------------------------------------------------------


def assert_silent(command, source, folder, *flags):
    result = compile_c(command, *flags, *WARNINGS, "-c", source, "-o", folder / "out.o")
    assert result.returncode == 0, result.stderr[:3000]
    assert "warning" not in result.stderr


@pytest.mark.parametrize("language", ["c99", "c++17"])
@pytest.mark.parametrize("name", ["gcc", "clang", "zig"])
def test_no_compiler_warns(name, language, one_file, tmp_path):
    command = compiler(name) + (["-x", "c++"] if language == "c++17" else [])
    assert_silent(command, one_file(), tmp_path, f"-std={language}", warning_level(name, "-O1"))


@pytest.mark.parametrize("language", ["c99", "c++17"])
@pytest.mark.parametrize("name", ["arm-none-eabi-gcc", "zig"])
def test_no_compiler_warns_of_dsp_loops(name, language, one_file, tmp_path):
    command = compiler(name) + (["-x", "c++"] if language == "c++17" else [])
    machine = ["-mcpu=cortex-m4", "-mthumb"] if name != "zig" else emulated("cortex-m4f").compiler_flags
    level = warning_level(name, "-O2")
    assert_silent(command, one_file("dsp"), tmp_path, *machine, "-ffreestanding", f"-std={language}", level)


@pytest.mark.parametrize("part", ["atmega328p", "attiny85"])
def test_no_compiler_warns_of_avr_loops(part, one_file, tmp_path):
    """The ATtiny85 has no multiplier: it gets the portable loops."""
    for dtype in (*INTEGERS, "q7c8"):  # apart: of models that share a table, avr-gcc 5 calls one uninitialized
        assert_silent(compiler("avr-gcc"), one_file(f"avr_{dtype}_"), tmp_path, f"-mmcu={part}", "-std=gnu99", "-Os")


def test_cpp_on_avr_is_refused_rather_than_filling_the_ram(one_file, tmp_path):
    avr = (*compiler("avr-gcc"), "-x", "c++", "-mmcu=atmega328p", "-std=gnu++11", "-Os", "-c")
    source = one_file("avr_q7_16")
    result = compile_c(avr, source, "-o", tmp_path / "o")
    assert result.returncode != 0
    assert next(line for line in result.stderr.splitlines() if "error:" in line).endswith(
        '#error "compile avr_q7_16.c for AVR as C: C++ has no __flash, so tables would fill the RAM"'
    )
    assert result.stderr.count("error:") == 1
    user = tmp_path / "sketch.cpp"
    user.write_text(f'#include "{source.parent}/avr_q7_16.h"\nint f() {{ return avr_q7_16_selftest(); }}\n')
    assert compile_c(avr, user, "-o", tmp_path / "o").returncode == 0


def test_avr_c_without_flash_tables_is_refused(one_file, tmp_path):
    result = compile_c(
        compiler("avr-gcc"), "-mmcu=atmega328p", "-std=c99", "-Os", "-c", one_file("avr_q7_1"), "-o", tmp_path / "o"
    )
    assert result.returncode != 0
    assert "-std=gnu99" in result.stderr


@pytest.mark.parametrize("device", ["cortex-m0plus", "cortex-m4f", "rv32imc"])
def test_object_needs_no_library_and_writes_no_data(device, integer_exports, one_file, tmp_path):
    pytest.importorskip("elftools")
    from elftools.elf.elffile import ELFFile

    flags = [*emulated(device).compiler_flags, "-std=c99", "-Os", "-ffreestanding", *SECTION_FLAGS]
    compiled = compile_c(compiler("zig"), *flags, "-c", one_file(), "-o", tmp_path / "m.o")
    assert compiled.returncode == 0, compiled.stderr
    elf = ELFFile(io.BytesIO((tmp_path / "m.o").read_bytes()))
    found = symbols(elf)
    undefined = {s.name for s in found if s["st_shndx"] == "SHN_UNDEF"} - {""}
    assert {name for name in undefined if not re.fullmatch(HELPERS, name)} == set()
    assert sum(s["sh_size"] for s in elf.iter_sections() if s["sh_flags"] & 1 and s["sh_flags"] & 2) == 0
    of_classes, of_value = ("predict", "predict_score", "label"), ("value",)
    public = {
        f"{name}_{function}"
        for name, export in integer_exports.items()
        for function in ("scores", "in_range", "selftest", *(of_classes if export.has_classes else of_value))
    }
    assert {s.name for s in found if s["st_info"]["bind"] == "STB_GLOBAL"} - undefined == public


def test_integers_need_no_helper_at_all(one_file, tmp_path):
    if shutil.which("nm") is None:
        pytest.skip("nm is not on the PATH")
    source = one_file("rbf_q7_grid")
    assert compile_c(any_compiler(), "-std=c99", "-O2", "-c", source, "-o", tmp_path / "m.o").returncode == 0
    command = [shutil.which("nm"), "-u", tmp_path / "m.o"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [line for line in said.split() if line not in ("U", "_GLOBAL_OFFSET_TABLE_")] == []


def test_two_models_in_one_binary_do_not_collide(tmp_path):
    first = integer_export_of(SIXTEEN, "first", "q7", "grid", rows(SIXTEEN))
    second = integer_export_of(SIXTEEN, "second", "q15", "grid", rows(SIXTEEN), "dsp")
    for export in (first, second):
        for file, content in export.files.items():
            (tmp_path / file).write_bytes(content)
    (tmp_path / "main.c").write_text(
        '#include "first.h"\n#include "second.h"\nint main(void) { return first_selftest() + second_selftest(); }\n'
    )
    sources = [tmp_path / f"{name}.c" for name in ("first", "second", "main")]
    built = compile_c(any_compiler(), "-std=c99", *WARNINGS, *sources, "-o", tmp_path / "both")
    assert built.returncode == 0, built.stderr
    assert subprocess.run([tmp_path / "both"], check=False).returncode == 0


# ---- The self-test ---------------------------------------------------------------------------------------------------


DAMAGE = [
    ("integer_rbf", "rows"), ("integer_rbf", "powers"), ("integer_powers", "rows"), ("integer_powers", "intercept"),
    ("integer_powers", "start"), ("integer_projected", "projection"),
    ("integer_avr", "rows"), ("integer_narrow", "rows"), ("integer_laplacian", "rows"),
    ("integer_linear", "coef"), ("integer_linear", "intercept"),
]  # fmt: skip


def test_the_self_test_notices_damage_in_every_table(tmp_path):
    sources, calls = [], []
    for i, (name, table) in enumerate([*DAMAGE, *((name, None) for name in INTEGER)]):
        export = INTEGER[name].export(f"m{i}")
        export = export if table is None else damaged(export, table)
        for file in (f"m{i}.c", f"m{i}.h"):
            (tmp_path / file).write_bytes(export.files[file])
        sources.append(f'#include "m{i}.c"\n')
        calls.append(f'    printf("%d ", m{i}_selftest());\n')
    main = f"{''.join(sources)}#include <stdio.h>\nint main(void)\n{{\n{''.join(calls)}    return 0;\n}}\n"
    results = [int(word) for word in run_c(main, tmp_path, "-O0").split()]
    assert {pair for pair, result in zip(DAMAGE, results, strict=False) if result == 0} == set()
    assert results[len(DAMAGE) :] == [0] * len(INTEGER)


@pytest.mark.parametrize("name", ["cortex-m0plus", "cortex-m4f", "rv32imc", "atmega328p"])
def test_the_self_test_notices_damage_on_devices(name):
    device = DEVICES[name]
    if device.missing() is not None:
        pytest.skip(f"{name}: {device.missing()}")
    exports = [integer_export_of(SIXTEEN, f"m{dtype}", dtype, "f32", rows(SIXTEEN), device.loops) for dtype in INTEGERS]
    broken = [damaged(export, "rows") for export in exports]
    out = device.run(together([*exports, *(renamed(export) for export in broken)]), shared_inputs(exports)[:1])
    assert out.labels.tolist() == [len(broken)]


def renamed(export):
    """Return the export under another name, so that it can stand beside the original."""
    old, new = export.name, f"{export.name}b"
    files = {
        file.replace(old, new): content.replace(old.encode(), new.encode()).replace(
            old.upper().encode(), new.upper().encode()
        )
        for file, content in export.files.items()
    }
    return replace(export, name=new, files=files, sources=(f"{new}.c",))


# ---- What it costs ---------------------------------------------------------------------------------------------------

# Instructions, or cycles on AVR; flash; bytes of RAM.
REACH = {
    ("cortex-m0plus", "q7"): (2500, 900, 64), ("cortex-m0plus", "q15"): (2500, 1100, 64),
    ("cortex-m3", "q7"): (2000, 900, 64), ("cortex-m3", "q15"): (2000, 1100, 64),
    ("cortex-m4f", "q7"): (800, 900, 80), ("cortex-m4f", "q15"): (800, 1100, 64),
    ("rv32imc", "q7"): (1700, 1000, 80), ("rv32imc", "q15"): (1700, 1250, 80),
    ("atmega328p", "q7"): (6200, 1100, 64), ("atmega328p", "q15"): (12500, 1350, 64),
}  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), REACH)
def test_16_vectors_of_16_features_cost_no_more_than_promised(name, dtype):
    device = DEVICES[name]
    if device.missing() is not None:
        pytest.skip(f"{name}: {device.missing()}")
    export = integer_export_of(SIXTEEN, "m", dtype, "grid", loops=device.loops)
    measured = device.measure(export, export.program.inputs(rows(SIXTEEN)))
    cost = measured.instructions if measured.cycles is None else measured.cycles
    most, flash, ram = REACH[name, dtype]
    assert known(cost) <= most
    assert known(measured.flash) <= flash
    assert known(measured.ram) <= ram


def test_table_bytes_are_those_of_the_tables(tmp_path):
    for name, golden in INTEGER.items():
        export = golden.export(name)
        source = export.files[f"{name}.c"].decode()
        (tmp_path / f"{name}.h").write_bytes(export.files[f"{name}.h"])
        tables = re.findall(rf"({name}_\w+)\[\d+\] = {{", source)
        sizes = " + ".join(f"sizeof {table}" for table in tables)
        printed = run_c(
            f'{source}\n#include <stdio.h>\nint main(void) {{ printf("%d", (int)({sizes})); return 0; }}', tmp_path
        )
        assert int(printed) == export.table_bytes, name
        assert f"flash: {export.table_bytes} bytes of tables" in export.files[f"{name}.h"].decode()


# ---- What it says ----------------------------------------------------------------------------------------------------


def header(of, numbers):
    return TARGETS["c"].export(of, "m", numbers).files["m.h"].decode()


def test_the_header_of_a_grid_tells_low_and_step_of_every_feature():
    of = SMALL["binary_rbf"]
    export = TARGETS["c"].export(of, "m", Format("q7", "grid"))
    found = re.findall(r"index of x\[(\d)\]: 0 is (\S+), one step is (\S+)\n", export.files["m.h"].decode())
    program = integer_program(export)
    assert [int(j) for j, _, _ in found] == [0, 1, 2]
    assert [float(low) for _, low, _ in found] == program.low.tolist()
    assert [float(step) for _, _, step in found] == program.step.tolist()
    assert "one step is" not in header(of, Format("q7", "f32"))
    assert "index of x[39]: 0 is" in header(model([rbf(0.02)], 3, 40, (0, 1)), Format("q7", "grid"))


def test_the_header_holds_what_is_guaranteed_and_measured():
    of = SMALL["binary_rbf"]
    export = TARGETS["c"].export(of, "m", Format("q7", "f32", rows=rows(of), labels=of.predict(rows(of))))
    text = export.files["m.h"].decode()
    promises = known(export.lowered).promises
    subjects = ["range", "score error", "label", "overflow", "agreement", "lead", "proved"]
    assert [subject for subject, _ in promises] == subjects
    for subject, sentence in promises:
        assert f"{subject}: {sentence}" in text
    assert "100.00 % of 40 calibration rows keep their label, 0.00 points of accuracy are lost" in text
    assert "number format: q7: 8-bit vectors and indices, 16-bit coefficients" in text
    assert re.search(r"#define M_UNIT \d\.\d+e-\d+f", text)
    assert "accuracy: 100.00 % in q7 (40 of 40 calibration rows; the real-valued model: 40)\n" in text


def test_the_accuracy_in_the_header_is_that_of_its_number_format():
    """The model's own accuracy stands there only as what it is: measured in Python, on other rows."""
    of = SMALL["binary_rbf"]
    wanted = of.predict(rows(of)).copy()
    wanted[:3] = 1 - wanted[:3]
    labelled = TARGETS["c"].export(of, "m", Format("q7", "f32", rows=rows(of), labels=wanted)).files["m.h"].decode()
    assert "accuracy: 92.50 % in q7 (37 of 40 calibration rows; the real-valued model: 37)\n" in labelled
    assert "interval: 95 % interval 80.13 to 97.42 % if rows are independent and were never trained on" in labelled
    assert "96.25 %" not in labelled
    in_python = "96.25 % on 80 test rows in Python, as float64"
    for data in (None, rows(of)):
        unlabelled = TARGETS["c"].export(of, "m", Format("q7", "f32", rows=data)).files["m.h"].decode()
        assert (
            f"accuracy: not measured in q7 (calibrate on labelled rows for it); the real-valued model has {in_python}"
            in (unlabelled)
        )
    assert f"accuracy: {in_python}" in TARGETS["c"].export(of, "m").files["m.h"].decode()


@pytest.mark.parametrize("accuracy", [10**400, -0.5, 1.5, float("nan"), "0.9", None])
def test_a_card_with_an_accuracy_that_is_none_has_no_line_for_it(accuracy):
    try:
        of = replace(SMALL["binary_rbf"], card={"accuracy": accuracy})
    except ModelError:
        return
    assert "accuracy:" not in TARGETS["c"].export(of, "m").files["m.h"].decode()


def test_overflow_is_ruled_out_only_for_indices_that_the_grid_has():
    """A uint16 holds more than the indices of a q15 grid, and sums of such squares would not fit."""
    kinds = (("q15", "grid"), ("q7", "grid"), ("q15", "f32"))
    exports = [integer_export_of(SIXTEEN, "m", *which, rows(SIXTEEN)) for which in kinds]
    promised = [dict(known(export.lowered).promises)["overflow"] for export in exports]
    assert promised[0].startswith("ruled out for indices up to 11585;")
    assert promised[1].startswith("ruled out for every input;")
    assert promised[2].startswith("ruled out for every input;")


def test_the_same_model_gives_the_same_bytes_in_any_process():
    script = (
        "import hashlib, golden_models as g\n"
        "for name, golden in g.INTEGER.items():\n for file, b in golden.export(name).files.items():\n"
        "  print(file, hashlib.sha256(b).hexdigest())"
    )
    here = [
        f"{file} {hashlib.sha256(content).hexdigest()}"
        for name, golden in INTEGER.items()
        for file, content in golden.export(name).files.items()
    ]
    tests = Path(__file__).parents[2]
    environment = {
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)]),
        "OPENBLAS_NUM_THREADS": "1",
    }
    printed = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert printed.stdout.splitlines() == here


def test_no_date_no_path_and_no_long_line(integer_exports):
    for export in integer_exports.values():
        for file, content in export.files.items():
            text = content.decode()
            assert not re.search(r"\b(19|20)\d\d[-/]\d\d|\d\d:\d\d|[\"' ]/(home|tmp|usr|root|work)", text), file
            assert text.isascii()
            assert max(map(len, text.splitlines())) <= 150, file


def test_every_symbol_and_macro_has_the_prefix(integer_exports):
    for name, export in integer_exports.items():
        source = (export.files[f"{name}.c"] + export.files[f"{name}.h"]).decode()
        assert {m for m in re.findall(r"#define (\w+)", source) if not m.startswith(f"{name.upper()}_")} == set()
        functions = re.findall(
            r"^(?:static )?(?:inline )?(?:const )?(?:u?int\w*|void|char \*)\s+\*?(\w+)\(", source, re.MULTILINE
        )
        assert functions
        assert {f for f in functions if not f.startswith(f"{name}_")} == set()


def test_untrusted_labels_and_cards_are_escaped(tmp_path):
    of = model(
        [rbf()],
        3,
        2,
        ('"); system("true', "end */ of", "??/"),
        card={"method": "*/ #error", "feature_names": ["*/", "b\\"]},
    )
    export = TARGETS["c"].export(of, "m", Format("q7", "grid"))
    for file, content in export.files.items():
        (tmp_path / file).write_bytes(content)
    printed = run_c(
        '#include "m.c"\n#include <stdio.h>\nint main(void) { fputs(m_label(0), stdout); return 0; }',
        tmp_path,
        *WARNINGS,
    )
    assert printed == b'"); system("true'


def test_what_integers_cannot_do_is_one_sentence():
    with pytest.raises(OptionError, match="the kernel poly has no integer form"):
        TARGETS["c"].export(SMALL["poly"], "m", Format("q7"))
    with pytest.raises(OptionError, match=r"there is no number format 'q8' .*; choose one of: f32, q15, q7"):
        TARGETS["c"].export(SMALL["binary_rbf"], "m", Format("q8"))
    with pytest.raises(OptionError, match="cannot prefix"):
        TARGETS["c"].export(SMALL["binary_rbf"], "../m", Format("q7"))
    of = SMALL["binary_rbf"]
    huge = SparseModel(of.vectors, 1e60 * of.coef, of.intercept, of.kernels, of.transform, of.classes)
    with pytest.raises(ModelError, match="too large for integers; rescale"):
        TARGETS["c"].export(huge, "m", Format("q7"))


def test_the_example_program_runs(tmp_path):
    export = INTEGER["integer_projected"].export("m")
    for file, content in export.files.items():
        (tmp_path / file).write_bytes(content)
    built = compile_c(
        any_compiler(), "-std=c99", tmp_path / "m.c", tmp_path / "example_main.c", "-o", tmp_path / "example"
    )
    assert built.returncode == 0, built.stderr
    assert b"self-test ok" in subprocess.run([tmp_path / "example"], capture_output=True, check=True).stdout


def test_a_constant_classifier_is_exported():
    of = SMALL["binary_rbf"]
    zero = SparseModel(of.vectors, 0.0 * of.coef, np.array([1.0]), of.kernels, of.transform, of.classes)
    export = TARGETS["c"].export(zero, "m", Format("q7", "grid"))
    program = integer_program(export)
    assert program.predict_index(program.inputs(rows(of))).all()
