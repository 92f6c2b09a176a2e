from __future__ import annotations

import json

import pytest

from benchmarks import scaling


def test_every_point_is_one_fit_and_holds_at_least_its_gram_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "DOUBLINGS", 1)
    rows, vectors = json.loads(scaling.main(["--max-rows", "6000", "--vectors", "16", "--json"]))
    assert (rows["size"], vectors["size"]) == ("n", "d_max")
    assert [point["rows"] for point in rows["points"]] == [3_000, 6_000]
    assert vectors["points"] == rows["points"][:1]
    for point in rows["points"]:
        assert point["seconds"] > 0.0
        assert point["megabytes"] >= 8e-6 * point["rows"] * point["vectors"]


def test_slopes_are_those_of_the_logarithms() -> None:
    points = [scaling.Point(100 * 2**k, 8, 0.1 * 4**k, 3.0 * 2**k) for k in range(4)]
    growth = scaling.growth_of("n", points)
    assert growth.seconds_slope == pytest.approx(2.0)
    assert growth.megabytes_slope == pytest.approx(1.0)
    table = scaling._table([growth])
    assert "| n | 800 | 8 | 6.40 | 24 |" in table
    assert "- as n grows: time with log-log slope 2.00, memory with 1.00" in table
