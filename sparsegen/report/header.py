"""The head of the page: what the model is, and the four figures that people ask for first."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sparsegen.bench import Cost
from sparsegen.data.checks import printable
from sparsegen.model.card import known_accuracy
from sparsegen.promised import bound, percent
from sparsegen.report.figures import DASH, milliseconds, plural, share
from sparsegen.report.html import fill
from sparsegen.report.subject import Subject

KERNELS = {"rbf": "Gaussian", "laplacian": "Laplacian", "linear": "linear", "poly": "polynomial"}
TASKS = {"classification": "classifier", "regression": "regression", "anomaly": "detector"}
SHOWN_CLASSES = 8


@dataclass(frozen=True)
class Header:
    """The title of the page, and what stands below it."""

    title: str
    html: Markup


@dataclass(frozen=True)
class Key:
    """One of the first figures."""

    name: str
    value: str
    unit: str
    remark: str


def header(subject: Subject) -> Header:
    """Return the head of the page."""
    model = subject.model
    kind = TASKS.get(model.task, model.task)
    method = printable(str(model.card.get("method", "kernel")))[:40]
    title = f"{method.upper() if len(method) <= 6 else method} {kind}"
    html = fill(
        "header.html.j2",
        title=title,
        lead=_lead(subject),
        keys=_keys(subject),
        condition=_condition(subject),
        facts=_facts(subject),
    )
    return Header(f"{title}, {plural(model.n_vectors, 'vector')}: sparsegen report", html)


def _lead(subject: Subject) -> str:
    """Return in two sentences what goes in, what is inside, and what comes out."""
    model = subject.model
    names = " and ".join(dict.fromkeys(KERNELS.get(kernel.name, kernel.name) for kernel in model.kernels))
    n_kernels = len(model.kernels)
    kernels = f"a {names} kernel" if n_kernels == 1 else f"{n_kernels} kernels ({names})"
    projected = "" if model.transform.projection is None else f", projected to {model.transform.n_projected},"
    inside = f"{plural(model.n_features, 'feature')}{projected} compared with {plural(model.n_vectors, 'vector')}"
    if not subject.has_classes:
        return f"{inside} through {kernels}."
    shown = ", ".join(subject.classes[:SHOWN_CLASSES])
    more = len(subject.classes) - SHOWN_CLASSES
    return (
        f"{inside} through {kernels} give one of {plural(len(subject.classes), 'class')}: "
        f"{shown}{f' and {more} more' if more > 0 else ''}."
    )


def _keys(subject: Subject) -> list[Key]:
    keys, cost = [], subject.main_cost
    keys.append(_accuracy(subject) if subject.has_classes else _error(subject))
    if cost is None:
        return [
            *keys,
            Key("Tables", f"{subject.exports['portable'].table_bytes:,}", "bytes", "of constants, plus code"),
        ]
    where = cost.device if cost.profile is None else f"{cost.profile.part} ({cost.device})"
    measured = cost.measurement
    if measured.flash is not None:
        used = "" if cost.flash_share is None else f", {share(cost.flash_share)} of it"
        keys.append(Key("Flash", f"{measured.flash:,}", "bytes", f"code and tables on {where}{used}"))
    if cost.ram_with_input is not None:
        used = "" if cost.ram_share is None else f", {share(cost.ram_share)} of it"
        keys.append(Key("RAM", f"{cost.ram_with_input:,}", "bytes", f"deepest stack, with its input{used}"))
    keys.append(_time(cost))
    return keys


def _accuracy(subject: Subject) -> Key:
    tested, known = subject.tested, known_accuracy(subject.model.card)
    if tested.is_held_out:
        number, unit = percent(subject.answers.accuracy.share).split()
        return Key("Accuracy", number, unit, f"of {tested.which}; {subject.answers.condition}")
    if known is not None:
        number, unit = percent(known.share).split()
        return Key(
            "Accuracy", number, unit, f"of {known.rows:,} test rows, as the model's card says; {known.in_words()}"
        )
    return Key("Accuracy", DASH, "", "not known: no row here is known to be held out in training")


def _error(subject: Subject) -> Key:
    tested = subject.tested
    return Key("Error", bound(subject.errors.root_mean_square), "", f"root mean square, of {tested.which}")


def _time(cost: Cost) -> Key:
    if cost.milliseconds is not None and cost.profile is not None:
        number, unit = milliseconds(cost.milliseconds).split()
        clock = f"mean of a prediction at {cost.profile.clock_hz / 1e6:g} MHz"
        return Key(
            "Time",
            number,
            unit,
            f"{clock}, estimated on the slow side, if memory answers without wait states"
            if cost.is_estimate
            else f"{clock}, exact to the cycle",
        )
    if cost.measurement.instructions is not None:
        return Key("Work", f"{cost.measurement.instructions:,.0f}", "instructions", "mean of a prediction")
    return Key("Time", DASH, "", "could not be measured here")


def _condition(subject: Subject) -> str | None:
    """Return a sentence where the figures of this page may flatter the model."""
    tested = subject.tested
    if tested.is_held_out:
        return None
    final = subject.model.card.get("final_rows")
    why = (
        "None of the rows on this page is known to be held out in training"
        if final is None
        else f"The model was trained at last on all {final:,} rows of its data, so no row was held out"
    )
    return f"{why}: what the sections below say of its mistakes may be better than it is on new rows."


def _facts(subject: Subject) -> list[tuple[str, str]]:
    model, card = subject.model, subject.model.card
    facts = [("Model", f"sha256 {model.sha256}")]
    data = card.get("data")
    if isinstance(data, dict) and isinstance(data.get("source"), str):
        rows = f", {data['rows']:,} training rows" if isinstance(data.get("rows"), int) else ""
        facts.append(("Trained on", f"{printable(data['source'])[:80]}{rows}"))
    facts.append(("Tested on", f"{printable(subject.rows.source)}, {subject.tested.which}"))
    kernels = "; ".join(
        f"{k.name}({', '.join(f'{name} = {value:g}' for name, value in k.params)})" for k in model.kernels
    )
    facts.append(("Kernel", kernels))
    facts.append(("Number format", subject.lowered.format.numbers.description))
    return facts
