"""The ESP-IDF component: its CMake run by CMake over a stand-in for ESP-IDF, its manifest read by the real manager."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from c_programs import compiler
from golden_models import SMALL, model, rbf
from wrapped import COUNTS, HOSTILE, packed

from sparsegen.errors import OptionError
from sparsegen.targets import TARGETS

# What ESP-IDF's project() does that a component sees: a component is a folder, named like it, with the headers of those
# that it names, and no others.
PROJECT = r"""
function(idf_component_register)
  cmake_parse_arguments(PARSE_ARGV 0 own "" "" "SRCS;INCLUDE_DIRS;REQUIRES;PRIV_REQUIRES")
  if(own_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "idf_component_register does not know ${own_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(component ${CMAKE_CURRENT_LIST_DIR} NAME)
  add_library(__idf_${component} STATIC ${own_SRCS})
  foreach(folder IN LISTS own_INCLUDE_DIRS)
    target_include_directories(__idf_${component} PUBLIC ${CMAKE_CURRENT_LIST_DIR}/${folder})
  endforeach()
  foreach(other IN LISTS own_REQUIRES)
    target_link_libraries(__idf_${component} PUBLIC __idf_${other})
  endforeach()
  foreach(other IN LISTS own_PRIV_REQUIRES)
    target_link_libraries(__idf_${component} PRIVATE __idf_${other})
  endforeach()
endfunction()
macro(project name)
  _project(${name} LANGUAGES C)
  file(GLOB folders ${CMAKE_SOURCE_DIR}/components/* ${CMAKE_SOURCE_DIR}/main $ENV{IDF_PATH}/components/*)
  foreach(folder IN LISTS folders)
    get_filename_component(component ${folder} NAME)
    add_subdirectory(${folder} ${CMAKE_BINARY_DIR}/esp-idf/${component})
  endforeach()
  add_executable(${name}.elf $ENV{IDF_PATH}/start.c)
  target_link_libraries(${name}.elf PRIVATE __idf_main)
endmacro()
"""
TIMER_H = "#include <stdint.h>\nint64_t esp_timer_get_time(void);\n"
TIMER_C = '#include "esp_timer.h"\nint64_t esp_timer_get_time(void) { static int64_t now; return now += 7; }\n'
START = "void app_main(void);\nint main(void) { app_main(); return 0; }\n"


def run(package, tmp_path) -> str:
    """Return what the example prints."""
    (cmake,) = compiler("cmake")
    idf = tmp_path / "idf"
    files = {
        "tools/cmake/project.cmake": PROJECT,
        "start.c": START,
        "components/esp_timer/CMakeLists.txt": 'idf_component_register(SRCS "esp_timer.c" INCLUDE_DIRS ".")\n',
        "components/esp_timer/esp_timer.h": TIMER_H,
        "components/esp_timer/esp_timer.c": TIMER_C,
    }
    for path, text in files.items():
        (idf / path).parent.mkdir(parents=True, exist_ok=True)
        (idf / path).write_text(text)
    places = {**os.environ, "IDF_PATH": str(idf)}
    strict = "-DCMAKE_C_FLAGS=-std=gnu17 -Wall -Wextra -Werror"
    for command in ([cmake, "-S", package.folder, "-B", tmp_path / "b", strict], [cmake, "--build", tmp_path / "b"]):
        ended = subprocess.run(command, env=places, capture_output=True, text=True, check=False, timeout=120)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    program = tmp_path / "b" / f"{package.export.name}_example.elf"
    return subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("of", ["laplacian_text", "binary_rbf"])
def test_the_project_builds_and_runs_its_component(of, tmp_path):
    package = packed("esp-idf", SMALL[of], "Gestures", tmp_path / "p")
    found = re.fullmatch(r"class (\d), label (.+), 7 microseconds, self-test ok\n", run(package, tmp_path))
    assert found and str(SMALL[of].classes[int(found[1])]) == found[2]


def test_an_integer_component(counts, tmp_path):
    package = packed("esp-idf", COUNTS, "sums", tmp_path / "p", numbers=counts)
    assert run(package, tmp_path) == "class 0, label few, 7 microseconds, self-test ok\n"


def test_two_components_in_one_project(tmp_path):
    package = packed("esp-idf", SMALL["poly"], "one", tmp_path / "p")
    packed("esp-idf", SMALL["linear"], "two", tmp_path / "other")
    (tmp_path / "other" / "components" / "two").rename(package.folder / "components" / "two")
    (package.folder / "main" / "CMakeLists.txt").write_text('idf_component_register(SRCS "main.c" REQUIRES one two)\n')
    (package.folder / "main" / "main.c").write_text(
        '#include "one.h"\n#include "two.h"\n#include <stdio.h>\n'
        'void app_main(void) { printf("%d", one_selftest() + two_selftest()); }\n'
    )
    assert run(package, tmp_path) == "0"


@pytest.mark.parametrize("name", ["m", "Exercise_2", "x" * 40])
def test_the_manifest_is_one_of_the_component_manager(name, tmp_path):
    package = packed("esp-idf", model([rbf()], 3, 3, HOSTILE), name, tmp_path / "p")
    folder = package.folder / "components" / name
    lines = [line for line in (folder / "idf_component.yml").read_text().splitlines() if not line.startswith("#")]
    assert [line.partition(":")[0] for line in lines] == ["version", "description", "license", "dependencies", "  idf"]
    assert re.fullmatch(r'version: "\d+\.\d+\.\d+"', lines[0]) and lines[2] == 'license: "0BSD"'
    manager = pytest.importorskip("idf_component_tools.manager", reason="idf-component-manager is not installed")
    manifest = manager.ManifestManager(str(folder), name).load()
    assert str(manifest.version) == lines[0].split('"')[1] and manifest.license == "0BSD"


@pytest.mark.parametrize("name", ["driver", "Log", "esp_nn", "main", "json", "idf_model"])
def test_a_name_that_would_replace_a_component_is_refused(name):
    with pytest.raises(OptionError, match="choose another"):
        TARGETS["esp-idf"].export(SMALL["poly"], name)
