"""The C++ class: C++11 without exceptions or RTTI, lengths checked by the compiler, no heap."""

from __future__ import annotations

import subprocess

import pytest
from c_programs import compile_c, compiler
from golden_models import SMALL, rows
from wrapped import COUNTS, WARNINGS, built, packed

from sparsegen.lowering.formats import Format

FLAGS = ("-std=c++11", "-O2", "-fno-exceptions", "-fno-rtti", *WARNINGS)


def build(package, main, tmp_path, name="g++"):
    """Compile the C as C and the program as C++, as a user would; return the program."""
    (source,) = package.export.sources
    c = compiler({"g++": "gcc", "clang++": "clang"}[name])
    built(c, "-std=c99", "-O2", *WARNINGS, "-c", package.folder / source, "-o", tmp_path / "m.o")
    built(compiler(name), *FLAGS, f"-I{package.folder}", main, tmp_path / "m.o", "-o", tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("name", ["g++", "clang++"])
@pytest.mark.parametrize("of", SMALL)
def test_the_example_runs(of, name, tmp_path):
    package = packed("cpp", SMALL[of], "m", tmp_path / "p")
    program = build(package, package.folder / "example_main.cpp", tmp_path, name)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert printed.endswith(", self-test ok\n")


def test_the_class_computes_what_python_computes(tmp_path):
    of = SMALL["laplacian_text"]
    package = packed("cpp", of, "m", tmp_path / "p")
    row = rows(of)[5]
    numbers = ", ".join(f"{v!r}f" for v in row.tolist())
    main = f"""
    #include "m.hpp"
    #include "m.hpp"
    #include <stdio.h>
    int main() {{
        const m_classifier model{{}};
        const float x[m_classifier::features] = {{{numbers}}};
        float scores[m_classifier::outputs];
        model.scores(x, scores);
        for (int k = 0; k < m_classifier::outputs; ++k) {{ printf("%.9g ", static_cast<double>(scores[k])); }}
        switch (m_classifier::class_of(x)) {{
        case M_CLASS_LEFT: case M_CLASS_RIGHT: case M_CLASS_GR_ER: break; // -Wswitch: there are no others
        }}
        printf("%d %d %s", static_cast<int>(model.class_of(x)), model.predict(x), m_classifier::classify(x));
        if (m_classifier::predict_at(&x[0]) != model.predict(x)) {{ return 2; }}
        return m_classifier::selftest() ? 0 : 1;
    }}
    """
    (tmp_path / "main.cpp").write_text(main)
    program = build(package, tmp_path / "main.cpp", tmp_path)
    *scores, index, again, label = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    assert [float(s) for s in scores] == pytest.approx(of.scores(row[None])[0].tolist(), rel=1e-5)
    assert int(index) == int(again) == of.predict_index(row[None])[0]
    assert label == of.predict(row[None])[0]


def test_the_class_of_an_integer_model_tells_what_is_in_range(tmp_path):
    package = packed("cpp", SMALL["poly"], "p", tmp_path / "float")
    assert b"in_range" not in package.export.files["p.hpp"]
    package = packed(
        "cpp", SMALL["binary_rbf"], "m", tmp_path / "p", numbers=Format("q7", rows=rows(SMALL["binary_rbf"]))
    )
    main = """
    #include "m.hpp"
    int main() {
        const float inside[m_classifier::features] = {0.0f, 0.0f, 0.0f};
        const float outside[m_classifier::features] = {0.0f, 1e9f, 0.0f};
        return m_classifier::in_range(inside) && !m_classifier::in_range(outside) ? 0 : 1;
    }
    """
    (tmp_path / "main.cpp").write_text(main)
    assert subprocess.run([build(package, tmp_path / "main.cpp", tmp_path)], check=False).returncode == 0


@pytest.mark.parametrize("dtype", ["f32", "q7"])
def test_the_class_gives_probabilities_where_the_model_has_them(dtype, tmp_path):
    assert b"probabilit" not in packed("cpp", SMALL["poly"], "p", tmp_path / "none").export.files["p.hpp"]
    of = SMALL["temperature"]
    package = packed("cpp", of, "m", tmp_path / "p", numbers=Format(dtype, reject=0.99))
    lowered = package.export.lowered
    row = rows(of)[3:4]
    numbers = ", ".join(f"{v!r}f" for v in row[0].tolist())
    main = f"""
    #include "m.hpp"
    #include <stdio.h>
    int main() {{
        const float x[m_classifier::features] = {{{numbers}}};
        m_classifier::probability_type p[m_classifier::classes];
        m_classifier::score_type score;
        m_classifier::probabilities(x, p);
        for (int k = 0; k < m_classifier::classes; ++k) {{ printf("%.9g ", static_cast<double>(p[k])); }}
        const bool same = m_classifier::predict_score(x, score) == m_classifier::predict(x);
        printf("%d %d %.9g", m_classifier::predict_or_reject(x), same, static_cast<double>(score));
        return 0;
    }}
    """
    (tmp_path / "main.cpp").write_text(main)
    program = build(package, tmp_path / "main.cpp", tmp_path)
    *p, rejected, same, score = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    assert lowered is not None and lowered.probabilities is not None
    scores = lowered.program.scores(lowered.inputs(row))
    assert [float(one) for one in p] == pytest.approx(lowered.probabilities.of(scores)[0].tolist(), abs=1e-6)
    assert (rejected, same) == ("-1", "1")
    assert float(score) == pytest.approx(scores.max(), rel=1e-5)


def test_a_row_of_another_length_does_not_compile(tmp_path):
    packed("cpp", SMALL["poly"], "m", tmp_path)
    for length, compiles in ((5, True), (4, False), (6, False)):
        source = f'#include "m.hpp"\nint f(const float (&x)[{length}]);\n'
        source += f"int f(const float (&x)[{length}]) {{ return m_classifier::predict(x); }}\n"
        (tmp_path / "main.cpp").write_text(source)
        result = compile_c(compiler("g++"), *FLAGS, "-c", tmp_path / "main.cpp", "-o", tmp_path / "main.o")
        assert (result.returncode == 0) == compiles


def test_classes_whose_names_differ_only_in_case_are_refused(tmp_path):
    for folder, name in (("one", "m"), ("two", "M")):
        packed("cpp", SMALL["poly"], name, tmp_path / folder)
    (tmp_path / "main.cpp").write_text('#include "one/m.hpp"\n#include "two/M.hpp"\n')
    result = compile_c(compiler("g++"), *FLAGS, "-c", tmp_path / "main.cpp", "-o", tmp_path / "main.o")
    assert result.returncode != 0
    assert "names differ only in case; rename one" in result.stderr


def test_two_classes_in_one_program(tmp_path):
    one = packed("cpp", SMALL["poly"], "m", tmp_path)
    packed("cpp", SMALL["linear"], "m_two", tmp_path)
    main = '#include "m.hpp"\n#include "m_two.hpp"\n'
    main += "int main() { return m_classifier::selftest() && m_two_classifier::selftest() ? 0 : 1; }\n"
    (tmp_path / "main.cpp").write_text(main)
    built(compiler("gcc"), "-std=c99", "-c", tmp_path / "m_two.c", "-o", tmp_path / "two.o")
    built(compiler("gcc"), "-std=c99", "-c", tmp_path / one.export.sources[0], "-o", tmp_path / "m.o")
    objects = [tmp_path / "m.o", tmp_path / "two.o"]
    built(compiler("g++"), *FLAGS, tmp_path / "main.cpp", *objects, "-o", tmp_path / "run")
    assert subprocess.run([tmp_path / "run"], check=False).returncode == 0


def test_an_integer_model_has_a_class_too(counts, tmp_path):
    package = packed("cpp", COUNTS, "m", tmp_path / "p", numbers=counts)
    program = build(package, package.folder / "example_main.cpp", tmp_path)
    assert "label few, self-test ok" in subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert f"typedef {package.export.input_dtype.name}_t input_type;" in package.texts()["m.hpp"]
    assert "typedef int32_t score_type;" in package.texts()["m.hpp"]


def test_avr_compiles_the_class(tmp_path):
    """avr-libc has no C++ library: the class must not need one."""
    package = packed("cpp", SMALL["poly"], "m", tmp_path)
    source = '#include "m.hpp"\nconst char *f();\nconst float x[5] = {1, 2, 3, 4, 5};\n'
    (tmp_path / "main.cpp").write_text(source + "const char *f() { return m_classifier::classify(x); }\n")
    command = [*compiler("avr-g++"), "-mmcu=atmega328p", *FLAGS, f"-I{package.folder}"]
    built(command, "-c", tmp_path / "main.cpp", "-o", tmp_path / "main.o")
