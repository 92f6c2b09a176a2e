"""What a prediction costs on each device, beside what a typical part of it has."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.bench import Cost
from sparsegen.report.figures import DASH, milliseconds, share, whole
from sparsegen.report.html import fill
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject


@dataclass(frozen=True)
class Line:
    """One device in the table."""

    device: str
    part: str
    flash: str
    flash_used: str | None
    ram: str
    ram_used: str | None
    work: str
    time: str
    worst: str
    is_estimate: bool


def section(subject: Subject) -> Section | None:
    """Return the table of devices; ``None`` where none can be measured here."""
    if not subject.costs:
        return None
    lines = [_line(cost) for cost in subject.costs]
    html = fill(
        "costs.html.j2",
        lines=lines,
        dtype=subject.lowered.format.dtype,
        rows=subject.tested.which,
        makers=list(dict.fromkeys(cost.made_by for cost in subject.costs if cost.made_by)),
        has_times=any(cost.milliseconds is not None for cost in subject.costs),
        estimates=list(dict.fromkeys(_estimate(cost) for cost in subject.costs if cost.is_estimate)),
        problems=[cost.problem for cost in subject.costs if cost.problem is not None],
    )
    return Section("cost", "What a prediction costs", html)


def _estimate(cost: Cost) -> str:
    """Return where the estimated cycles of a core come from."""
    estimate = cost.measurement.estimate
    return "" if estimate is None else f"{estimate.core}: {estimate.model}"


def _line(cost: Cost) -> Line:
    measured, profile = cost.measurement, cost.profile
    work = DASH
    if measured.instructions is not None:
        work = f"{whole(measured.instructions)} instructions"
    elif measured.cycles is not None:
        work = f"{whole(measured.cycles)} cycles"
    return Line(
        cost.device,
        "this computer" if profile is None else f"{profile.part}, {profile.clock_hz / 1e6:g} MHz",
        whole(measured.flash),
        None if cost.flash_share is None else share(cost.flash_share),
        whole(cost.ram_with_input),
        None if cost.ram_share is None else share(cost.ram_share),
        work,
        milliseconds(cost.milliseconds),
        milliseconds(cost.worst_milliseconds),
        cost.is_estimate,
    )
