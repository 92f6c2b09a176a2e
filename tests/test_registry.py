from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError
from sparsegen.firmware.boards import BOARDS
from sparsegen.kernels import KERNELS
from sparsegen.methods import METHODS
from sparsegen.registry import Registry
from sparsegen.targets import TARGETS


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of two entries that names itself after the test's folder."""
    name = f"entries_{tmp_path.name}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("from sparsegen.registry import Registry\nR = Registry('thing', __name__)\n")
    for entry in ("pear", "apple"):
        (folder / f"{entry}.py").write_text(f"from {name} import R\nVALUE = R.register('{entry}')('a {entry}')\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def registry_of(package: str) -> Registry[str]:
    __import__(package)
    return sys.modules[package].R


def test_a_file_in_the_package_is_an_entry(package: str) -> None:
    registry = registry_of(package)
    assert list(registry) == ["apple", "pear"]
    assert len(registry) == 2
    assert registry["pear"] == "a pear"
    assert "apple" in registry
    assert "plum" not in registry
    assert dict(registry) == {"apple": "a apple", "pear": "a pear"}


def test_unknown_name_says_what_there_is(package: str) -> None:
    with pytest.raises(OptionError, match=r"no thing 'aple' \(did you mean 'apple'\?\); choose one of: apple, pear"):
        registry_of(package)["aple"]


def test_two_entries_of_one_name_are_a_mistake() -> None:
    registry: Registry[int] = Registry("thing", "sparsegen")
    registry.register("a")(1)
    with pytest.raises(OptionError, match="two things are called 'a'; give one of them another name"):
        registry.register("a")(2)


def test_an_entry_that_calls_itself_otherwise_is_a_mistake() -> None:
    """A copied file whose name was changed in one place only: its models would load as those of the original."""
    with pytest.raises(OptionError, match="the kernel 'rbf' is registered as 'copy'; give it one name"):
        KERNELS.register("copy")(KERNELS["rbf"])
    assert "copy" not in KERNELS


def test_a_broken_module_is_an_error_every_time(package: str, tmp_path: Path) -> None:
    (tmp_path / package / "zebra.py").write_text("raise ImportError('no stripes')\n")
    registry = registry_of(package)
    for _ in range(2):
        with pytest.raises(ImportError, match="no stripes"):
            list(registry)


def test_threads_that_look_at_once_see_every_entry(package: str, tmp_path: Path) -> None:
    (tmp_path / package / "apple.py").write_text(
        f"import time\nfrom {package} import R\n'fig' in R\ntime.sleep(0.2)\nR.register('apple')('a apple')\n"
    )
    registry = registry_of(package)
    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(lambda _: list(registry), range(4)))
    assert seen == [["apple", "pear"]] * 4


REGISTRIES = [KERNELS, METHODS, TARGETS, DEVICES, BOARDS]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_an_entry_is_filed_under_its_own_name_and_says_what_it_is(registry: Registry[Any]) -> None:
    assert len(registry) > 0
    for name, entry in registry.items():
        assert (entry.method if registry is METHODS else entry.name) == name
        (text,) = (getattr(entry, field) for field in ("summary", "description", "formula") if hasattr(entry, field))
        assert text.strip(), f"{registry.kind} {name} has no description"
        assert "\n" not in text, f"the description of {registry.kind} {name} must be one line"


NAMED = [
    (TARGETS, "README.md", r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$"),
    (TARGETS, "README.md", r"--target (\w+)"),
    (DEVICES, "README.md", r"--device ([\w,-]+)"),
    (BOARDS, "README.md", r"--board (\w+)"),
    (METHODS, "docs/methods.md", r"^\*\*([^*]+)\*\*"),
    (KERNELS, "docs/kernels.md", r"^\| `(\w+)` \|"),
]


@pytest.mark.parametrize(("registry", "document", "pattern"), NAMED)
def test_the_documentation_names_entries_that_exist(registry: Registry[Any], document: str, pattern: str) -> None:
    text = (Path(__file__).parent.parent / document).read_text(encoding="utf-8")
    groups: list[str] = re.findall(pattern, text, re.MULTILINE)
    named = {name for group in groups for name in re.findall(r"[\w-]+", group)} - {"all", "NAME"}
    assert named
    assert named <= set(registry)
