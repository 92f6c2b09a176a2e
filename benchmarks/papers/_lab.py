"""A memory for long tables: work is mapped over cases, and a case once finished is never computed again.

A case is a JSON object; a work function takes the data folder and the case's entries and returns one. Finished
cases are lines of ``<store>/<module>.jsonl``, written one by one, so that a killed run continues where it stopped.

Note: the store does not notice changes to the code; delete it after one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import _ida, _report
from sparsegen.errors import DataError

Case = dict[str, Any]
Outcome = dict[str, Any]
Work = Callable[..., Outcome]


class UnfinishedError(Exception):
    """Cases are missing from the store, and nothing is to be computed."""


@dataclass(frozen=True)
class Lab:
    """Where the data are, how many splits to average over, how many processes work, where finished cases are kept."""

    data: Path | None
    store: Path
    splits: int = 10
    jobs: int = 1
    computes: bool = True
    """Whether a case that is not in the store is computed; otherwise it is an error."""

    def positions(self, name: str) -> range:
        """Return the positions of the IDA splits to use: the repository's own first, as far as they go."""
        return range(min(self.splits, _ida.n_splits(self.data, name)))

    def map(self, work: Work, cases: Sequence[Case], title: str) -> list[Outcome]:
        """Return ``work(data, **case)`` for every case, computing only what is not in the store."""
        path = self.store / f"{work.__module__.rpartition('.')[2]}.jsonl"
        known = dict(_stored(path, repair=self.computes))
        keys = [_key(work, case) for case in cases]
        missing = {key: case for key, case in zip(keys, cases, strict=True) if key not in known}
        if missing and not self.computes:
            raise UnfinishedError(title)
        if missing:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                for key, outcome in _report.track(self._compute(work, missing), title, len(missing)):
                    file.write(json.dumps({"case": key, "outcome": outcome}) + "\n")
                    file.flush()
                    known[key] = outcome
        return [known[key] for key in keys]

    def _compute(self, work: Work, cases: dict[str, Case]) -> Iterator[tuple[str, Outcome]]:
        if self.jobs == 1:
            for key, case in cases.items():
                yield key, _on_one_thread(work, self.data, case)
            return
        with ProcessPoolExecutor(self.jobs) as pool:
            waiting = {pool.submit(_on_one_thread, work, self.data, case): key for key, case in cases.items()}
            try:
                for future in as_completed(waiting):
                    yield waiting[future], future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _on_one_thread(work: Work, folder: Path | None, case: Case) -> Outcome:
    with threadpool_limits(1):  # processes share the cores
        return work(folder, **case)


def _key(work: Work, case: Case) -> str:
    return f"{work.__name__} {json.dumps(case, sort_keys=True)}"


def _stored(path: Path, repair: bool) -> Iterator[tuple[str, Outcome]]:
    """Yield the finished cases of a file. The last line of a killed run may be half a line; ``repair`` cuts it off."""
    if not path.is_file():
        return
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text and repair:
        os.truncate(path, len(whole.encode()))
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            entry = json.loads(line)
            yield entry["case"], entry["outcome"]
        except (ValueError, KeyError, TypeError):
            raise DataError(f"line {number} of {path} is not a finished case; delete the file to start over") from None
