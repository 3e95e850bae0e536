"""How many threads the linear algebra may use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0
_limits = None
_before = 1


@cache
def _blas():
    """Return the BLAS libraries in memory, looked for once: that takes a hundred times as long as a limit."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread():
    """Context in which BLAS uses one thread.

    The solvers switch many times a second between numpy's BLAS and scipy's, each with threads of its own
    that spin while the other works: two threads each on two cores took twice as long as one, and up to a
    hundred times as long with another process about.

    The limit belongs to the process. With fits in several Python threads the first to enter sets it and
    the last to leave restores what was there before.
    """
    global _inside, _limits, _before
    with _lock:
        if _inside == 0:
            _before = _most()
            _limits = _blas().limit(limits=1)
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

    Numpy lets go of the interpreter in products and exponentials alike. Threads of our own keep the cores
    busy in both, BLAS's own in products alone. Inside :func:`one_blas_thread` it is as many as before.

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
    with _lock:
        return _before if _inside else _most()


def _most():
    return max((pool["num_threads"] for pool in _blas().info()), default=1)
