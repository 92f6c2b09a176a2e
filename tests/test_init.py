"""The package itself: public names on first use, nothing heavy before."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sparsegen


@pytest.mark.parametrize("name", sparsegen.__all__)
def test_public_names_resolve(name: str) -> None:
    assert getattr(sparsegen, name) is not None


def test_estimators_are_found_by_class_name() -> None:
    from sparsegen.methods import METHODS

    for estimator in METHODS.values():
        assert getattr(sparsegen, estimator.__name__) is estimator


def test_dir_shows_every_method_and_all_that_is_public() -> None:
    from sparsegen.methods import METHODS

    shown = dir(sparsegen)
    assert {*sparsegen.__all__, *(estimator.__name__ for estimator in METHODS.values())} == set(shown)
    assert all(getattr(sparsegen, name) is not None for name in shown)


@pytest.mark.parametrize("name", ["slmc", "SLCM", "_private", "nothing"])
def test_unknown_names_are_attribute_errors(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'sparsegen' has no attribute '{name}'"):
        getattr(sparsegen, name)


@pytest.mark.parametrize("statement", ["import sparsegen", "from sparsegen import cli", "import sparsegen.cli"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    heavy = ("numpy", "scipy", "sklearn", "numba", "onnx", "pandas")
    script = f"import sys; {statement}; loaded = [n for n in {heavy!r} if n in sys.modules]; assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_public_name_loads_only_what_it_needs() -> None:
    """Each in a copy of a process that has loaded scikit-learn, which takes longer than all the rest."""
    later = ("numba", "onnx", "jinja2", "typer", "matplotlib")  # scikit-learn itself loads pandas and rich
    script = f"""
import os, sys, sklearn.base, sklearn.svm, sklearn.model_selection, sklearn.preprocessing
assert "sparsegen" not in sys.modules
for name in {sparsegen.__all__!r}:
    if (copy := os.fork()) == 0:
        exec(f"from sparsegen import {{name}}")
        assert not (extra := set({later!r}) & set(sys.modules)), (name, extra)
        os._exit(0)
    assert os.waitpid(copy, 0)[1] == 0, name
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert sparsegen.__version__ == version("sparsegen")
