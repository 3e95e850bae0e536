"""From ranks to levels, and from levels to preference pairs (Algorithm 1, step b).

``P = {(i, j): r_q(x_i) > r_q(x_j)}`` follows from the levels alone, so it is written out only where
a reader or a small quadratic program asks for it.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d


def quantize(ranks, m=3, edges=None):
    """Quantise ranks to levels 1..m, m the densest: ``r_q = min(m, 1 + floor(m R_n))``.

    Parameters
    ----------
    ranks : array of shape (n,)
        Values of R_n, in [0, 1].
    m : int, default 3
        Number of uniform levels, at least 1. Not used when `edges` is given.
    edges : sequence of float, optional
        Strictly increasing cut points in (0, 1); a rank equal to an edge belongs to the level above
        it. ``edges=(0.03,)`` is the single-bit quantisation of Fig. 1(a).

    Returns
    -------
    int array of shape (n,)

    Raises
    ------
    ValueError
        If a rank is outside [0, 1], m < 1, or the edges are not increasing in (0, 1).
    """
    ranks = check_array(column_or_1d(ranks), ensure_2d=False, dtype=float, input_name="ranks")
    if ranks.min() < 0 or ranks.max() > 1:
        raise ValueError(
            f"ranks must lie in [0, 1] but run from {ranks.min():g} to {ranks.max():g}. "
            "Pass the output of workbench.neighbors.ranks."
        )
    if edges is not None:
        return 1 + np.searchsorted(check_edges(edges), ranks, side="right")
    m = check_m(m)
    # A rank j/n on the border of a level may come out a few units in the last place below it.
    return np.minimum(m, 1 + np.floor(m * ranks * (1 + 4 * np.finfo(float).eps)).astype(int))


def check_edges(edges):
    """Return `edges` as a float array, or raise a ValueError that says what is wrong."""
    try:
        array = np.atleast_1d(np.asarray(edges, dtype=float))
    except (TypeError, ValueError, OverflowError):
        array = np.array([np.nan])
    valid = array.ndim == 1 and array.size and np.all(np.isfinite(array))
    if not valid or array[0] <= 0 or array[-1] >= 1 or np.any(np.diff(array) <= 0):
        raise ValueError(
            f"edges must be strictly increasing numbers inside (0, 1), got {edges!r}. "
            "Sort them and drop repeated values; edges=(0.03,) gives two levels cut at 3%."
        )
    return array


def check_m(m):
    """Return the number of levels `m` as an int, or raise a ValueError that says what is wrong."""
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or m < 1:
        raise ValueError(f"m must be a whole number of levels, at least 1, got {m!r}. The paper uses m=3.")
    return int(m)


def n_pairs(levels):
    """Return the number of preference pairs |P| that the levels imply."""
    _, counts = np.unique(levels, return_counts=True)
    counts = [int(count) for count in counts]
    return (sum(counts) ** 2 - sum(count**2 for count in counts)) // 2


def pairs(levels):
    """Write out P. O(n^2) memory: for small quadratic programs and for checking by hand.

    Returns
    -------
    higher, lower : int arrays of shape (|P|,)
        ``levels[higher] > levels[lower]``, in row-major order.
    """
    levels = np.asarray(levels)
    return np.nonzero(levels[:, None] > levels[None, :])


def disagreement(scores, levels):
    """Share of preference pairs that the scores order wrongly, ties counted half (Sec. 6.1 (3)).

    ``(#{(i, j) in P: f(x_i) < f(x_j)} + #{(i, j) in P: f(x_i) = f(x_j)} / 2) / |P|``, in
    O(m n log n) without writing out P.

    Parameters
    ----------
    scores : array of shape (n,)
        f, large where nominal.
    levels : int array of shape (n,)

    Returns
    -------
    float
        0 for a perfect order, 1/2 for constant scores, 1 for a reversed order.

    Raises
    ------
    ValueError
        If the levels imply no pair at all.
    """
    scores = check_array(column_or_1d(scores), ensure_2d=False, dtype=float, input_name="scores")
    levels = column_or_1d(levels)
    check_consistent_length(scores, levels)
    total = n_pairs(levels)
    if total == 0:
        raise ValueError(
            f"All {len(levels)} points are in one level, so there is no pair to agree or disagree on. "
            "Use more points, more levels or other edges."
        )
    wrong = 0.0
    for level in np.unique(levels)[1:]:
        lower = np.sort(scores[levels < level])
        higher = scores[levels == level]
        below = np.searchsorted(lower, higher, side="left")
        below_or_tied = np.searchsorted(lower, higher, side="right")
        wrong += np.sum(2 * len(lower) - below - below_or_tied) / 2
    return float(wrong / total)
