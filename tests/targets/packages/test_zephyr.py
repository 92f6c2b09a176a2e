"""The Zephyr module: its metadata, and its CMake run by the real CMake over a stand-in for Zephyr's package."""

from __future__ import annotations

import re
import subprocess

import pytest
from c_programs import compiler
from golden_models import EVERY, SMALL
from wrapped import packed

from sparsegen.targets import TARGETS

# What find_package(Zephyr) does that a module sees: Kconfig symbols from prj.conf, the modules, the app library.
ZEPHYR = r"""
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/prj.conf lines REGEX "^CONFIG_")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "=y$" "" option "${line}")
  string(REPLACE CONFIG_ "" symbol "${option}")
  set(known FALSE)
  foreach(module IN LISTS EXTRA_ZEPHYR_MODULES)
    file(READ ${module}/Kconfig kconfig)
    if(kconfig MATCHES "\nconfig ${symbol}\n")
      set(known TRUE)
    endif()
  endforeach()
  if(NOT known)
    message(FATAL_ERROR "undefined symbol ${option}")
  endif()
  set(${option} y)
endforeach()
project(zephyr_stub LANGUAGES C)
add_library(zephyr_interface INTERFACE)
function(zephyr_include_directories)
  foreach(folder IN LISTS ARGN)
    target_include_directories(zephyr_interface INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  endforeach()
endfunction()
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC "")
  target_link_libraries(${name} PUBLIC zephyr_interface)
  set_property(GLOBAL APPEND PROPERTY ZEPHYR_LIBS ${name})
endmacro()
function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endfunction()
foreach(module IN LISTS EXTRA_ZEPHYR_MODULES)
  file(STRINGS ${module}/zephyr/module.yml yml)
  if(NOT yml MATCHES "name: ([a-z_]+);build:;  cmake: ([.]);  kconfig: Kconfig")
    message(FATAL_ERROR "bad module.yml: ${yml}")
  endif()
  add_subdirectory(${module}/${CMAKE_MATCH_2} ${CMAKE_BINARY_DIR}/modules/${CMAKE_MATCH_1})
endforeach()
get_property(libraries GLOBAL PROPERTY ZEPHYR_LIBS)
add_executable(app)
target_link_libraries(app PRIVATE zephyr_interface ${libraries})
"""


def configure(sample, folder, *options):
    (cmake,) = compiler("cmake")
    (folder / "stub").mkdir(parents=True)
    (folder / "stub" / "ZephyrConfig.cmake").write_text(ZEPHYR)
    command = [cmake, "-S", sample, "-B", folder / "out", f"-DZephyr_DIR={folder / 'stub'}", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def run(sample, folder, *options):
    configured = configure(sample, folder, *options)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    (cmake,) = compiler("cmake")
    build = [cmake, "--build", folder / "out"]
    result = subprocess.run(build, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    return subprocess.run([folder / "out" / "app"], capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_sample_switches_the_model_on_and_runs(tmp_path):
    package = packed("zephyr", SMALL["laplacian_text"], "gestures", tmp_path / "m")
    assert "self-test ok" in run(package.folder / "samples" / "predict", tmp_path / "b")


def test_a_model_that_is_not_switched_on_is_not_built(tmp_path):
    package = packed("zephyr", SMALL["poly"], "gestures", tmp_path / "m")
    sample = package.folder / "samples" / "predict"
    assert (sample / "prj.conf").read_text().endswith("\nCONFIG_SPARSEGEN_GESTURES=y\n")
    (sample / "prj.conf").write_text("# nothing\n")
    configured = configure(sample, tmp_path / "b")
    assert configured.returncode == 0, configured.stderr
    assert not (
        tmp_path / "b" / "out" / "modules" / "sparsegen_gestures" / "CMakeFiles" / "sparsegen_gestures.dir"
    ).exists()


def test_two_modules_in_one_application(tmp_path):
    one = packed("zephyr", SMALL["poly"], "one", tmp_path / "one")
    two = packed("zephyr", EVERY["several_kernels"], "two", tmp_path / "two")
    sample = one.folder / "samples" / "predict"
    (sample / "prj.conf").write_text("CONFIG_SPARSEGEN_ONE=y\nCONFIG_SPARSEGEN_TWO=y\n")
    main = '#include "one.h"\n#include "two.h"\n#include <stdio.h>\n'
    main += 'int main(void) { printf("%d", one_selftest() + two_selftest()); return 0; }\n'
    (sample / "src" / "main.c").write_text(main)
    # The command line's list comes first, as it does with west build -- -DEXTRA_ZEPHYR_MODULES=...
    assert run(sample, tmp_path / "b", f"-DEXTRA_ZEPHYR_MODULES={two.folder}") == "0"


@pytest.mark.parametrize("name", ["m", "Exercise_2"])
def test_metadata(name):
    files = {path: content.decode() for path, content in TARGETS["zephyr"].export(SMALL["poly"], name).files.items()}
    lines = [line for line in files["zephyr/module.yml"].splitlines() if not line.startswith("#")]
    assert lines == [
        f"name: sparsegen_{name}", "build:", "  cmake: .", "  kconfig: Kconfig", "samples:", "  - samples",
    ]  # fmt: skip
    (symbol,) = re.findall(r"^config (\w+)$", files["Kconfig"], re.MULTILINE)
    assert re.fullmatch(r"[A-Z0-9_]+", symbol)
    assert f"if(CONFIG_{symbol})" in files["CMakeLists.txt"]
    assert files["samples/predict/prj.conf"].endswith(f"\nCONFIG_{symbol}=y\n")
    for line in files["Kconfig"].splitlines():
        assert not line or line.startswith(("#", "config ", '\tbool "', "\thelp", "\t  ")), line
    assert "\t" not in files["zephyr/module.yml"] + files["samples/predict/sample.yaml"]
    assert all(f"{source}" in files for source in re.findall(r"src/\w+\.c", files["CMakeLists.txt"]))
