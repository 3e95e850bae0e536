"""How many threads the linear algebra may use."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

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
