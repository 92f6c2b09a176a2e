from __future__ import annotations

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
