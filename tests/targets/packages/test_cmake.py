"""The CMake project, built by the real CMake: alone, as a subfolder, fetched, and installed and found."""

from __future__ import annotations

import subprocess

import pytest
from c_programs import compiler
from golden_models import SMALL
from wrapped import packed

import sparsegen
from sparsegen.targets.c.package import release


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Two models; the first has the name of libm, the second that of a target CMake keeps for itself."""
    root = tmp_path_factory.mktemp("cmake")
    return {name: packed("cmake", SMALL[of], name, root / name) for name, of in (("m", "poly"), ("test", "linear"))}


def run(folder, *arguments):
    result = subprocess.run([*arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "CMake Warning" not in result.stderr and "Deprecation" not in result.stderr
    return result.stdout


def build(source, folder, *options):
    (cmake,) = compiler("cmake")
    run(source, cmake, "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options)
    run(source, cmake, "--build", folder)


def test_the_command_it_names_builds_and_runs_the_example(packages):
    compiler("cmake")
    for package in packages.values():
        assert "self-test ok" in run(package.folder, "sh", "-c", package.export.usage)
        (ctest,) = compiler("ctest")
        assert "100% tests passed" in run(package.folder / "build", ctest)


USERS = {
    "subfolder": 'add_subdirectory("{m}" m)\nadd_subdirectory("{test}" test_model)',
    "fetched": """include(FetchContent)
FetchContent_Declare(one SOURCE_DIR "{m}")
FetchContent_Declare(two SOURCE_DIR "{test}")
FetchContent_MakeAvailable(one two)""",
    "installed": "find_package(sparsegen_m {version} REQUIRED)\nfind_package(sparsegen_test REQUIRED)",
}
MINOR = release(sparsegen.__version__).rpartition(".")[0]
"""What a user asks for: the first two numbers."""
MAIN = '#include "m.h"\n#include "test.h"\n#include <math.h>\n#include <stdlib.h>\n'
MAIN += 'int main(void) { return m_selftest() + test_selftest() + (int)floor(atof("0.5")); }\n'


@pytest.mark.parametrize("way", USERS)
def test_a_project_links_two_models(way, packages, tmp_path):
    """It links libm as well, which a target called m would hide."""
    (cmake,) = compiler("cmake")
    options = []
    if way == "installed":
        for name, package in packages.items():
            build(package.folder, tmp_path / name)
            run(tmp_path, cmake, "--install", tmp_path / name, "--prefix", tmp_path / "prefix")
        options = [f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}"]
    models = USERS[way].format(version=MINOR, **{name: package.folder.as_posix() for name, package in packages.items()})
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "main.c").write_text(MAIN)
    (tmp_path / "user" / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.14)\nproject(user LANGUAGES C)\n{models}\n"
        "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE sparsegen::m sparsegen::test m)\n"
    )
    build(tmp_path / "user", tmp_path / "out", *options)
    assert subprocess.run([tmp_path / "out" / "user"], check=False).returncode == 0
    assert not list((tmp_path / "out").glob("**/*_example"))


def test_another_version_is_refused(packages, tmp_path):
    (cmake,) = compiler("cmake")
    build(packages["m"].folder, tmp_path / "m")
    run(tmp_path, cmake, "--install", tmp_path / "m", "--prefix", tmp_path / "prefix")
    major, minor = map(int, MINOR.split("."))
    wanted = {f"{major}.{minor}": 0, f"{major}.{minor}.999": 1, f"{major}.{minor + 1}": 1, f"{major + 1}.{minor}": 1}
    for version, code in wanted.items():
        (tmp_path / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.14)\nproject(user LANGUAGES C)\n"
            f"find_package(sparsegen_m {version} REQUIRED)\n"
        )
        command = [cmake, "-S", tmp_path, "-B", tmp_path / version, f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}"]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert found.returncode == code, found.stderr
        assert code == 0 or "sparsegen_m-config.cmake, version:" in found.stderr
