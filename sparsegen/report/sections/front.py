"""What else could be had: the candidates of a search, their Pareto front, and how to take another of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsegen.data.checks import printable
from sparsegen.promised import bound, percent
from sparsegen.report.figures import DASH, milliseconds, plural, whole
from sparsegen.report.html import fill, text_of
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject
from sparsegen.report.vega import vega_script
from sparsegen.search.front import Front, Point

SHARES = {"accuracy", "balanced", "f1"}
"""Metrics that are shares, and are shown in percent."""
LOG_FROM = 8.0
"""How many times the smallest flash the largest must be for a logarithmic axis."""
HEIGHT = 360
COLOURS = ["#3b6fb6", "#2ea58a", "#e0a020"]
"""From quick to slow; to be seen on light and dark paper, and by the colour-blind."""
CHOSEN = "#d55e00"
MOST_CANDIDATES = 2000
"""Candidates off the front that are drawn: the best."""


@dataclass(frozen=True)
class FrontLine:
    """One point of the front in the table."""

    number: str
    what: str
    vectors: str
    dtype: str
    score: str
    flash: str
    ram: str
    time: str
    is_picked: bool


def section(subject: Subject) -> Section | None:
    """Return the plot and the table of the front; ``None`` where no search was made."""
    found = subject.front
    if found is None:
        return None
    lines = [_line(found, point) for point in found.points]
    html = fill(
        "front.html.j2",
        lines=lines,
        metric=printable(found.metric),
        has_shares=found.metric in SHARES,
        finished=plural(len(found.candidates), "candidate"),
        on_front=len(found.points),
        left_out=len(found.candidates) - len(_drawn(found)),
        where=printable(found.device if found.part is None else f"{found.part} ({found.device})"),
        budget=_budget(found),
    )
    details = {str(point.number): _details(found, point, subject.pick_command) for point in _drawn(found)}
    data = {"front-data": {"spec": spec(found), "picked": found.picked, "details": details}}
    return Section("front", "What else could be had", html, data, scripts=(vega_script(), text_of("front.js")))


def spec(found: Front) -> dict[str, Any]:
    """Return the plot as a document of Vega-Lite: score over flash, coloured by time."""
    on_front = {point.number for point in found.points}
    values = [
        {
            "number": point.number,
            "flash": point.flash,
            "score": _shown_score(found, point),
            "time": point.time,
            "front": point.number in on_front,
        }
        for point in _drawn(found)
    ]
    flashes = [point.flash for point in found.candidates]
    if (limit := _drawn_limit(found)) is not None:
        flashes.append(limit)  # a line beyond the axis would take the plot's width for itself
    scale: dict[str, Any] = {"domain": [0.92 * min(flashes), 1.06 * max(flashes)], "nice": False, "zero": False}
    if min(flashes) > 0 and max(flashes) > LOG_FROM * min(flashes):
        scale = {"domain": [0.85 * min(flashes), 1.2 * max(flashes)], "nice": False, "type": "log"}
    has_times = len({point.time for point in found.points}) > 1  # one alone spans no colours
    legend = {
        "orient": "top",
        "direction": "horizontal",
        "gradientLength": 180,
        "gradientThickness": 8,
    }
    time = {
        "field": "time",
        "type": "quantitative",
        "title": _time_name(found),
        "scale": {"range": COLOURS},
        "legend": legend if has_times else None,
    }
    window = list(_window(found))
    is_chosen = "datum.number === chosen"
    score = {
        "type": "quantitative",
        "title": _score_name(found),
        "scale": {"domain": window, "zero": False},
    }
    flash = {
        "type": "quantitative",
        "title": "flash, bytes",
        "scale": scale,
        "axis": {"format": ",d", "labelOverlap": "greedy", "labelSeparation": 8},
    }
    places = {"x": {"field": "flash", **flash}, "y": {"field": "score", **score}}
    return {
        "description": f"{_score_name(found)} over flash; the table below has every point of the front",
        "width": "container",
        "height": HEIGHT,
        "background": None,
        "autosize": {"type": "fit", "contains": "padding"},
        "params": [{"name": "chosen", "value": found.picked}],
        "layer": [
            {
                "data": {"values": _envelope(found)},
                "mark": {
                    "type": "line",
                    "interpolate": "step-after",
                    "strokeWidth": 1.5,
                    "opacity": 0.45,
                    "tooltip": None,
                },
                "encoding": {**places, "order": {"field": "flash"}},
            },
            {
                "data": {"values": [value for value in values if not value["front"]]},
                "mark": {"type": "circle", "size": 26, "opacity": 0.35, "cursor": "pointer"},
                "encoding": {**places, "tooltip": {"field": "number"}},
            },
            {
                "data": {"values": [value for value in values if value["front"]]},
                "mark": {"type": "circle", "opacity": 1, "cursor": "pointer", "strokeWidth": 3},
                "encoding": {
                    **places,
                    "color": time,
                    "stroke": {"condition": {"test": is_chosen, "value": CHOSEN}, "value": None},
                    "size": {"condition": {"test": is_chosen, "value": 300}, "value": 130},
                    "tooltip": {"field": "number"},
                },
            },
            *_limit(limit),
        ],
    }


def _envelope(found: Front) -> list[dict[str, float]]:
    """Return the best score that can be had for each amount of flash, whatever the time: the corners of the steps."""
    sign = 1.0 if found.larger_is_better else -1.0
    corners: list[Point] = []
    for point in sorted(found.points, key=lambda one: (one.flash, -sign * one.score)):
        if not corners or sign * point.score > sign * corners[-1].score:
            corners.append(point)
    return [{"flash": point.flash, "score": _shown_score(found, point)} for point in corners]


def _drawn_limit(found: Front) -> int | None:
    """Return the flash budget, unless it lies far beyond all candidates."""
    most = found.budget.flash
    return None if most is None or most > 2 * max(point.flash for point in found.candidates) else most


def _limit(most: int | None) -> list[dict[str, Any]]:
    """Return the line of the flash budget, where it is drawn."""
    if most is None:
        return []
    at = {"x": {"datum": most, "type": "quantitative"}}
    rule = {"type": "rule", "strokeDash": [5, 4], "tooltip": None}
    text = {"type": "text", "align": "right", "baseline": "top", "dx": -6, "dy": 4, "text": "budget", "tooltip": None}
    once: dict[str, Any] = {"values": [{}]}
    on_top = {**at, "y": {"value": 0}}
    return [{"data": once, "mark": rule, "encoding": at}, {"data": once, "mark": text, "encoding": on_top}]


def _window(found: Front) -> tuple[float, float]:
    """Return the scores between which the plot shows: those of the front and of the pick, with room around."""
    scores = [_shown_score(found, point) for point in (*found.points, found.pick)]
    low, high = min(scores), max(scores)
    room = 0.25 * (high - low) or 0.05 * max(abs(high), 0.1)
    top = min(high + room, 100.0) if found.metric in SHARES else high + room
    return low - room, max(top, high)


def _drawn(found: Front) -> list[Point]:
    """Return the points of the front, and of the others the best; those far below the front are left out."""
    sign = -1.0 if found.larger_is_better else 1.0
    low, high = _window(found)
    on_front = {point.number for point in found.points} | {found.picked}
    near = [p for p in found.candidates if p.number not in on_front and low <= _shown_score(found, p) <= high]
    others = sorted(near, key=lambda point: (sign * point.score, point.number))
    kept = on_front | {point.number for point in others[:MOST_CANDIDATES]}
    return [point for point in found.candidates if point.number in kept]


def _shown_score(found: Front, point: Point) -> float:
    return 100 * point.score if found.metric in SHARES else point.score


def _score_name(found: Front) -> str:
    metric = printable(found.metric)
    return f"{metric}, %" if found.metric in SHARES else metric


def _time_name(found: Front) -> str:
    timed = all(point.milliseconds is not None for point in found.candidates)
    return "time, ms" if timed else "instructions"


def _score(found: Front, point: Point) -> str:
    return percent(point.score) if found.metric in SHARES else bound(point.score)


def _time(point: Point) -> str:
    if point.milliseconds is not None:
        return milliseconds(point.milliseconds)
    return DASH if point.instructions is None else f"{whole(point.instructions)} instructions"


def _what(point: Point) -> str:
    return printable(str(point.parameters.get("method", "")))[:40] or DASH


def _line(found: Front, point: Point) -> FrontLine:
    reads = "" if point.reads == "f32" else f", {printable(point.reads)}"
    return FrontLine(
        str(point.number),
        _what(point),
        f"{point.n_vectors:,}",
        f"{printable(point.dtype)}{reads}",
        _score(found, point),
        f"{point.flash:,}",
        f"{point.ram:,}",
        _time(point),
        point.number == found.picked,
    )


def _details(found: Front, point: Point, command: str | None) -> dict[str, Any]:
    """Return what hovering and picking tell of a point, as text."""
    sure = "measured" if point.is_measured else "as the cost model predicts"
    facts = [
        [printable(found.metric), _score(found, point)],
        ["flash", f"{point.flash:,} bytes, {sure}"],
        ["RAM", f"{point.ram:,} bytes with its input"],
        ["time", _time(point)],
        ["vectors", f"{point.n_vectors:,}"],
        ["format", printable(f"{point.dtype}, reads {point.reads}")],
    ]
    parameters = [[printable(str(key)), printable(_text(value))] for key, value in sorted(point.parameters.items())]
    return {
        "facts": facts,
        "parameters": parameters,
        "command": None if command is None else printable(f"{command} {point.number}"),
    }


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)[:200]


def _budget(found: Front) -> str | None:
    """Return the budget in words, where there is one."""
    budget = found.budget
    flash = None if budget.flash is None else f"{budget.flash:,} bytes of flash"
    ram = None if budget.ram is None else f"{budget.ram:,} bytes of RAM"
    time = None if budget.milliseconds is None else f"{budget.milliseconds:g} ms"
    return ", ".join(limit for limit in (flash, ram, time) if limit is not None) or None
