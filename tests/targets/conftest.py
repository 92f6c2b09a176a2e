"""Exports of every kind of model, written out once."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import Written, written
from golden_models import EVERY
from wrapped import counts  # noqa: F401 - a fixture for all tests here


@pytest.fixture(scope="session")
def c_exports(tmp_path_factory) -> dict[str, Written]:
    """Every kind of model as C, each in a folder of its own."""
    root = tmp_path_factory.mktemp("c_exports")
    return {name: written(model, name, root / name) for name, model in EVERY.items()}


@pytest.fixture(scope="session")
def all_in_one(c_exports, tmp_path_factory) -> Path:
    """One source file that includes every model: symbols must not clash."""
    path = tmp_path_factory.mktemp("all_in_one") / "all.c"
    path.write_text("".join(f'#include "{w.folder}/{name}.c"\n' for name, w in c_exports.items()))
    return path
