"""The plot of the front is a document: its data, its axes and what it tells of each point."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from report.reports import Parsed, front, held_from, point, rows_of, small

from sparsegen.budget.budget import Budget
from sparsegen.errors import ToolError
from sparsegen.report import report, require_vega
from sparsegen.report.sections import front as section
from sparsegen.report.vega import vega_script
from sparsegen.search.front import Front


def layers(of: Front) -> list[dict[str, Any]]:
    return section.spec(of)["layer"]


def test_points_are_drawn_where_they_are() -> None:
    _, others, best, *_ = layers(front())
    assert [(v["number"], v["flash"], v["score"], v["time"]) for v in best["data"]["values"]] == [
        (0, 1000, 80.0, 0.5),
        (1, 2000, 90.0, 0.4),
        (3, 4000, 95.0, 1.5),
    ]
    assert [value["number"] for value in others["data"]["values"]] == [4]  # 2 is far below
    assert section.spec(front())["params"] == [{"name": "chosen", "value": 1}]


def test_the_line_joins_the_best_that_each_amount_of_flash_buys() -> None:
    found = front()
    slow = [*found.candidates, point(7, 0.85, 3000, 0.1)]  # on the front for its time alone
    found = Front.of(slow, 1, device="x", part=None, budget=Budget(), metric="accuracy")
    assert 7 in [p.number for p in found.points]
    assert [v["flash"] for v in layers(found)[0]["data"]["values"]] == [1000, 2000, 4000]


def test_a_loss_is_better_where_it_is_smaller() -> None:
    losses = [point(k, loss, 1000 * (k + 1), 1.0, metric="logloss") for k, loss in enumerate((0.9, 0.5, 0.7))]
    found = Front.of(losses, 1, device="x", part=None, budget=Budget(), metric="logloss", larger_is_better=False)
    line, _, best, *_ = layers(found)
    assert [v["score"] for v in line["data"]["values"]] == [0.9, 0.5]
    assert best["encoding"]["y"]["title"] == "logloss"


def test_a_wide_range_of_flash_has_a_logarithmic_axis() -> None:
    assert layers(front())[0]["encoding"]["x"]["scale"]["zero"] is False
    wide = Front.of(
        [point(0, 0.8, 500, 1), point(1, 0.9, 50_000, 2)], 0, device="x", part=None, budget=Budget(), metric="f1"
    )
    assert layers(wide)[0]["encoding"]["x"]["scale"]["type"] == "log"


def test_the_budget_is_drawn_unless_it_is_far_away() -> None:
    assert len(layers(front())) == 5
    assert layers(front())[-1]["encoding"]["x"]["datum"] == 4096
    assert len(layers(front(budget=Budget(flash=1 << 20)))) == 3
    assert len(layers(front(budget=Budget()))) == 3


def test_the_plot_reaches_to_the_budget_that_it_shows() -> None:
    """Vega gives the room that a line beyond the axis needs, and hardly any is left for the points."""
    largest = max(one.flash for one in front().candidates)
    for most in (largest, 2 * largest):
        low, high = layers(front(budget=Budget(flash=most)))[1]["encoding"]["x"]["scale"]["domain"]
        assert low < most < high


def test_one_time_alone_has_no_scale_of_colours() -> None:
    alone = Front.of([point(0, 1.0, 100, 1.0)], 0, device="x", part=None, budget=Budget(), metric="accuracy")
    assert section.spec(alone)["layer"][2]["encoding"]["color"]["legend"] is None
    assert layers(front())[2]["encoding"]["color"]["legend"] is not None


def test_of_very_many_candidates_the_best_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(section, "MOST_CANDIDATES", 1)
    assert [value["number"] for value in layers(front())[1]["data"]["values"]] == [4]


def test_candidates_far_below_the_front_are_left_out() -> None:
    found = Front.of(
        [*front().candidates, point(8, 0.1, 3000, 3.0)], 1, device="x", part=None, budget=Budget(), metric="accuracy"
    )
    assert [value["number"] for value in layers(found)[1]["data"]["values"]] == [4]
    assert layers(found)[1]["encoding"]["y"]["scale"]["domain"] == [76.25, 98.75]
    alone = Front.of([point(0, 1.0, 100, 1.0)], 0, device="x", part=None, budget=Budget(), metric="accuracy")
    assert section.spec(alone)["layer"][1]["encoding"]["y"]["scale"]["domain"] == [95.0, 100.0]


def test_details_tell_what_was_predicted_and_what_measured() -> None:
    made = section._details(front(), point(3, 0.95, 4000, 1.5), "search --pick")
    assert ["flash", "4,000 bytes, as the cost model predicts"] in made["facts"]
    assert ["accuracy", "95.00 %"] in made["facts"]
    assert made["command"] == "search --pick 3"
    made = section._details(front(), point(3, 0.95, 4000, 1.5, is_measured=True), "search --pick")
    assert ["flash", "4,000 bytes, measured"] in made["facts"]
    assert ["method", "slmc"] in made["parameters"]


def test_the_libraries_end_no_script_and_name_their_licences() -> None:
    pytest.importorskip("vl_convert")
    script = vega_script()
    assert "</script" not in script.lower()
    assert "<!--" not in script
    assert "University of Washington Interactive Data Lab" in script
    assert len(script) < 1_000_000


def test_without_the_package_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ToolError, match=r"pip install 'sparsegen\[report\]'"):
        require_vega()
    monkeypatch.setattr("sparsegen.report.page.SECTIONS", ())
    model = small()
    rows = rows_of(model)
    with pytest.raises(ToolError, match="vl-convert-python"):  # before anything takes long
        report(held_from(model, rows, slice(0, 20)), rows, front=front(), devices=())


def test_the_table_has_every_point_of_the_front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsegen.report.page.SECTIONS", (section.section,))
    monkeypatch.setattr(section, "vega_script", lambda: "")
    model = small()
    seen = Parsed(report(model, rows_of(model), front=front(), devices=()))
    buttons = [a["data-point"] for tag, a in seen.elements if tag == "button" and "data-point" in a]
    assert buttons == ["0", "1", "3"]
    assert "5 candidates of a search for STM32F103C8 (cortex-m3), with a budget of 4,096 bytes of flash" in seen.text
