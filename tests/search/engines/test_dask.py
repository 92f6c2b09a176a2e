"""The Dask engine on a cluster of two separate processes, of which one is killed half way."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sparsegen import data
from sparsegen.errors import OptionError, ToolError
from sparsegen.search.candidate import Candidate
from sparsegen.search.engines import dask as engine_module
from sparsegen.search.engines import start
from sparsegen.search.engines.dask import DaskEngine
from sparsegen.search.evaluate import Outcome, Task, evaluate
from sparsegen.search.problem import Problem

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 3))
    return Problem.of(data.from_arrays(X, (X[:, 0] * X[:, 1] > 0).astype(int)), "accuracy", 0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    ) as running:
        yield running


@pytest.fixture
def engine(cluster: Any, problem: Problem) -> Iterator[DaskEngine]:
    made = start(problem, 1, cluster.scheduler_address.replace("tcp://", "dask://"))
    assert isinstance(made, DaskEngine)
    yield made
    made.close()


def tasks(count: int) -> list[Task]:
    kinds = [(vectors, dtype) for vectors in (2, 4, 6) for dtype in ("f32", "q7")]
    return [
        Task(Candidate("slmc", "rbf", dtype, "f32", "standard", vectors, 1.0, 1.0), fold, is_quick=True)
        for vectors, dtype in kinds
        for fold in range(2)
    ][:count]


def same(found: Outcome, expected: Outcome) -> bool:
    return found.failure == expected.failure and np.array_equal(found.tally, expected.tally)  # type: ignore[arg-type]


def test_a_killed_worker_costs_nothing_but_time(engine: DaskEngine, problem: Problem) -> None:
    assert engine.slots == 2
    wanted = tasks(8)
    futures = [engine.submit(task) for task in wanted]
    futures[0].result(60)
    victim = min(engine._client.run(os.getpid).values())
    os.kill(victim, signal.SIGKILL)
    for task, future in zip(wanted, futures, strict=True):
        assert same(future.result(60), evaluate(problem, task))
    assert victim not in engine._client.run(os.getpid).values()


def test_rows_that_were_lost_are_sent_again(engine: DaskEngine, problem: Problem) -> None:
    engine._client.cancel(engine._rows)
    (task,) = tasks(1)
    assert same(engine.submit(task).result(60), evaluate(problem, task))


def test_tasks_whose_rows_vanish_under_them_are_run_again(
    engine: DaskEngine, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task,) = tasks(1)
    submitted: list[int] = []
    honest = engine._client.submit

    def submit(*given: Any, **options: Any) -> Any:
        submitted.append(1)
        future = honest(*given, **options)
        if len(submitted) == 1:
            engine._client.cancel([engine._rows, future])
        return future

    monkeypatch.setattr(engine._client, "submit", submit)
    assert same(engine.submit(task).result(60), evaluate(problem, task))
    assert len(submitted) == 2


def test_rows_that_vanish_every_time_are_an_error(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = engine._client.submit

    def submit(*given: Any, **options: Any) -> Any:
        future = honest(*given, **options)
        engine._client.cancel(future)
        return future

    monkeypatch.setattr(engine._client, "submit", submit)
    with pytest.raises(ToolError, match=r"the Dask cluster at .* was lost"):
        engine.submit(tasks(1)[0]).result(60)


def test_an_engine_that_was_closed_runs_nothing(engine: DaskEngine) -> None:
    engine.close()
    assert engine.submit(tasks(1)[0]).cancelled()


def test_another_version_on_a_worker_is_an_error(
    cluster: Any, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "__version__", "0.0.1")
    with pytest.raises(ToolError, match=r"has sparsegen .*, this is 0\.0\.1; install the same version everywhere"):
        start(problem, 1, cluster.scheduler_address)


def no_sparsegen() -> Callable[[], str]:
    def version() -> str:
        raise ModuleNotFoundError("No module named 'sparsegen'", name="sparsegen")

    return version


def no_memory() -> Callable[[], str]:
    def version() -> str:
        raise MemoryError("out of memory")

    return version


@pytest.mark.parametrize(
    ("probe", "sentence"),
    [(no_sparsegen, "has no sparsegen; install sparsegen"), (no_memory, "cannot run sparsegen .MemoryError")],
)
def test_a_worker_that_cannot_run_sparsegen_is_an_error(
    probe: Any, sentence: str, cluster: Any, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "_probe", probe)
    with pytest.raises(ToolError, match=f"worker tcp://.* {sentence}"):
        start(problem, 1, cluster.scheduler_address)


def test_an_address_without_a_scheduler_is_an_error(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    monkeypatch.setattr(engine_module, "CONNECT_SECONDS", 0.2)
    with pytest.raises(ToolError, match=r"there is no Dask scheduler at 127\.0\.0\.1:9 "):
        start(problem, 1, "dask://127.0.0.1:9")


@pytest.mark.parametrize(
    "address",
    [
        *("", "localhost", "localhost:port", "localhost:0", "localhost:65536", "[x"),
        *("localhost:8786/s3cret", "ann:s3cret@localhost:1", "tcp://h:1"),
    ],
)
def test_an_address_that_is_none_is_an_error(address: str, problem: Problem) -> None:
    with pytest.raises(OptionError, match="is its host and its port") as told:
        start(problem, 1, f"dask://{address}")
    assert "s3cret" not in str(told.value)


def test_a_cluster_without_workers_is_an_error(problem: Problem) -> None:
    with (
        distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0") as empty,
        pytest.raises(ToolError, match="has no workers; start one: dask worker tcp://"),
    ):
        start(problem, 1, empty.scheduler_address)
