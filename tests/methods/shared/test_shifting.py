"""Shifted rows: what a draw gives, and that training on them carries over to positions that no row had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.shifting import slow_shift

from sparsegen import SLMC
from sparsegen.errors import OptionError
from sparsegen.methods.shared.pooling import Pooling
from sparsegen.methods.shared.shifting import Shifting
from sparsegen.methods.slmc import default_penalty


class Listed:
    """Draws that are known beforehand."""

    def __init__(self, draws: np.ndarray) -> None:
        self.draws = draws

    def randint(self, n: int, size: int) -> np.ndarray:
        assert n == self.draws.max() + 1
        assert size == len(self.draws)
        return self.draws


def every_shift(down: int, across: int) -> list[tuple[int, int]]:
    return [(r, c) for r in range(-down, down + 1) for c in range(-across, across + 1)]


@pytest.mark.parametrize(
    ("shape", "most", "pool"),
    [
        ((4, 6), (1, 1), None),
        ((4, 6), (3, 2), "4x6/3x4"),
        ((5, 5), (1, 0), "5x5/2x2"),
        ((1, 24), (0, 5), None),
        ((1, 24), (0, 2), "1x24/1x5"),
        ((24, 1), (2, 0), None),
        ((8, 3), (2, 0), None),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_shift_is_its_slow_twins(shape: Any, most: Any, pool: str | None, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, shape[0] * shape[1])).astype(dtype)
    shifts = every_shift(*most)
    rows = rng.integers(5, size=len(shifts))
    pooling = None if pool is None else Pooling.parse(pool, X.shape[1])
    shifting = Shifting.parse(f"{shape[0]}x{shape[1]}/{most[0]}x{most[1]}", X.shape[1], pooling)
    drawn = shifting.draw(X, rows, Listed(np.arange(len(shifts))))  # type: ignore[arg-type]
    slow = np.array([slow_shift(X[i].reshape(shape), *shift).ravel() for i, shift in zip(rows, shifts, strict=True)])
    assert drawn.dtype == dtype
    np.testing.assert_allclose(drawn, slow if pooling is None else pooling(slow), rtol=1e-5, atol=1e-6)


def test_all_shifts_are_equally_likely() -> None:
    X: np.ndarray = np.arange(9.0).reshape(1, 9)
    shifting = Shifting.parse("3x3/1x1", 9)
    drawn = shifting.draw(X, np.zeros(9000, np.intp), np.random.RandomState(0))
    distinct, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(distinct) == 9
    assert counts.min() > 850


def lines(positions: list[int], n: int, seed: int):
    """Return noisy images of a line that lies or stands at one of these positions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=0.4, size=(n, 8, 8))
    y = rng.integers(2, size=n)
    at = rng.choice(positions, n)
    for image, stands, position in zip(X, y, at, strict=True):
        image[(slice(None), position) if stands else (position, slice(None))] += 1.0
    return X.reshape(n, 64), y


@pytest.mark.parametrize("settings", [{}, {"projection": 12, "pool": "8x8/1x2"}])
def test_shifts_carry_over_to_positions_that_no_row_had(settings: dict[str, Any]) -> None:
    X, y = lines([3], 160, seed=0)
    X_test, y_test = lines([2, 4], 300, seed=1)
    settings = {"C": 3.0, "steps": 400, "solver": "stochastic", "random_state": 0, **settings}
    plain = SLMC(10, **settings).fit(X, y)
    shifted = SLMC(10, shifts="8x8/1x1", **settings).fit(X, y)
    assert shifted.score(X_test, y_test) >= 0.9
    assert shifted.score(X_test, y_test) >= plain.score(X_test, y_test) + 0.2


def test_shifted_rows_are_trained_on_by_minibatches_and_hold_the_projection_less() -> None:
    X, y = lines([3], 40, seed=0)
    fitted = SLMC(4, shifts="8x8/1x1", projection=2, steps=5, random_state=0).fit(X, y)
    assert fitted.model_.card["fit"]["solver"] == "stochastic"
    assert default_penalty(100_000) == 600.0
    assert default_penalty(100_000, shifted=True) == default_penalty(1) == 10.0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"shifts": "1x1"}, "shifts is '1x1', but must be HEIGHTxWIDTH/ROWSxCOLUMNS"),
        ({"shifts": "8x8/0x0"}, "must be HEIGHTxWIDTH/ROWSxCOLUMNS"),
        ({"shifts": "7x8/1x1"}, "7 x 8 features, but the data have 64"),
        ({"shifts": "1x64/1x1"}, "push everything out of sight"),
        ({"shifts": "8x8/1x8"}, "push everything out of sight"),
        ({"shifts": "8x8/1x1", "solver": "exact"}, "need minibatches"),
        ({"shifts": "8x8/1x1", "optimize": "coefficients"}, "need minibatches"),
        ({"pool": "8x8/0x2", "projection": 2}, "are empty"),
    ],
)
def test_shifts_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    X, y = lines([3], 40, seed=0)
    with pytest.raises(OptionError, match=sentence):
        SLMC(4, **settings).fit(X, y)


def test_a_table_of_shifts_has_a_limit() -> None:
    with pytest.raises(OptionError, match="too many"):
        Shifting.parse("1x4000/0x2000", 4000)
