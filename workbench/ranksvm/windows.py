"""Sums over all preference pairs in O(m n log n): sliding windows over sorted scores.

Everything the solvers need of the pairs has the form of a sum over (i, j) in P of

    clip(x_ij, 0, u),    x_ij = T - F_i + F_j,    u = 1 (hinge) or infinity (squared hinge),

or of its parts at one node. Fix i and sort the scores F of the points in lower levels: the pairs with
x_ij <= 0, with 0 < x_ij < u (the *zone*) and with x_ij >= u are then three consecutive runs, found by
two binary searches, and sums over a run are differences of prefix sums. The windows move
monotonically with F_i, so the sums seen from the lower point are windows too, and both sides count
exactly the same pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

COLUMNS = 256
"""Columns of Phi whose window sums are worked out at a time, at most, ..."""

COLUMN_BYTES = 2**28
"""... and memory for these columns; the sums take some four times as much."""

RUN = 16
"""Rows that are added up together."""


@dataclass(frozen=True)
class Stage:
    """The pairs of one level with all lower levels.

    Attributes
    ----------
    higher, lower : int arrays
        Point indices, each sorted by F.
    start, stop : int arrays of shape (len(higher),)
        The zone of ``higher[i]`` is ``lower[start[i]:stop[i]]``; pairs from ``stop[i]`` on are clipped.
    """

    higher: np.ndarray
    lower: np.ndarray
    start: np.ndarray
    stop: np.ndarray


@dataclass(frozen=True)
class PairSums:
    """What the pairs add up to, in units of one pair weight.

    Attributes
    ----------
    total : float
        ``sum_P clip(x_ij, 0, u) + a sum_i clip(x_i, 0, u)``, the anchor's pairs included.
    node : array of shape (n,)
        ``A' clip(x)``: what a point wins as the higher of a pair less what it loses as the lower.
    degree : array of shape (n,)
        Number of zone pairs at each point, the anchor's counted with their multiplicity.
    largest : float
        ``max clip(x_ij, 0, u)`` over all pairs.
    stages : list of Stage
    """

    total: float
    node: np.ndarray
    degree: np.ndarray
    largest: float
    stages: list[Stage]


def pair_sums(F, T, levels, anchor=0.0, upper=1.0):
    """Sum clipped differences over all preference pairs.

    Multipliers make F and T large while the sums stay small, and a sum over a run is a difference of
    long prefix sums: in floating point a small duality gap would drown in their rounding. So F and T
    are rounded once to multiples of the finest unit at which no sum over the sample overflows int64,
    and from there on windows and sums are exact.

    Parameters
    ----------
    F : array of shape (n,)
        Scores.
    T : float
        Shift: ``x_ij = T - F_i + F_j``.
    levels : int array of shape (n,)
        Non-negative.
    anchor : float
        Multiplicity a of the point at infinity, whose score is 0: adds pairs ``x_i = T - F_i``.
    upper : float
        Clipping limit u, 1 or infinity.

    Returns
    -------
    PairSums
    """
    n = len(F)
    F, T, unit = _rounded(F, T)
    one = int(upper / unit) if np.isfinite(upper) else None

    node = np.zeros(n, dtype=np.int64)
    degree = np.zeros(n, dtype=np.int64)
    total = largest = 0.0
    stages = []
    order = F.argsort(kind="stable")
    sorted_levels = levels[order]
    for level in range(1, levels.max() + 1):
        higher, lower = order[sorted_levels == level], order[sorted_levels < level]
        if len(higher) == 0 or len(lower) == 0:
            continue
        F_higher, F_lower = F[higher], F[lower]
        x_at_zero = T - F_higher  # x_ij without its F_j
        start = F_lower.searchsorted(-x_at_zero, side="right")
        stop = np.full(len(higher), len(lower))
        if one is not None:
            stop = F_lower.searchsorted(one - x_at_zero, side="left")
        stage = Stage(higher, lower, start, stop)
        stages.append(stage)

        count = stop - start
        won = count * x_at_zero + _run_sums(F_lower, start, stop)
        first, last = _seen_from_below(stage)
        count_below = last - first
        lost = count_below * (T + F_lower) - _run_sums(F_higher, first, last)
        if one is not None:
            won += one * (len(lower) - stop)
            lost += one * first
        node[higher] += won
        node[lower] -= lost
        degree[higher] += count
        degree[lower] += count_below
        total += won.sum(dtype=float)
        largest = max(largest, x_at_zero[0] + F_lower[-1])
    node = unit * node
    if anchor > 0:
        x = T - F
        won = anchor * unit * np.clip(x, 0, one)
        node += won
        degree = degree + anchor * ((x > 0) & (x < (np.inf if one is None else one)))
        total += won.sum() / unit
        largest = max(largest, x.max())
    return PairSums(unit * total, node, degree, min(unit * float(largest), upper), stages)


def total_slack(F, T, levels, anchor=0.0):
    """``sum_P max(x_ij, 0) + a sum_i max(x_i, 0)``: the total of :func:`pair_sums`, clipped below alone.

    At about 60% of the cost, and just as exact.

    Returns
    -------
    float
    """
    F, T, unit = _rounded(F, T)
    order = F.argsort()
    F, levels = F[order], levels[order]
    total = 0.0
    for level in range(1, levels.max() + 1):
        x_at_zero, F_lower = T - F[levels == level], F[levels < level]
        start = F_lower.searchsorted(-x_at_zero, side="right")
        stop = np.full(len(start), len(F_lower))
        total += ((stop - start) * x_at_zero + _run_sums(F_lower, start, stop)).sum(dtype=float)
    if anchor > 0:
        total += anchor * np.maximum(T - F, 0).sum(dtype=float)
    return float(unit * total)


def _rounded(F, T):
    """F and T as whole multiples of the unit of :func:`pair_sums`, and the unit."""
    magnitude = math.frexp(max(F.max(), -F.min(), abs(T), 1.0))[1]
    unit = 2.0 ** (magnitude + len(F).bit_length() - 60)
    return np.rint(F / unit).astype(np.int64), round(T / unit), unit


class Zone:
    """The graph of the zone pairs on the points that have any, and its Laplacian L_A.

    The anchor's pairs have one end here, so they only add to the diagonal of L_A.

    Parameters
    ----------
    sums : PairSums

    Attributes
    ----------
    active : int array
        The points with a zone pair, in ascending order. All rows below are in this order.
    degree : float array of shape (len(active),)
    """

    def __init__(self, sums):
        self.active = np.flatnonzero(sums.degree)
        self.degree = sums.degree[self.active].astype(float)
        self._runs = list(_active_runs(sums, self.active))

    def product(self, rows):
        """``L_A rows``, for rows of shape (len(active),) or (len(active), q)."""
        out = _scale(rows, self.degree)
        for stage, first, last in self._runs:
            out[stage.higher] -= _run_sums(rows[stage.lower], stage.start, stage.stop)
            out[stage.lower] -= _run_sums(rows[stage.higher], first, last)
        return out

    def congruence(self, rows):
        """``R' L_A R`` for R = `rows` of shape (len(active), r): symmetric positive semi-definite.

        With D the degrees and N the adjacency seen from the higher points,
        ``R' L R = R' (D - N - N') R = (M + M') / 2`` for ``M = R' (D R - 2 N R)``: one matrix product.
        """
        M = np.empty((rows.shape[1], rows.shape[1]), dtype=rows.dtype)
        at_a_time = max(1, min(COLUMNS, COLUMN_BYTES // (rows.itemsize * max(1, len(rows)))))
        for some in gen_batches(rows.shape[1], at_a_time):
            part = np.ascontiguousarray(rows[:, some])
            target = _scale(part, self.degree)
            for stage, _, _ in self._runs:
                target[stage.higher] -= 2 * _run_sums(part[stage.lower], stage.start, stage.stop)
            M[:, some] = rows.T @ target
        M += M.T.copy()
        M /= 2
        return M


def _scale(rows, degree):
    """``D rows`` in the precision of rows."""
    return (degree.astype(rows.dtype) * rows.T).T


def _active_runs(sums, active):
    """Yield the stages renumbered to positions in `active`, and the same runs seen from below.

    Points that have no zone pair there are left out.
    """
    position = np.full(len(sums.degree), -1)
    position[active] = np.arange(len(active))
    for stage in sums.stages:
        busy = stage.stop > stage.start
        if busy.any():
            kept = sums.degree[stage.lower] > 0
            before = np.concatenate([[0], np.cumsum(kept)])
            renumbered = Stage(
                position[stage.higher[busy]],
                position[stage.lower[kept]],
                before[stage.start[busy]],
                before[stage.stop[busy]],
            )
            yield renumbered, *_seen_from_below(renumbered)


def _seen_from_below(stage):
    """Run of higher points whose zone holds lower[j], for every j.

    start and stop ascend, so these are a run; the higher points before it clip at j.
    """
    size = len(stage.lower) + 1
    first = np.bincount(stage.stop, minlength=size).cumsum()[:-1]
    last = np.bincount(stage.start, minlength=size).cumsum()[:-1]
    return first, last


def _run_sums(rows, start, stop):
    """``rows[start_i:stop_i].sum(axis=0)`` for every i."""
    prefix = _prefix_sums(rows)
    out = prefix[stop]
    out -= prefix[start]
    return out


def _prefix_sums(rows):
    """Sum up the first 0, 1, 2, ... rows.

    ``np.cumsum(axis=0)`` walks down the columns, which is slow where rows are wide, and adding row to row is
    a call a row, which is slow where they are narrow. Here rows are added within all runs of RUN at once, and
    then to each run the sum of those before.
    """
    if rows.ndim == 1:
        prefix = np.zeros(len(rows) + 1, dtype=rows.dtype)
        rows.cumsum(out=prefix[1:])
        return prefix
    n, width = rows.shape
    prefix = np.zeros((1 + RUN * -(-n // RUN), width), dtype=rows.dtype)
    prefix[1 : n + 1] = rows
    runs = prefix[1:].reshape(-1, RUN, width)
    for j in range(1, RUN):
        runs[:, j] += runs[:, j - 1]
    for before, run in zip(runs[:-1, -1], runs[1:], strict=True):
        run += before
    return prefix[: n + 1]
