from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.papers import k06_scaling
from benchmarks.papers._lab import Lab
from benchmarks.scaling import Point


def cost(rows: int, vectors: int, candidates: int, seed: int) -> Point:
    """A machine of time n d (d + candidates) and memory n d."""
    return Point(rows, vectors, 1e-9 * rows * vectors * (vectors + candidates), 8e-6 * rows * vectors)


def test_exponents_are_those_of_the_measured_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(k06_scaling, "measure_apart", cost)
    section = k06_scaling.scaling(Lab(None, tmp_path), tmp_path)
    rows = [line.strip("| ").split(" | ") for line in section.body.splitlines()[2:]]
    assert len(rows) == 3 * 2 * 2
    slopes = {(name, size, what): float(slope) for name, size, what, _, slope in rows}
    assert slopes[k06_scaling.FIXED, "n", "time"] == 1.0
    assert 1.0 < slopes[k06_scaling.FIXED, "d_max", "time"] < slopes[k06_scaling.RANDOM, "d_max", "time"] < 2.0
    assert slopes[k06_scaling.GROWING, "d_max", "time"] == 2.0
    assert {slope for (_, _, what), slope in slopes.items() if what == "memory"} == {1.0}
    assert rows[0][3] == "1.0, 2.0, 4.0, 8.0"
    assert all(claim.holds for claim in section.claims)


@pytest.mark.parametrize(("power_n", "power_d", "holds"), [(1.09, 2.09, True), (1.11, 2.0, False), (1.0, 2.11, False)])
def test_a_claim_fails_where_an_exponent_is_too_large(
    power_n: float, power_d: float, holds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(k06_scaling, "measure_apart", lambda n, d, *_, seed: Point(n, d, n**power_n * d**power_d, 1.0))
    section = k06_scaling.scaling(Lab(None, tmp_path), tmp_path)
    assert [claim.holds for claim in section.claims] == [holds] * 3
