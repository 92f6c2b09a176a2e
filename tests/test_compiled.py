"""Machine code without a place to keep it: a package that is read-only, for a user who has no home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sparsegen

TRAIN = """
import numpy as np
import sparsegen
X = np.random.default_rng(0).normal(size=(60, 3))
for name in ("SLMC", "SpSVM"):
    getattr(sparsegen, name)(n_vectors=3, random_state=0).fit(X, X[:, 0] > 0)
print("trained", sparsegen.__file__)
"""


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Path]:
    """A copy of the package that nobody may write to."""
    copy = tmp_path / "sparsegen"
    shutil.copytree(Path(sparsegen.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    folders = [copy, *(path for path in copy.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield tmp_path
    for folder in folders:
        folder.chmod(0o755)


def test_a_read_only_install_without_a_home_trains(install: Path) -> None:
    command = [sys.executable, "-c", TRAIN]
    if os.getuid() == 0:  # permissions hold for root only without its capabilities
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and setpriv, which can stop it, is not installed")
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(install), "HOME": "/proc/nowhere"}
    ended = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"trained {install}")
    assert not list(install.rglob("*.nbi"))
