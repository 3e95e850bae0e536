"""Scoring data that do not fit in memory: chunk by chunk, lazily for dask, block by block for memory maps."""

from __future__ import annotations

from functools import wraps
from typing import NamedTuple

import numpy as np

from .pipelines import estimators
from .pvalues import p_value, threshold

BLOCK_BYTES = 2**25
"""Of a memory map, how much is read at a time."""


class Scored(NamedTuple):
    """What is said of the points of one chunk.

    Attributes
    ----------
    score : array of shape (q,)
        As ``score_samples``, large where nominal.
    p_value : array of shape (q,)
    alarm : bool array of shape (q,)
        Where ``predict`` is -1.
    """

    score: np.ndarray
    p_value: np.ndarray
    alarm: np.ndarray


def score_chunks(detector, chunks, *, alpha=None):
    """Score, p-value and alarm of every point of a stream of chunks, each scored once: a generator.

    Parameters
    ----------
    detector : RankAD, any system of workbench.baselines, or a pipeline that ends in one, fitted
    chunks : iterable of arrays or data frames of shape (q, n_features)
        Taken one at a time; one without rows gives an answer without rows.
    alpha : float, optional
        False-alarm level of the alarms; that of the fit if not given.

    Yields
    ------
    Scored

    Raises
    ------
    ValueError
        As ``score_samples``; the message says at which row of the stream the chunk begins.

    Examples
    --------
    >>> import workbench
    >>> X = workbench.densities.FIG2.sample(300, random_state=0)
    >>> detector = workbench.RankAD(random_state=0).fit(X)
    >>> alarms = [scored.alarm.sum() for scored in workbench.score_chunks(detector, [X[:100], X[100:]])]
    >>> len(alarms)
    2
    """
    first = 0
    for chunk in chunks:
        score = in_block(detector.score_samples, chunk, f"the chunk that begins with row {first}")
        yield judge(detector, score, alpha)
        first += len(score)


def judge(detector, score, alpha=None):
    """p-values and alarms of points of which only the scores are at hand.

    Parameters
    ----------
    detector : fitted detector, or a pipeline that ends in one
    score : array of shape (q,)
    alpha : float, optional

    Returns
    -------
    Scored
    """
    detector = estimators(detector)[-1]
    calibration, split = detector.calibration_scores_, detector._split
    offset = detector.offset_ if alpha is None else threshold(calibration, alpha, split=split)
    return Scored(score, p_value(score, calibration, split=split), score < offset)


def by_blocks(method):
    """Let a method of points, shape (q, n_features) to shape (q,), take dask collections and memory maps too.

    A dask array or data frame gives a lazy dask array, a block for each block or partition of rows: nothing
    of it is read, but a row of zeros is scored, so that wrong columns or parameters are refused at once and
    not on a worker later. Of a memory map that is larger than `BLOCK_BYTES` as much is read at a time.
    """

    @wraps(method)
    def wrapped(self, X, *args, **kwargs):
        if _is_dask(X):
            return _lazily(method, self, X, args, kwargs)
        if isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > BLOCK_BYTES:
            rows = max(1, BLOCK_BYTES // (8 * X.shape[1]))
            return np.concatenate(
                [
                    in_block(
                        lambda block: method(self, block, *args, **kwargs),
                        np.asarray(X[first : first + rows]),
                        f"the block that begins with row {first}",
                    )
                    for first in range(0, len(X), rows)
                ]
            )
        return method(self, X, *args, **kwargs)

    return wrapped


def in_block(method, block, where, dtype=float):
    """Return what a method gives for some rows, nothing for none; an error says `where` they are."""
    if len(block) == 0:
        return np.empty(0, dtype)
    try:
        return method(block)
    except ValueError as error:
        raise ValueError(f"In {where}: {error}") from error


def _is_dask(X):
    """Whether X is a dask array or data frame; dask itself is not imported to find out."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "ndim")


def _lazily(method, detector, X, args, kwargs):
    from dask import delayed

    zeros = np.zeros((1, *X.shape[1:]))
    is_frame = X.ndim == 2 and hasattr(X, "columns")
    if is_frame:
        import pandas as pd

        zeros = pd.DataFrame(zeros, columns=X.columns)
    meta = method(detector, zeros, *args, **kwargs)[:0]
    # Sent once, and not with every block.
    shared = delayed((method.__name__, detector, args, kwargs, meta.dtype), traverse=False)
    if is_frame:
        meta = pd.Series(meta, name=method.__name__)
        return X.map_partitions(_score_partition, shared, meta=meta).to_dask_array()
    return X.rechunk({1: -1}).map_blocks(_score_block, shared, drop_axis=1, dtype=meta.dtype, meta=meta)


def _score_block(X, shared, block_id=None):
    name, detector, args, kwargs, dtype = shared
    where = "a partition" if block_id is None else f"block {block_id[0]}"
    return in_block(lambda block: getattr(detector, name)(block, *args, **kwargs), X, where, dtype)


def _score_partition(frame, shared):
    import pandas as pd

    return pd.Series(_score_block(frame, shared), index=frame.index, name=shared[0])
