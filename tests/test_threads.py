from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparsegen.threads import one_thread


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads_allowed():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS cannot use two threads")
        yield


def test_the_limit_holds_until_the_last_block_ends() -> None:
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def first() -> None:
        with one_thread():
            first_is_in.set()
            second_is_in.wait(60)
        first_is_out.set()

    def second() -> None:
        first_is_in.wait(60)
        with one_thread():
            second_is_in.set()
            first_is_out.wait(60)
            seen.append(blas_threads())

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [{1}]
    assert blas_threads() == {2}


def test_blocks_nest_and_end_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError), one_thread(), one_thread():
        assert blas_threads() == {1}
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_a_library_that_is_loaded_later_is_held_too() -> None:
    """In a process of its own: here all of them are loaded."""
    program = """
from sparsegen.threads import one_thread
from threadpoolctl import threadpool_info
with one_thread():
    pass
before = len(threadpool_info())
import numpy, scipy.linalg, sklearn.svm
with one_thread():
    print(len(threadpool_info()) > before, {library["num_threads"] for library in threadpool_info()})
"""
    two = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    made = subprocess.run([sys.executable, "-c", program], env=two, capture_output=True, text=True, check=True)
    assert made.stdout == "True {1}\n"


def test_libraries_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_for() -> None:
        raise AssertionError("looked for again")

    with one_thread():
        pass
    monkeypatch.setattr("sparsegen.threads.ThreadpoolController", looked_for)
    with one_thread():
        assert blas_threads() == {1}
