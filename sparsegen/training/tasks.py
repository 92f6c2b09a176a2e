"""Training for a task by its name: each has its trainer, and a method that it takes where none is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sparsegen.data import Dataset
from sparsegen.errors import OptionError
from sparsegen.model.task import ANOMALY, CLASSIFICATION, REGRESSION, TASKS
from sparsegen.training.anomalies import train_anomalies
from sparsegen.training.train import train
from sparsegen.training.values import train_values


@dataclass(frozen=True)
class Trainer:
    """How models of one task are trained."""

    method: str
    """The method where none is named."""
    train: Callable[..., Any]
    """Returns a report: of a model trained on one data set and tested on another."""


TRAINERS: Mapping[str, Trainer] = {
    CLASSIFICATION: Trainer("slmc", train),
    ANOMALY: Trainer("slmo", train_anomalies),
    REGRESSION: Trainer("slmr", train_values),
}
"""By task."""


def train_for(
    task: str,
    train_set: Dataset,
    test_set: Dataset,
    *,
    method: str | None = None,
    normal: str | None = None,
    **options: Any,
) -> Any:
    """Return the report of a model for a task, trained on one set and tested on the other, as its trainer gives it.

    ``normal`` is the label of normal rows, which only a detector of anomalies is told.
    """
    if task not in TRAINERS:
        known = ", ".join(TASKS[name].verb for name in TRAINERS)
        raise OptionError(f"nothing trains a model for {task} yet; choose one of: {known}", change={"task": ""})
    if task == ANOMALY:
        options["normal"] = normal
    elif normal is not None:
        raise OptionError(
            f"a label of normal rows means nothing to a {TASKS[task].noun}; leave it out, or train a detector",
            change={"normal": "", "task": TASKS[ANOMALY].verb},
        )
    trainer = TRAINERS[task]
    return trainer.train(train_set, test_set, method=trainer.method if method is None else method, **options)
