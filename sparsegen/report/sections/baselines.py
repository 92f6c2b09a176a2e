"""What else the same flash would buy: our export of an SVC, and emlearn's of a forest and a network."""

from __future__ import annotations

from dataclasses import dataclass

from sparsegen.model.task import CLASSIFICATION
from sparsegen.promised import Accuracy, between, percent
from sparsegen.report.axis import place
from sparsegen.report.baselines import Baseline, Contest, contest, run
from sparsegen.report.baselines.emlearn_code import has_emlearn
from sparsegen.report.figures import DASH, milliseconds, plural, whole
from sparsegen.report.html import fill
from sparsegen.report.section import Section
from sparsegen.report.subject import Subject

BAR = 160.0


@dataclass(frozen=True)
class BaselineLine:
    """One line of the table: this model, or a baseline."""

    name: str
    setting: str
    accuracy: str
    interval: str
    flash: str
    bar: str
    """How long its bar of flash is; the longest one goes over the edge."""
    fits: str
    is_over: bool
    ram: str
    work: str
    time: str
    is_ours: bool
    remark: str


def section(subject: Subject) -> Section | None:
    """Return the table; ``None`` where it is not wanted, or where nothing can be measured here."""
    if not subject.with_baselines or subject.main_cost is None:
        return None
    of = contest(subject) if subject.model.task == CLASSIFICATION else None
    if of is None:
        html = fill("no_baselines.html.j2", why=_why(subject))
        return Section("baselines", "What else the same flash would buy", html)
    ours = Baseline(
        "this model",
        f"{plural(subject.model.n_vectors, 'vector')}, {subject.lowered.format.dtype}",
        subject.answers.accuracy,
        subject.main_cost,
    )
    found = [ours, *run(subject, of)]
    html = fill(
        "baselines.html.j2",
        lines=[_line(of, one, one is ours) for one in found],
        device=of.device,
        budget=whole(of.flash),
        is_ours=subject.flash_budget is None,
        rows=plural(len(of.X), "training row"),
        left_out=plural(of.n_train - len(of.X), "row") if of.n_train > len(of.X) else None,
        which=subject.tested.which,
        has_emlearn=has_emlearn(),
    )
    return Section("baselines", "What else the same flash would buy", html)


def _why(subject: Subject) -> str:
    """Return why there are none."""
    if subject.is_detector:
        return "an SVC, a forest and a network learn from examples of anomalies, which this model was not trained on"
    if not subject.has_classes:
        return "an SVC, a forest and a network are trained here to give classes, and this model gives values"
    if not subject.tested.is_held_out:
        return "no row here is known to be held out, so nothing could be compared fairly"
    if subject.train_rows is None:
        return "all rows here were held out; baselines need the rows that the model was trained on"
    return "the rows or the device do not allow it"


def _line(of: Contest, one: Baseline, is_ours: bool) -> BaselineLine:
    cost, flash = one.cost, one.flash
    times = None if flash is None else flash / of.flash
    is_over = times is not None and flash is not None and flash > of.flash
    fits = DASH if times is None else "fits"
    if times is not None and is_over:
        fits = f"{times:.1f} times too large" if times >= 1.05 else "just too large"
    measured = None if cost is None else cost.measurement
    work = DASH
    if measured is not None and measured.instructions is not None:
        work = f"{whole(measured.instructions)} instructions"
    elif measured is not None and measured.cycles is not None:
        work = f"{whole(measured.cycles)} cycles"
    least = "" if cost is not None and cost.measurement.flash is not None else "at least "
    return BaselineLine(
        one.name,
        one.setting,
        DASH if one.accuracy is None else percent(one.accuracy.share),
        "" if one.accuracy is None else _interval(one.accuracy),
        DASH if flash is None else f"{least}{flash:,}",
        place(BAR * min(1.0, 0.5 * (times or 0.0))),
        fits,
        is_over,
        whole(None if cost is None else cost.ram_with_input),
        work,
        milliseconds(None if cost is None else cost.milliseconds),
        is_ours,
        one.remark,
    )


def _interval(accuracy: Accuracy) -> str:
    return between(accuracy.interval)
