from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import slmc_rows
from sparsegen.errors import DataError


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slmc_rows, "STEPS", 10)
    monkeypatch.setattr(slmc_rows, "MNIST_VECTORS", 5)
    monkeypatch.setattr(slmc_rows, "MNIST_PROJECTION", 2)


@pytest.mark.usefixtures("short")
def test_a_point_holds_its_data(tmp_path: Path) -> None:
    point = slmc_rows.measure(5000, None, 0)
    assert (point.data, point.rows, point.features, point.vectors) == ("generated", 5000, 20, 32)
    assert point.data_megabytes == 5000 * 20 * 4 / 1e6
    assert point.allowed == 200.8
    assert point.megabytes > 2.0 * point.data_megabytes
    assert point.seconds > 0.0
    X = np.random.default_rng(0).integers(256, size=(80, 9)).astype(np.uint8)
    np.savez(tmp_path / "mnist.npz", X_train=X, y_train=np.arange(80) % 3)
    point = slmc_rows.measure(60, tmp_path, 0)
    assert (point.data, point.rows, point.features, point.vectors) == ("mnist", 60, 9, 5)
    with pytest.raises(DataError, match=r"no data set .*mnist"):
        slmc_rows.measure(60, tmp_path / "elsewhere", 0)


def test_the_slope_is_that_of_generated_rows() -> None:
    points = [slmc_rows.Point("generated", 1000 * 2**k, 20, 32, 0.5 * 2**k, 300.0, 10.0) for k in range(3)]
    table = slmc_rows._table([*points, slmc_rows.Point("mnist", 60_000, 784, 200, 9.0, 500.0, 188.0)])
    assert "log-log slope 1.00" in table
    assert "| mnist | 60,000 | 784 | 200 | 9.00 | 500 | 576 |" in table
    assert "slope" not in slmc_rows._table(points[:1])
