"""What is shipped: a wheel finds its templates wherever it is installed, and so does a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXPORT = """
import sys
import numpy as np
import sparsegen
from sparsegen.kernels import KERNELS
from sparsegen.targets import TARGETS
from sparsegen.model import SparseModel, Transform
from sparsegen.targets.render import template_folder

model = SparseModel(
    vectors=np.eye(2), coef=np.ones((1, 1, 2)), intercept=np.zeros(1), kernels=(KERNELS["rbf"].bind(gamma=1.0),),
    transform=Transform.identity(2), classes=("a", "b"),
)
print(sparsegen.__file__)
print(template_folder())
print(sorted(TARGETS["c"].export(model, "toy").files))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built without a network."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_wheel_holds_every_module_and_template(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    templates = {
        f"sparsegen/_templates/{path.relative_to(ROOT / 'templates')}" for path in ROOT.glob("templates/**/*.j2")
    }
    modules = {str(path.relative_to(ROOT)) for path in ROOT.glob("sparsegen/**/*.py")}
    assert any(name.startswith("sparsegen/_templates/c/") for name in templates)
    assert templates <= names
    support = ROOT / "firmware_demo" / "support"
    firmware = {f"sparsegen/_firmware/{path.relative_to(support)}" for path in support.rglob("*.*") if path.is_file()}
    assert "sparsegen/_firmware/cortex_m/link.ld" in firmware
    assert firmware <= names
    assert modules <= names
    assert "sparsegen/budget/parts.csv" in names
    assert "sparsegen/py.typed" in names  # type checkers read the annotations of an installed package only with it
    packed = [name for name in names if ".dist-info/" not in name]
    assert all(name.startswith("sparsegen/") for name in packed)
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc")) or "/tests/" in name]


def test_the_wheel_declares_its_command_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            name.split("/")[-1]: archive.read(name).decode() for name in archive.namelist() if ".dist-info/" in name
        }
    assert "sparsegen = sparsegen.cli:main" in texts["entry_points.txt"]
    assert "LICENSE" in texts
    assert "Requires-Python: >=3.11" in texts["METADATA"]


def test_every_dependency_has_one_floor_on_every_python_claimed() -> None:
    requirements = pytest.importorskip("packaging.requirements")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    claimed = [text.rpartition(" :: ")[2] for text in project["classifiers"] if "Python :: 3." in text]
    for texts in (project["dependencies"], *project["optional-dependencies"].values()):
        wanted = [requirements.Requirement(text) for text in texts]
        for name in {requirement.name for requirement in wanted} - {project["name"]}:
            floors = []
            for python in claimed:
                alike = [r for r in wanted if r.name == name]
                (found,) = (r for r in alike if r.marker is None or r.marker.evaluate({"python_version": python}))
                (floor,) = found.specifier
                assert floor.operator == ">="
                floors.append(tuple(int(part) for part in floor.version.split(".")))
            assert floors == sorted(floors), name


def test_an_installed_wheel_exports_c(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    offline = ["--no-deps", "--no-index", "--no-compile"]
    install = [sys.executable, "-m", "pip", "install", *offline, "--target", str(site), str(wheel)]
    installed = subprocess.run(install, capture_output=True, text=True, timeout=120)
    assert installed.returncode == 0, installed.stderr
    package, templates, files = _export(tmp_path, {"PYTHONPATH": str(site)})
    assert Path(package).is_relative_to(site)
    assert Path(templates) == site / "sparsegen" / "_templates"
    assert files == "['example_main.c', 'toy.c', 'toy.h']"


def test_the_checkout_exports_c(tmp_path: Path) -> None:
    package, templates, files = _export(tmp_path, {"PYTHONPATH": str(ROOT)})
    assert Path(package) == ROOT / "sparsegen" / "__init__.py"
    assert Path(templates) == ROOT / "templates"
    assert files == "['example_main.c', 'toy.c', 'toy.h']"


def _export(folder: Path, variables: dict[str, str]) -> list[str]:
    """Return what the export script prints when run far from the checkout."""
    command = [sys.executable, "-c", EXPORT]
    run = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_citation_names_this_version() -> None:
    from sparsegen import __version__

    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
