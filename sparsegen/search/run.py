"""The loop of a search: propose, look at one fold quickly, stop what is clearly beaten, train the rest on every fold.

Optuna prunes no studies of several objectives, so what to stop is decided here: a candidate that others, which cost no
more in flash nor in time, beat in the same first look by more than chance explains.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from sparsegen import progress
from sparsegen.arrays import Array
from sparsegen.budget.cost_model import Predicted
from sparsegen.errors import FitError
from sparsegen.search.candidate import Candidate
from sparsegen.search.costs import Costs
from sparsegen.search.engines import Engine
from sparsegen.search.evaluate import Outcome, Task
from sparsegen.search.problem import Problem
from sparsegen.search.proposals import Proposal, propose, sketch_of
from sparsegen.search.record import FAILED, FINISHED, STOPPED, Record
from sparsegen.search.space import Space
from sparsegen.search.study import Study

MOST_MISFITS = 60
"""Proposals that do not fit before a search without any that fits gives up."""
MOST_BEATEN_BY = 2
"""How many others must clearly beat a candidate before it is stopped: one may have been lucky."""
POLL_SECONDS = 0.5
"""How often an ended time is noticed while workers train."""
RESERVED_SHARE, MOST_RESERVED = 1 / 4, 60.0
"""Of the time, and seconds, that are kept for the last training and its measurement."""


@dataclass(frozen=True)
class Limits:
    """When a search ends: counted over all runs of a study, so that the same command may be run again."""

    seconds: float | None = None
    trials: int | None = None

    @property
    def reserved(self) -> float:
        """Seconds at the end that belong to the winner."""
        return 0.0 if self.seconds is None else min(MOST_RESERVED, RESERVED_SHARE * self.seconds)


@dataclass(eq=False)
class _Flight:
    """A candidate under way."""

    proposal: Proposal
    candidate: Candidate
    cost: Predicted
    tallies: list[Array] = field(default_factory=list)
    waiting: int = 0
    """Folds that are not done."""
    quick_score: float | None = None
    seconds: float = 0.0
    is_over: bool = False


@dataclass(frozen=True)
class Ended:
    """How a loop ended."""

    records: Sequence[Record]
    why: str


class Search:
    """One run of a search."""

    def __init__(
        self,
        problem: Problem,
        space: Space,
        costs: Costs,
        study: Study,
        engine: Engine,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        began: float | None = None,
    ) -> None:
        self._problem, self._space, self._costs = problem, space, costs
        self._study, self._engine, self._limits, self._clock = study, engine, limits, clock
        self._run = uuid.uuid4().hex
        self._futures: dict[Future[Outcome], tuple[_Flight, Task]] = {}
        self._ready: deque[tuple[_Flight, Task]] = deque()
        self._flights: list[_Flight] = []
        self._began = clock() if began is None else began
        self._records = study.records()
        costs.ask_first(sketch_of(space, record) for record in self._records)
        self._known_before = len(self._records)
        self._spent = lasted(self._records)

    def go(self) -> Ended:
        """Search until a limit is reached, or Ctrl-C; return all that is known."""
        self._study.own(self._run)
        try:
            with progress.task("searching", self._steps) as advance:
                why = self._loop(advance)
        except KeyboardInterrupt:
            why = "stopped by hand"
        return Ended(self._study.records(), why)

    def _loop(self, advance: progress.Advance) -> str:
        told = self._steps_done()
        while True:
            self._fill()
            if not self._futures:
                break
            remaining = self._remaining()
            if remaining <= 0.0:
                break
            done, _ = wait(self._futures, timeout=min(remaining, POLL_SECONDS), return_when=FIRST_COMPLETED)
            for future in [future for future in self._futures if future in done]:  # in the order of their start
                flight, task = self._futures.pop(future)
                self._take(flight, task, future.result())
            for _ in range(min(self._steps_done(), self._steps) - told):
                advance(self._remark())
                told += 1
        return "time is up" if self._remaining() <= 0.0 or not self._counted_out() else "all trials are done"

    # ---- Starting ----------------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Give every free worker a task: folds of what is under way first."""
        while len(self._futures) < self._engine.slots:
            if not self._ready and not self._start():
                return
            flight, task = self._ready.popleft()
            if not flight.is_over:
                self._futures[self._engine.submit(task)] = flight, task
        if not self._ready and self._engine.slots > 1:
            self._start()  # what it costs is found out while the workers train

    def _start(self) -> bool:
        """Take one candidate more under way; return whether there is one."""
        while self._may_start():
            proposal = self._propose()
            if proposal.candidate is None:
                self._add(Record(proposal.draws, proposal.distributions, None, STOPPED, reason="nothing of it fits"))
                if len(self._records) >= MOST_MISFITS and all(one.candidate is None for one in self._records):
                    raise FitError(
                        f"no model fits the budget{self._costs.misfit}; allow more, or use fewer features or classes"
                    )
                continue
            flight = _Flight(proposal, proposal.candidate, self._costs.of(proposal.candidate))
            if (twin := self._twin(proposal.candidate)) is not None:  # other draws may mean the same candidate
                flight.quick_score = twin.quick_score
                self._add(_as_record(flight, twin.state, twin.reason, twin.score))
                continue
            self._flights.append(flight)
            self._ready.append((flight, Task(proposal.candidate, 0, is_quick=True)))
            return True
        return False

    def _twin(self, candidate: Candidate) -> Record | None:
        same = (record for record in self._records if record.candidate == candidate and record.state != FAILED)
        return next(same, None)

    def _propose(self) -> Proposal:
        salted = self._study.owner != self._run  # another run has begun since; try other things than it does
        seeds = [self._problem.seed, *([uuid.UUID(self._run).int >> 96] if salted else [])]
        in_flight = [flight.proposal for flight in self._flights]
        metric = self._problem.metric
        return propose(self._space, self._costs, self._records, in_flight, metric, seeds, from_starts=not salted)

    def _may_start(self) -> bool:
        if self._counted_out(len(self._flights)):
            return False
        if self._limits.seconds is None:
            return True
        # With all that goes with it: proposing it, compiling its like for the cost model, waiting for a worker.
        ended = len(self._records) - self._known_before
        expected = 0.0 if ended == 0 else (self._clock() - self._began) * self._engine.slots / ended
        return self._remaining() > expected

    def _counted_out(self, more: int = 0) -> bool:
        return self._limits.trials is not None and len(self._records) + more >= self._limits.trials

    def _remaining(self) -> float:
        """Return the seconds before the winner's begin."""
        if self._limits.seconds is None:
            return float("inf")
        return self._limits.seconds - self._limits.reserved - self._spent - (self._clock() - self._began)

    # ---- Finishing ---------------------------------------------------------------------------------------------------

    def _take(self, flight: _Flight, task: Task, outcome: Outcome) -> None:
        """Note how one fold went, and go on with the candidate or end it."""
        if flight.is_over:
            return
        flight.seconds += outcome.seconds
        metric = self._problem.metric
        if outcome.tally is None:
            self._end(flight, FAILED, outcome.failure)
        elif task.is_quick:
            flight.quick_score = metric.score(outcome.tally)
            if (reason := self._beaten(flight, metric.rows(outcome.tally))) is not None:
                self._end(flight, STOPPED, reason)
                return
            flight.waiting = len(self._problem.folds)
            self._ready.extend((flight, Task(flight.candidate, fold, False)) for fold in range(flight.waiting))
        else:
            flight.tallies.append(outcome.tally)
            flight.waiting -= 1
            if flight.waiting == 0:
                self._end(flight, FINISHED, None, metric.score(sum(flight.tallies[1:], flight.tallies[0])))

    def _beaten(self, flight: _Flight, rows: float) -> str | None:
        """Return why a candidate is not worth more work, or ``None`` where it may be."""
        score = flight.quick_score
        if score is None:
            return None
        cost = _as_record(flight, FINISHED)
        better = [
            record.number
            for record in self._records
            if record.quick_score is not None
            and record.flash <= cost.flash
            and record.time <= cost.time
            and self._problem.metric.surely_better(record.quick_score, score, rows)
        ]
        if len(better) < MOST_BEATEN_BY:
            return None
        named = " and ".join(map(str, better[:MOST_BEATEN_BY]))
        return f"candidates {named} cost no more and were clearly better in the first look"

    def _end(self, flight: _Flight, state: str, reason: str | None, score: float | None = None) -> None:
        flight.is_over = True
        self._flights.remove(flight)
        self._add(_as_record(flight, state, reason, score))

    def _add(self, record: Record) -> None:
        whole = replace(record, run=self._run, elapsed=self._clock() - self._began)
        self._study.add(whole)
        self._records = self._study.records()

    # ---- Progress ----------------------------------------------------------------------------------------------------

    @property
    def _steps(self) -> int:
        if self._limits.trials is not None:
            return self._limits.trials
        return max(1, int((self._limits.seconds or 0.0) - self._limits.reserved))

    def _steps_done(self) -> int:
        if self._limits.trials is not None:
            return len(self._records)
        return int(self._spent + self._clock() - self._began)

    def _remark(self) -> str:
        scores = [record.score for record in self._records if record.score is not None]
        if not scores:
            return ""
        best = max(scores) if self._problem.metric.larger_is_better else min(scores)
        return f"{len(self._records)} candidates, best {self._problem.metric.name} {best:.4f}"


def _as_record(flight: _Flight, state: str, reason: str | None = None, score: float | None = None) -> Record:
    cost = flight.cost
    return Record(
        flight.proposal.draws,
        flight.proposal.distributions,
        flight.candidate,
        state,
        flash=cost.flash,
        ram=cost.ram,
        instructions=cost.instructions,
        milliseconds=cost.milliseconds,
        score=score,
        quick_score=flight.quick_score,
        reason=reason,
        seconds=flight.seconds,
    )


def lasted(records: Sequence[Record]) -> float:
    """Return the seconds that all runs of a search took, each up to its last candidate."""
    by_run: dict[str, float] = {}
    for record in records:
        by_run[record.run] = max(by_run.get(record.run, 0.0), record.elapsed)
    return sum(by_run.values())
