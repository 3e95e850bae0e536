"""How many threads the linear algebra may use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_info, threadpool_limits

_lock = Lock()
_inside = 0
_limits = None


@contextmanager
def one_blas_thread():
    """Context in which BLAS uses one thread.

    The solvers switch many times a second between numpy's BLAS and scipy's, each with threads of its own
    that spin while the other works: two threads each on two cores took twice as long as one, and up to a
    hundred times as long with another process about.

    The limit belongs to the process. With fits in several Python threads the first to enter sets it and
    the last to leave restores what was there before.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = threadpool_limits(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()


def spread(work, jobs):
    """Call ``work`` on each of the jobs, on as many threads as BLAS may use, each with a BLAS of one thread.

    Numpy lets go of the interpreter in products and exponentials. Threads of our own keep all cores busy in
    both; BLAS's own would do so in products alone, and would be in the way here. Starting and ending this
    takes some 6 ms.

    Parameters
    ----------
    work : callable
    jobs : list
    """
    workers = min(len(jobs), _allowed())
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, jobs):  # so that an exception comes through
            pass


def _allowed():
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
