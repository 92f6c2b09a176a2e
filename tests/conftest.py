"""What every test may use: small data sets, and ``--update-golden``, and how many processes run the tests."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from command_line import Ended, Run
from hypothesis import settings
from reference import Rows

from sparsegen import cli

# A test fails because of a change, never because of the draw or of a slow machine.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile("fixed")  # pytest --hypothesis-profile=explore draws other examples, and more of them


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files under tests/golden")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run single files, tests and ``-k`` in this process: workers take longer to start than these take to run."""
    folders = any(Path(argument.partition("::")[0]).is_dir() for argument in config.args)
    return None if folders and not config.option.keyword else 0


def pytest_xdist_setupnodes() -> None:
    """Give each worker one thread: together they keep every processor busy, and BLAS threads would only wait."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep ten thousand tests, which stay to the end, from being searched for garbage again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def same_draws_on_every_run() -> None:
    """An estimator without a seed draws from NumPy's global generator: no test may depend on what it draws."""
    np.random.seed(0)


@pytest.fixture(scope="session")
def two_classes() -> Rows:
    """Two overlapping half rings, 120 rows in the plane."""
    return _rings(np.random.default_rng(7), 120, 2)


@pytest.fixture(scope="session")
def four_classes() -> Rows:
    """Four overlapping arcs, 160 rows with a third, useless feature."""
    rng = np.random.default_rng(8)
    X, y = _rings(rng, 160, 4)
    return np.hstack([X, rng.normal(size=(160, 1))]), y


def _rings(rng: np.random.Generator, n: int, n_classes: int) -> Rows:
    y = np.arange(n) % n_classes
    angle = np.pi * rng.random(n) + y * 2.0 * np.pi / n_classes
    X = np.column_stack([np.cos(angle) + 0.5 * y, np.sin(angle)]) + 0.2 * rng.normal(size=(n, 2))
    return X, y


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """What runs the command as a user would, through main(), and says how it ended."""

    def run_main(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["sparsegen", *map(str, arguments)])
        capfd.readouterr()
        code: object = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
        printed = capfd.readouterr()
        return Ended(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run_main
