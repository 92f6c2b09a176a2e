"""The single header: clean in C99 and C++17, included as often as one likes, code in one file only."""

from __future__ import annotations

import subprocess

import pytest
from c_programs import any_compiler, compile_c, compiler
from golden_models import EVERY, SMALL
from wrapped import COUNTS, WARNINGS, built, packed

LANGUAGES = {"c99": [], "c++17": ["-x", "c++"]}
USER = """
#include "one.h"
#include "two.h"
#define ONE_IMPLEMENTATION
#include "one.h"
#include "one.h"
#include "two.h"
int use(void);
int use(void) { return one_selftest() + two_selftest(); }
"""
OTHER = """
#define TWO_IMPLEMENTATION
#include "two.h"
#include "one.h"
#include "two.h"
int use(void);
int main(void) { return use(); }
"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_two_headers_included_twice_in_two_files(name, language, tmp_path):
    packed("header", SMALL["laplacian_text"], "one", tmp_path)
    packed("header", EVERY["several_kernels"], "two", tmp_path)
    (tmp_path / "user.c").write_text(USER)
    (tmp_path / "other.c").write_text(OTHER)
    command = [*compiler(name), f"-std={language}", "-O2", *WARNINGS, f"-I{tmp_path}"]
    sources = [*LANGUAGES[language], tmp_path / "user.c", tmp_path / "other.c"]
    built(command, *sources, "-o", tmp_path / "both")
    assert subprocess.run([tmp_path / "both"], check=False).returncode == 0


@pytest.mark.parametrize("of", EVERY)
def test_the_header_alone_is_the_model(of, tmp_path):
    package = packed("header", EVERY[of], "m", tmp_path)
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "m.h").write_bytes(package.export.files["m.h"])
    main = '#define M_IMPLEMENTATION\n#include "m.h"\nint main(void) { return m_selftest(); }\n'
    (tmp_path / "alone" / "main.c").write_text(main)
    built(any_compiler(), "-std=c99", *WARNINGS, tmp_path / "alone" / "main.c", "-o", tmp_path / "run")
    assert subprocess.run([tmp_path / "run"], check=False).returncode == 0


def test_without_the_definition_there_is_no_code(tmp_path):
    packed("header", SMALL["poly"], "m", tmp_path)
    (tmp_path / "user.c").write_text('#include "m.h"\nint main(void) { return m_selftest(); }\n')
    linked = compile_c(any_compiler(), "-std=c99", tmp_path / "user.c", "-o", tmp_path / "run")
    assert linked.returncode != 0 and "m_selftest" in linked.stderr


def test_the_example_runs(tmp_path):
    package = packed("header", SMALL["laplacian_text"], "m", tmp_path)
    built([*any_compiler(), f"-I{tmp_path}"], tmp_path / "m.c", tmp_path / "example_main.c", "-o", tmp_path / "example")
    assert b"self-test ok" in subprocess.run([tmp_path / "example"], capture_output=True, check=True).stdout
    assert package.texts()["example_main.c"].count("Build:") == 1


def test_an_integer_model_in_one_header(counts, tmp_path):
    kind = packed("header", COUNTS, "m", tmp_path, numbers=counts).export.input_dtype.name
    main = f"""
    #define M_IMPLEMENTATION
    #include "m.h"
    #include "m.h"
    int main(void) {{ const {kind}_t x[M_FEATURES] = {{250, 250, 250, 250, 9}}; return m_predict(x) - 1; }}
    """
    (tmp_path / "main.c").write_text(main)
    built(any_compiler(), "-std=c99", *WARNINGS, tmp_path / "main.c", "-o", tmp_path / "run")
    assert subprocess.run([tmp_path / "run"], check=False).returncode == 0
