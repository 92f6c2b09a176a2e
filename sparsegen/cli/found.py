"""What a search found, in words and in JSON: printed by ``search``."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsegen.cli.console import or_dash, print_facts, print_json, print_table, print_warnings, say
from sparsegen.cli.costs import cost_document
from sparsegen.cli.verdicts import judged_document
from sparsegen.promised import bound, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparsegen.bench import Cost
    from sparsegen.budget.budget import Budget
    from sparsegen.search.find import Found
    from sparsegen.search.front import Point

ESTIMATES = (
    "costs are estimates made before training, but for the pick's, which come of its measurement; time is a mean row's"
)
MOST_SHOWN = 20


def print_found(found: Found, path: Path, as_json: bool, *, verbose: bool = False) -> None:
    """Print the front, the pick, and how good it is on rows that the search never saw."""
    winner = found.winner
    warnings = [*winner.report.warnings, *winner.notes]
    print_warnings(warnings)
    if as_json:
        print_json({**_document(found), "model": str(path), "warnings": warnings})
        return
    front, share = found.front, found.front.metric != "logloss"
    shown = front.points if verbose else _thinned(front.points, front.picked)
    beaten = [] if front.pick in front.points else [front.pick]  # it was asked for by its number
    rows = [_row(point, front.picked, share) for point in (*shown, *beaten)]
    title = f"{len(shown)} of {len(front.points)} candidates that none beats in {front.metric}, flash and time at once"
    columns = (
        "",
        "format",
        "model",
        "N",
        f"{front.metric}\ninside",
        "flash\nbytes",
        "RAM\nbytes",
        "time\nms",
        "vectors",
    )
    print_table(title, columns, rows, text=3)
    say(ESTIMATES)
    print_facts(f"saved to {path}", list(_facts(found)))
    say(f"next: sparsegen export {shlex.quote(str(path))} --dtype {front.pick.dtype} --input {front.pick.reads} -o out")


def model_words(point: Point) -> str:
    """Return what a candidate is trained with, in a few words."""
    known = dict(point.parameters)
    words = [f"{known.pop('method', '')} {known.pop('kernel', '')}".strip()]
    if (count := known.pop("n_features", None)) is not None:
        words.append(f"{count} features")
    if (count := known.pop("n_projected", None)) is not None:
        words.append(f"projected to {count}")
    if known.pop("feature_scales", False):
        words.append("learnt factors")
    words += [
        f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in known.items()
    ]
    return ", ".join(words)


def _thinned(points: tuple[Point, ...], picked: int) -> list[Point]:
    """Return at most so many points, evenly spaced, with the pick."""
    if len(points) <= MOST_SHOWN:
        return list(points)
    places = {round(i * (len(points) - 1) / (MOST_SHOWN - 1)) for i in range(MOST_SHOWN)}
    return [point for i, point in enumerate(points) if i in places or point.number == picked]


def _row(point: Point, picked: int, share: bool) -> tuple[object, ...]:
    return (
        "pick" if point.number == picked else "",
        point.dtype if point.reads == "f32" else f"{point.dtype} {point.reads}",
        model_words(point),
        point.number,
        percent(point.score) if share else bound(point.score),
        f"{point.flash:,}",
        f"{point.ram:,}",
        or_dash(point.milliseconds, bound),
        point.n_vectors,
    )


def _facts(found: Found) -> Iterable[tuple[str, object]]:
    front, winner = found.front, found.winner
    pick, cost, judged = front.pick, winner.cost, winner.judged
    share = front.metric != "logloss"
    inside = percent(pick.score) if share else bound(pick.score)
    yield "test", f"in {pick.dtype}: {judged}"
    if front.metric != "accuracy":
        score = percent(winner.test_score) if share else bound(winner.test_score)
        yield f"{front.metric} of the test", f"{score}, in {pick.dtype}"
    if found.tested > 1:
        yield "tests", f"{found.tested} candidates so far; the test of one that was chosen by its test is too good"
    yield "inside", f"{front.metric} {inside} in cross-validation on the other rows, which chose this candidate"
    yield from _budget_facts(cost, front.budget)
    yield "model", f"{pick.n_vectors} vectors; {model_words(pick)}"
    tried = found.tried
    counted = f"{tried['finished']} candidates finished, {tried['stopped']} stopped early, {tried['failed']} failed"
    yield "search", f"{counted}, in {found.seconds:.0f} s; {found.why}"


def _budget_facts(cost: Cost, budget: Budget) -> Iterable[tuple[str, str]]:
    measured = cost.measurement
    yield "flash", _of(measured.flash, budget.flash, "bytes")
    yield "RAM", f"{_of(cost.ram_with_input, budget.ram, 'bytes')}, with its input"
    if cost.worst_milliseconds is not None and cost.profile is not None:
        limit = "" if budget.milliseconds is None else f" of {budget.milliseconds:g} ms"
        slow = "estimated on the slow side, if memory answers without wait states"
        kind = slow if cost.is_estimate else "counted"
        clock = f"{cost.profile.clock_hz / 1e6:g} MHz"
        yield "time", f"{bound(cost.worst_milliseconds)}{limit or ' ms'}: the slowest measured row at {clock}, {kind}"
    yield "measured", f"{cost.device}: {cost.made_by}"


def _of(used: int | None, most: int | None, unit: str) -> str:
    if used is None:
        return "-"
    return f"{used:,} {unit}" if most is None else f"{used:,} of {most:,} {unit} ({math.ceil(100 * used / most)} %)"


def _document(found: Found) -> dict[str, Any]:
    winner = found.winner
    return {
        "front": found.front.as_json(),
        "picked": found.front.picked,
        "method": winner.model.card["method"],
        "vectors": winner.model.n_vectors,
        "dtype": found.pick.dtype,
        "input": found.pick.reads,
        **judged_document(winner.judged),
        "test_score": winner.test_score,
        "candidates_tested": found.tested,
        "real_valued_accuracy": winner.report.accuracy,
        "cost": cost_document(winner.cost),
        "tried": dict(found.tried),
        "seconds": round(found.seconds, 3),
        "ended": found.why,
    }
