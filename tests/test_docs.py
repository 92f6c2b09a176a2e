"""The files, folders and functions that the documents name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE_FOLDERS = ("sparsegen", "templates", "tests", "benchmarks", "firmware_demo", "docs", "examples")
RECIPE = "tested in"  # a recipe names files that its reader will write


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def paths(text: str) -> list[str]:
    """Return the quoted paths: files of code, from the root or from sparsegen/, and folders from the root."""
    files = [name for name in quoted(text) if re.fullmatch(r"[\w./-]+/[\w.-]+\.(py|j2|md|mk)", name)]
    folders = [name for name in quoted(text) if re.fullmatch(rf"({'|'.join(CODE_FOLDERS)})/[\w/-]*", name)]
    return [*files, *(name for name in folders if not name.endswith("/_templates"))]  # which only a wheel has


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_files_and_links_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    said = "\n".join(line for line in text.splitlines() if RECIPE not in line)
    missing = [name for name in paths(said) if not (ROOT / name).exists() and not (ROOT / "sparsegen" / name).exists()]
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    missing += [link for link in links if not (document.parent / link).exists()]
    assert not missing


def test_recipes_put_new_files_into_folders_that_exist() -> None:
    recipes = [line for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines() if RECIPE in line]
    named = [name for line in recipes for name in paths(line) if name.startswith("sparsegen/")]
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / name).parent.is_dir()] == []


def test_the_architecture_names_what_is_in_the_code() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "sparsegen").rglob("*.py"))
    words = set(re.findall(r"\w+", code))
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = [
        name for name in quoted(text) if re.fullmatch(r"[A-Za-z_][\w.]*", name) and not name.endswith((".c", ".h"))
    ]
    assert len(names) > 40
    # A function of generated C has the model's name in front.
    assert [name for name in names if not set(name.removeprefix("model_").split(".")) <= words] == []
