"""Functions compiled when they are called, also without a place to keep the machine code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sparsegen
from sparsegen.compiled import compiled

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


@compiled
def double(x: float) -> float:
    """Return twice x."""
    return 2.0 * x


@compiled
def quadruple(x: float) -> float:
    """Return four times x."""
    return double(double(x))


def test_compiled_functions_call_each_other() -> None:
    assert quadruple(3) == quadruple(3.0) == 12.0


def test_a_compiled_function_looks_like_the_one_it_was_made_from() -> None:
    assert (quadruple.__name__, quadruple.__doc__) == ("quadruple", "Return four times x.")
    assert quadruple.py_func is quadruple.__wrapped__  # type: ignore[attr-defined]


def test_numba_waits_for_the_first_call() -> None:
    script = (
        "import sys\nimport numpy as np\nfrom sparsegen.solvers.newton import classify_rows\n"
        "assert 'numba' not in sys.modules\none = np.ones(1)\n"
        "classify_rows(one, one, one, 1.0, one, None, one.copy(), np.zeros(1, dtype=np.int8))\n"
        "assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)


def test_threads_may_call_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(quadruple, range(40))) == [4.0 * x for x in range(40)]


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
