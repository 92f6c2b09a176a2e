"""skl2onnx: an SVC as an ONNX graph, timed in ONNX Runtime in turns with our graph."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import PEERS, Peer
from benchmarks.peers._ours import NAME as OURS
from benchmarks.peers._problem import Problem
from benchmarks.peers._row import Row
from benchmarks.peers._stage import Stage
from sparsegen.devices._toolchain import absent
from sparsegen.targets import TARGETS

DEVICE = "onnxruntime"
ROUNDS = 300
Evaluate = Callable[[NDArray[np.float32]], NDArray[np.int64]]


class Skl2onnx(Peer):
    """skl2onnx's graph of scikit-learn's SVC."""

    name = "skl2onnx"
    module = package = "skl2onnx"

    def missing(self) -> str | None:
        """Return what to install, as a sentence, or ``None`` where the peer can run here."""
        if super().missing() is None and absent([DEVICE]):
            return f"{self.name}: {DEVICE} not found; install it with: pip install {DEVICE}"
        return super().missing()

    def rows(self, problem: Problem, stage: Stage) -> Iterator[Row]:
        """Return the peer's row and ours: bytes of the graph and median microseconds of one row."""
        from skl2onnx import to_onnx

        model = next(model for model, is_chosen in stage.models[problem.name] if is_chosen)
        scaled = problem.scaled[1].astype(np.float32)
        svc = problem.svc
        theirs = to_onnx(svc, scaled[:1], options={"zipmap": False}).SerializeToString()
        export = TARGETS["onnx"].export(model, "model")
        ours = export.files[export.sources[0]]
        raw = problem.test.X.astype(np.float32)
        evaluate = [_session(theirs), _session(ours)]
        labels = [evaluate[0](scaled), evaluate[1](raw)]
        times = _in_turns([(evaluate[0], scaled), (evaluate[1], raw)])
        titles = [
            (self.name, f"SVC, {len(svc.support_vectors_)} vectors"),
            (OURS, f"SLMC ONNX, {model.n_vectors} vectors"),
        ]
        own = [svc.predict(problem.scaled[1]), model.predict(problem.test.X)]
        for i, graph in enumerate((theirs, ours)):
            yield Row(
                problem.name,
                *titles[i],
                DEVICE,
                accuracy=float(np.mean(labels[i] == problem.test_labels)),
                agreement=float(np.mean(labels[i] == own[i])),
                flash=len(graph),
                cost=times[i],
                unit="microseconds",
                is_base=titles[i][0] == OURS,
            )


def _session(graph: bytes) -> Evaluate:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    first = session.get_outputs()[0].name
    return lambda rows: np.asarray(session.run([first], {name: rows})[0], dtype=np.int64)


def _in_turns(pairs: list[tuple[Evaluate, NDArray[np.float32]]]) -> list[float]:
    """Return each one's median microseconds for one row; they take turns, so that what else runs slows down both."""
    times: list[list[float]] = [[] for _ in pairs]
    for i in range(ROUNDS):
        for (evaluate, rows), own in zip(pairs, times, strict=True):
            row = rows[i % len(rows)][np.newaxis]
            start = time.perf_counter()
            evaluate(row)
            own.append((time.perf_counter() - start) * 1e6)
    return [statistics.median(own) for own in times]


PEERS.register("skl2onnx")(Skl2onnx())
