"""Imports follow the road from data to device and never run backwards; those inside functions count as well."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

import sparsegen

PACKAGE = Path(sparsegen.__file__).parent
ROAD = (
    ("errors", "registry", "arrays", "compiled", "files", "later", "promised", "progress", "threads", "version"),
    ("data",),
    ("kernels",),
    ("model",),
    ("solvers",),
    ("methods",),
    ("training",),
    ("lowering",),
    ("targets",),
    ("devices",),
    ("firmware",),
    ("verify",),
    ("bench", "budget"),
    ("verbs",),
    ("search",),
    ("report",),
    ("demo",),
    ("cli",),
    ("__init__", "__main__"),
)
"""The stages from first to last. A stage may import itself and the stages before it."""
STAGE_OF = {name: stage for stage, names in enumerate(ROAD) for name in names}


@dataclass(frozen=True)
class Import:
    """One module names another."""

    importer: str
    imported: str
    line: int
    at_load: bool
    """Whether loading the importer loads the other: not so inside a function or under TYPE_CHECKING."""

    def __str__(self) -> str:
        return f"{self.importer} line {self.line} imports {self.imported}"


def modules_of(folder: Path) -> dict[str, Path]:
    """Return the file of every module of a package by its dotted name."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(folder: Path) -> list[Import]:
    """Return every import of one module of a package by another."""
    modules = modules_of(folder)
    found = []
    for importer, path in modules.items():
        package = importer if path.stem == "__init__" else importer.rpartition(".")[0]
        for node, at_load in statements(ast.parse(path.read_text(encoding="utf-8")), at_load=True):
            for name in names_in(node, package):
                imported = name if name in modules else name.rpartition(".")[0]  # a module, or a name inside one
                if imported in modules:
                    found.append(Import(importer, imported, node.lineno, at_load))
    return found


def statements(node: ast.AST, at_load: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom | ast.Call, bool]]:
    """Yield all that may import, with whether it runs as the module loads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom | ast.Call):
            yield child, at_load
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(child, at_load=False)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for part in child.body:
                yield from statements(ast.Module([part], []), at_load=False)
            for part in child.orelse:
                yield from statements(ast.Module([part], []), at_load)
        else:
            yield from statements(child, at_load)


def names_in(node: ast.Import | ast.ImportFrom | ast.Call, package: str) -> list[str]:
    """Return the dotted names that a statement imports, relative ones resolved."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        return [f"{source}.{alias.name}" for alias in node.names]
    called = ast.unparse(node.func).rpartition(".")[2]
    match node.args:
        case [ast.Constant(value=str(name)), *_] if called in ("import_module", "__import__"):
            return [name]
    return []


def part_of(module: str) -> str:
    """Return the file or folder at the top of the package that holds a module."""
    return [*module.split("."), "__init__"][1]


def backward(imports: Iterable[Import]) -> list[str]:
    """Return a sentence for each import of a later stage."""
    return [
        f"{edge}, but {part_of(edge.importer)} comes before {part_of(edge.imported)}"
        for edge in dict.fromkeys(imports)  # a statement that imports two names is one sentence
        if STAGE_OF[part_of(edge.importer)] < STAGE_OF[part_of(edge.imported)]
    ]


def cycles(imports: Iterable[Import]) -> list[str]:
    """Return a sentence for each ring of imports that run as modules load."""
    edges: dict[str, dict[str, Import]] = {}
    for edge in imports:
        if edge.at_load and edge.importer != edge.imported:
            edges.setdefault(edge.importer, {}).setdefault(edge.imported, edge)
    found: list[str] = []
    done: set[str] = set()

    def follow(module: str, path: list[str]) -> None:
        if module in path:
            ring = [*path[path.index(module) :], module]
            found.append("; ".join(str(edges[a][b]) for a, b in pairwise(ring)))
        elif module not in done:
            for imported in sorted(edges.get(module, {})):
                follow(imported, [*path, module])
            done.add(module)

    for module in sorted(edges):
        follow(module, [])
    return found


def test_every_module_belongs_to_a_stage() -> None:
    strangers = {part_of(module) for module in modules_of(PACKAGE)} - STAGE_OF.keys()
    assert not strangers, f"{', '.join(sorted(strangers))}: say in ROAD where on the road this stands"


def test_no_import_runs_backwards() -> None:
    wrong = backward(imports_of(PACKAGE))
    assert not wrong, "\n".join(wrong)


def test_no_modules_load_each_other() -> None:
    wrong = cycles(imports_of(PACKAGE))
    assert not wrong, "\n".join(wrong)


def test_the_graph_is_not_empty() -> None:
    imports = imports_of(PACKAGE)
    assert {part_of(edge.importer) for edge in imports} >= {"methods", "targets", "devices", "cli"}
    assert any(not edge.at_load for edge in imports)


BACKWARD = {
    "plain": ("import sparsegen.cli", 1),
    "from a module": ("from sparsegen.cli.main import run", 1),
    "from the package": ("from sparsegen import cli", 1),
    "of a public name": ("from sparsegen import SLMC", 1),
    "relative": ("from ..cli import main", 1),
    "relative to the package": ("from .. import cli", 1),
    "lazy": ("def f():\n    from sparsegen.cli import main", 2),
    "of a method": ("class A:\n    async def f(self):\n        import sparsegen.cli", 3),
    "for types": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sparsegen.cli import main", 3),
    "by name": ("import importlib\nimportlib.import_module('sparsegen.cli')", 2),
    "tried": ("try:\n    import sparsegen.cli\nexcept ImportError:\n    pass", 2),
}


@pytest.mark.parametrize(("statement", "line"), BACKWARD.values(), ids=BACKWARD)
def test_an_import_that_runs_backwards_is_named(statement: str, line: int, tmp_path: Path) -> None:
    folder = package(tmp_path, {"kernels/rbf.py": statement})
    (message,) = backward(imports_of(folder))
    assert message.startswith(f"sparsegen.kernels.rbf line {line} imports sparsegen")
    assert message.endswith((", but kernels comes before cli", ", but kernels comes before __init__"))


def test_imports_that_follow_the_road_pass(tmp_path: Path) -> None:
    later = "import numpy\nfrom sparsegen.kernels import rbf\nfrom . import __name__\nfrom ..kernels.rbf import RBF\n"
    folder = package(tmp_path, {"kernels/rbf.py": "from . import __path__", "cli/main.py": later})
    imports = imports_of(folder)
    assert [edge.imported.removeprefix("sparsegen.") for edge in imports] == [
        "kernels.rbf",
        "cli",
        "kernels.rbf",
        "kernels",
    ]
    assert not backward(imports)
    assert not cycles(imports)


def test_modules_that_load_each_other_are_named(tmp_path: Path) -> None:
    files = {
        "kernels/rbf.py": "from sparsegen.kernels.bases import SQDIST",
        "kernels/bases.py": "\nfrom sparsegen.kernels import rbf",
    }
    (message,) = cycles(imports_of(package(tmp_path, files)))
    assert message == (
        "sparsegen.kernels.bases line 2 imports sparsegen.kernels.rbf; "
        "sparsegen.kernels.rbf line 1 imports sparsegen.kernels.bases"
    )


@pytest.mark.parametrize("guard", ["def f():", "if TYPE_CHECKING:", "if typing.TYPE_CHECKING:"])
def test_a_module_may_name_one_that_loads_it(guard: str, tmp_path: Path) -> None:
    files = {
        "kernels/rbf.py": "from sparsegen.kernels.bases import SQDIST",
        "kernels/bases.py": f"{guard}\n    from sparsegen.kernels import rbf",
    }
    assert not cycles(imports_of(package(tmp_path, files)))


def package(folder: Path, files: dict[str, str]) -> Path:
    """Write a package called sparsegen, with an empty ``cli`` and ``kernels`` apart from the files given."""
    root = folder / "sparsegen"
    for name in ("__init__.py", "cli/__init__.py", "cli/main.py", "kernels/__init__.py", "kernels/rbf.py"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root
