"""Side by side with what others generate: one peer per file, found by ``PEERS``, run by ``python -m benchmarks.peers``.

A peer generates code into temporary folders only. Its package is imported when it is used, so the rest runs without.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers._problem import Problem
from benchmarks.peers._row import Labels, Row, fill
from benchmarks.peers._stage import HOST, MEASURED_ROWS, Stage
from sparsegen.devices._toolchain import absent
from sparsegen.registry import Registry
from sparsegen.report.baselines.peer_code import FLOAT, peer_export
from sparsegen.targets import Export

SHIMS = Path(__file__).parent / "shims"


class Peer(ABC):
    """Something that turns a trained model into code."""

    name: str
    module: str
    """The package that generates."""
    package: str
    """Its name for pip."""

    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the peer can run here."""
        if not absent([self.module]):
            return None
        return f"{self.name}: {self.module} not found; install it with: pip install {self.package}"

    @abstractmethod
    def rows(self, problem: Problem, stage: Stage) -> Iterator[Row]:
        """Return one row per model and device."""


@dataclass(frozen=True)
class PeerModel:
    """One model of a peer, as C."""

    setting: str
    export: Export
    inputs: NDArray[Any]
    """The test rows as the C reads them."""
    python_labels: Labels
    """What the peer's own Python model says of the test rows."""
    link_flags: tuple[str, ...] = ()
    """What this computer's linker must be told."""


class CPeer(Peer):
    """A peer that generates C or C++ which any device can build."""

    measured_rows: int = MEASURED_ROWS
    """Rows whose instructions are counted: few where every row takes the same way and the emulator much time."""
    only_device: str | None = None
    """The one device it can run on, if there is only one."""
    why_only: str = ""

    @abstractmethod
    def models(self, problem: Problem) -> Iterator[PeerModel]:
        """Return the models to measure, trained on the problem's training rows."""

    def rows(self, problem: Problem, stage: Stage) -> Iterator[Row]:
        """Return one row per model and device: every label on this computer, then the cost on each device."""
        for model in self.models(problem):
            blank = Row(problem.name, self.name, model.setting)
            runs_on = stage.devices if self.only_device is None else [self.only_device]
            made = dict.fromkeys((HOST, *stage.devices), model.export)
            costs = stage.costs(made.__getitem__, model.inputs, runs_on, self.measured_rows, model.link_flags)
            for device in stage.devices:
                if device in runs_on:
                    yield fill(blank, device, costs[device], problem.test_labels, model.python_labels)
                else:
                    yield blank.on(device, remark=self.why_only)


def c_export(
    problem: Problem,
    sources: Sequence[str],
    generated: Mapping[str, bytes],
    *,
    input_dtype: np.dtype[Any] = FLOAT,
    table_bytes: int = 0,
) -> Export:
    """Return generated files behind the function that every harness calls, ``peer_predict``.

    ``sources`` are files of ``shims/``, here or in the library; ``table_bytes`` is the least the model can take, so
    that a device which is too small is not tried.
    """
    own = {name: (SHIMS / name).read_bytes() for name in sources if (SHIMS / name).is_file()}
    shape = problem.n_features, problem.n_classes
    return peer_export(shape, sources, {**own, **generated}, input_dtype=input_dtype, table_bytes=table_bytes)


PEERS: Registry[Peer] = Registry("peer", __name__)
