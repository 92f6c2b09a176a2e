from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sparsegen.devices import DEVICES
from sparsegen.errors import OptionError
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
    return sys.modules[package].R  # type: ignore[no-any-return]


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
    with pytest.raises(ValueError, match="two things are called 'a'"):
        registry.register("a")(2)


def test_a_broken_module_is_an_error_every_time(package: str, tmp_path: Path) -> None:
    (tmp_path / package / "zebra.py").write_text("raise ImportError('no stripes')\n")
    registry = registry_of(package)
    for _ in range(2):
        with pytest.raises(ImportError, match="no stripes"):
            list(registry)


def test_the_package_holds_what_the_documentation_names() -> None:
    assert {"slmc", "svm"} <= set(METHODS)
    assert {"rbf", "linear", "poly", "laplacian"} <= set(KERNELS)
    assert "host" in DEVICES
    assert TARGETS.kind == "target"
    for name, method in METHODS.items():
        assert method.method == name
        assert method.summary
    for name, kernel in KERNELS.items():
        assert kernel.name == name
