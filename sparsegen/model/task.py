"""What a model's scores are for: to tell classes apart, to tell what is normal from what is not, or to give a value.

A model file states its task. Versions that know classification only refuse any other, and a way of deciding that they
do not know is part of what is stated (``classification by votes``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparsegen.errors import ModelError, OptionError, nearest
from sparsegen.model.decision import DECISIONS, LARGEST, VALUE, VOTES

CLASSIFICATION, ANOMALY, REGRESSION = "classification", "anomaly", "regression"
ANOMALY_CLASSES = ("anomaly", "normal")
"""The classes of every anomaly detector: a positive score is normal."""


@dataclass(frozen=True)
class Task:
    """One thing that a model may be for."""

    name: str
    """As model files state it."""
    verb: str
    """As one asks for it: ``train(task="classify")``."""
    noun: str
    """What a model of this task is called."""
    decisions: tuple[str, ...]
    """The ways in which its scores may decide; the first is the usual one."""
    classes: tuple[str, ...] | None = None
    """The classes that every model of the task has; ``None`` where each model has its own."""

    @property
    def decision(self) -> str:
        """How scores decide where nothing else is said."""
        return self.decisions[0]

    @property
    def has_classes(self) -> bool:
        """Whether a prediction is a class; otherwise it is a value, the score itself."""
        return DECISIONS[self.decision].gives_classes

    def check(self, classes: tuple[Any, ...], decision: str) -> None:
        """Raise a ModelError where classes or decision are not ones that a model of this task can have."""
        if decision not in self.decisions:
            raise ModelError(f"a model for {self.name} cannot decide by {decision}; it decides by {self.decision}")
        if not self.has_classes and classes:
            raise ModelError(f"a model for {self.name} gives values and has no classes, but {len(classes)} are named")
        if self.classes is not None and classes != self.classes:
            raise ModelError(f"a model for {self.name} has the classes {' and '.join(self.classes)}, in this order")


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task(CLASSIFICATION, "classify", "classifier", (LARGEST, VOTES)),
        Task(ANOMALY, "anomaly", "anomaly detector", (LARGEST,), classes=ANOMALY_CLASSES),
        Task(REGRESSION, "regress", "regression model", (VALUE,)),
    )
}


def task_named(verb: str) -> Task:
    """Return the task that somebody asks for as ``classify``, ``anomaly`` or ``regress``."""
    known = {task.verb: task for task in TASKS.values()}
    if verb not in known:
        raise OptionError(f"task {verb!r:.40} is unknown{nearest(verb, known)}; choose one of: {', '.join(known)}")
    return known[verb]


def stated(task: str, decision: str) -> str:
    """Return what a model file says of its task: versions that do not know how it decides refuse it."""
    return task if decision == TASKS[task].decision else f"{task} by {decision}"


def task_and_decision(text: Any) -> tuple[Any, str]:
    """Return the task and the decision that a model file states."""
    for decision in DECISIONS:
        if isinstance(text, str) and text.endswith(f" by {decision}"):
            task = text.removesuffix(f" by {decision}")
            if task in TASKS and decision != TASKS[task].decision:
                return task, decision
    return text, TASKS[text].decision if isinstance(text, str) and text in TASKS else LARGEST
