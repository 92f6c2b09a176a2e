"""Subject: the model that a page is about, its rows, and what is computed of them once for all sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparsegen.arrays import Array
from sparsegen.bench import Cost, bench_exports
from sparsegen.budget.budget import Budget
from sparsegen.data import Dataset
from sparsegen.data.checks import printable
from sparsegen.devices import DEVICES, Profile
from sparsegen.lowering.formats import FLOAT32, Format
from sparsegen.lowering.lowered import Lowered
from sparsegen.model import SparseModel
from sparsegen.model.detector_quality import DetectorQuality
from sparsegen.model.held_out import held_out
from sparsegen.model.task import ANOMALY
from sparsegen.model.value_quality import ValueQuality
from sparsegen.report.pixels import guess_image
from sparsegen.report.tested import Answers, Tested, answers, detection, errors, test_rows
from sparsegen.verify import Exports

if TYPE_CHECKING:
    from sparsegen.search.front import Front

MAIN_DEVICES = ("cortex-m4f", "cortex-m3", "cortex-m0plus", "rv32imc", "atmega328p")
"""Whose figures stand at the top of the page where no device is named: the first of these that was measured."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What the page tells of. Sections read it and never write."""

    model: SparseModel
    rows: Dataset
    """Labelled rows in the order of the model's features; some or all of them may be training rows."""
    train: Dataset | None = None
    """Rows that baselines are trained on; ``None`` takes those of ``rows`` that the model was not tested on."""
    front: Front | None = None
    """What a search found."""
    devices: tuple[str, ...] | None = None
    """Names of devices; ``None``: all microcontrollers that can run here."""
    profile: Profile | None = None
    """The part that the devices stand for; ``None``: each its own."""
    clock_hz: int | None = None
    budget: Budget | None = None
    """What a prediction may cost; without it, the front's where there is one."""
    numbers: Format = FLOAT32
    image: tuple[int, int] | None = None
    """Height and width where the features are pixels; ``None`` guesses."""
    name: str = "model"
    """Prefix of the symbols in the generated C."""
    pick_command: str | None = None
    """The command that writes another point of the front, up to its number, where there is one."""
    with_baselines: bool = True
    """Whether to train and measure baselines, which takes the most time of all sections."""

    @property
    def has_classes(self) -> bool:
        """Whether the model answers with a class, rather than with a value."""
        return len(self.model.classes) > 0

    @property
    def is_detector(self) -> bool:
        """Whether the model's classes are what is normal and what is not."""
        return self.model.task == ANOMALY

    @cached_property
    def exports(self) -> Exports:
        """The C, printed once for each form of inner loops."""
        return Exports(self.model, "c", self.name, self.numbers)

    @property
    def lowered(self) -> Lowered:
        """The program that the C is printed from."""
        return self.exports.lowered

    @cached_property
    def tested(self) -> Tested:
        """The rows that the page's figures come from: held-out ones, where any are known."""
        return test_rows(self.lowered, self.rows.X, self.rows.y)

    @cached_property
    def answers(self) -> Answers:
        """Their classes, and those that the program gives; only for a model that has classes."""
        return answers(self.lowered, self.tested)

    @cached_property
    def detection(self) -> DetectorQuality | None:
        """False alarms and detections on these rows; only for a detector, and where rows are known to be either."""
        return detection(self.lowered, self.tested, self.answers)

    @cached_property
    def errors(self) -> ValueQuality:
        """How far the program's values are off on these rows; only for a model that gives values."""
        target = self.model.card.get("target")
        return errors(self.tested, None if target is None else target["mean"])

    @cached_property
    def train_rows(self) -> tuple[Array, NDArray[np.generic]] | None:
        """Rows and labels to train baselines on: given, or those of the file that the model was not tested on."""
        if self.train is not None:
            return self.train.X, self.train.y
        held = held_out(self.model.card, self.rows.X)
        if held is None or not held.any() or held.all():
            return None
        return self.rows.X[~held], self.rows.y[~held]

    @cached_property
    def costs(self) -> tuple[Cost, ...]:
        """What a prediction costs on each device that can run here."""
        if self.devices is None:
            able = [d.name for d in DEVICES.values() if d.runs == "c" and d.profile is not None and not d.missing()]
            return self._costs_on(able)
        return self._costs_on(self.devices)

    def _costs_on(self, devices: Sequence[str]) -> tuple[Cost, ...]:
        if not devices:
            return ()
        part, clock, budget = self.profile, self.clock_hz, self.budget
        X = self.tested.X
        return tuple(bench_exports(self.exports, X, devices, profile=part, clock_hz=clock, budget=budget))

    @property
    def flash_budget(self) -> int | None:
        """Bytes of flash that a prediction may take, where that is limited."""
        budget = self.budget if self.front is None or self.budget is not None else self.front.budget
        return None if budget is None else budget.flash

    @cached_property
    def main_cost(self) -> Cost | None:
        """The cost on the device that the page's first figures are about; ``None`` where nothing could be measured."""
        if not self.costs:
            return None
        if self.devices is not None:
            return self.costs[0]
        known = {cost.device: cost for cost in self.costs}
        return next((known[name] for name in MAIN_DEVICES if name in known), self.costs[0])

    @cached_property
    def image_size(self) -> tuple[int, int] | None:
        """Height and width of the images that rows are; ``None`` where they are none."""
        return guess_image(self.rows.X, self.feature_names) if self.image is None else self.image

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, printable."""
        names = self.model.card.get("feature_names") or [f"x{j}" for j in range(self.model.n_features)]
        return tuple(printable(name) for name in names)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, printable."""
        return tuple(printable(str(label)) for label in self.model.classes)

    @cached_property
    def tested_features(self) -> Array:
        """The tested rows as floats, missing values filled in."""
        return np.asarray(self.model.transform.filled(np.asarray(self.tested.X, dtype=np.float64)))
