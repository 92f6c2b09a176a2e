"""The PlatformIO library: library.json by its documented fields, and an example that builds as PlatformIO builds it."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
from pathlib import PurePosixPath

import pytest
from c_programs import any_compiler
from golden_models import SMALL, model, rbf
from wrapped import HOSTILE, WARNINGS, built, packed

from sparsegen.targets import TARGETS

FIELDS = {
    "$schema", "name", "version", "description", "keywords", "homepage", "repository", "authors", "license",
    "frameworks", "platforms", "headers", "examples", "dependencies", "export", "scripts", "build",
}  # fmt: skip


@pytest.mark.parametrize("name", ["m", "Gestures", "my_model_2", "x" * 40])
def test_library_json_keeps_to_the_schema(name):
    files = TARGETS["platformio"].export(model([rbf()], 3, 3, HOSTILE), name).files
    manifest = json.loads(files["library.json"])
    assert {"name", "version", "description", "keywords"} <= set(manifest) <= FIELDS
    assert re.fullmatch(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*", manifest["name"]) and len(manifest["name"]) <= 50
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"]) and len(manifest["version"]) <= 20
    assert 0 < len(manifest["description"]) <= 255
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", word) for word in manifest["keywords"])
    assert manifest["frameworks"] == manifest["platforms"] == "*"
    assert f"src/{manifest['headers']}" in files
    for example in manifest["examples"]:
        assert all(f"{example['base']}/{file}" in files for file in example["files"])
    included = [PurePosixPath(pattern) for pattern in manifest["export"]["include"]]
    assert all(any(PurePosixPath(path).is_relative_to(folder) for folder in included) for path in files)


def test_two_names_never_become_one_library():
    names = ("my_model", "mymodel", "my_mod_el", "my_model2")
    manifests = [json.loads(TARGETS["platformio"].export(SMALL["poly"], n).files["library.json"]) for n in names]
    assert len({manifest["name"] for manifest in manifests}) == len(names)


def test_the_example_project_finds_the_library_and_runs(tmp_path):
    package = packed("platformio", SMALL["laplacian_text"], "m", tmp_path / "p")
    project = package.folder / "examples" / "native"
    ini = configparser.ConfigParser()
    ini.read(project / "platformio.ini")
    assert ini["env:native"]["platform"] == "native"
    name, _, link = ini["env:native"]["lib_deps"].partition("=symlink://")
    library = (project / link).resolve()
    assert name == "m" and json.loads((library / "library.json").read_text())["name"] == "m"
    # PlatformIO compiles src of the library and src of the project, with the library's src on the include path.
    sources = [*(library / "src").glob("*.c"), *(project / "src").glob("*.c")]
    built([*any_compiler(), *WARNINGS, "-O2", f"-I{library / 'src'}"], *sources, "-o", tmp_path / "run")
    assert b"self-test ok" in subprocess.run([tmp_path / "run"], capture_output=True, check=True).stdout
