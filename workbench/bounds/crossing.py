"""The exact probability that uniform order statistics exceed given limits."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

NEGLIGIBLE = 1e-60


def exceedance_probability(limits):
    """``P{U_(j) > limits[j-1] for some j}`` for the order statistics of n independent uniforms.

    Exact up to rounding, by a recursion over positive terms only: small probabilities keep their relative
    accuracy, down to about 1e-30.

    Parameters
    ----------
    limits : array of shape (n,)
        Upper limits for U_(1) <= ... <= U_(n). One that exceeds a later limit is no constraint beyond it.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `limits` is empty, not one-dimensional, or holds NaN.

    Notes
    -----
    ``U_(j) <= b_j`` for all j says that the empirical count ``N(t) = #{i: U_i <= t}`` has reached j at time
    b_j, for all j. N is a Poisson process of rate n conditioned on ``N(1) = n``. Walk through
    ``b_1 <= b_2 <= ...`` with f the distribution of the Poisson count among paths that have failed nowhere:
    convolve f with the Poisson law of the increment, and take out the one state that fails,
    ``N(b_j) = j - 1`` (at b_{j-1} the count was j - 1 at least). With ``q(k; r)`` the Poisson probability
    of k at mean r, such a path goes on to ``N(1) = n`` with probability ``q(n - j + 1; n (1 - b_j))``, so

        P{exceed} = sum_j f_j(j - 1) q(n - j + 1; n (1 - b_j)) / q(n; n).

    States of mass below 1e-60 are dropped at the top, which leaves O(sqrt(n)) of them.

    References
    ----------
    A. Moscovich, B. Nadler. Fast calculation of boundary crossing probabilities for Poisson processes.
    Statistics & Probability Letters 123, 2017. (There the Poisson view; here one-sided.)
    """
    limits = np.asarray(limits, dtype=float)
    if limits.ndim != 1 or not limits.size or np.isnan(limits).any():
        raise ValueError(f"limits must be n numbers without NaN, got {limits!r}.")
    n = len(limits)
    b = np.minimum.accumulate(limits[::-1])[::-1]
    if b[0] < 0:
        return 1.0
    b = b[b < 1]  # N(1) = n: from there on nothing fails
    means = n * np.diff(b, prepend=0.0)
    counts = n - np.arange(len(b))
    rest = counts * (math.log(n) + np.log1p(-b)) - n * (1 - b) - gammaln(counts + 1)
    weights = np.exp(rest - n * math.log(n) + n + gammaln(n + 1))

    f = np.ones(1)
    total = 0.0
    for mean, weight in zip(means, weights, strict=True):
        if mean > 0:
            f = np.convolve(f, _poisson(mean))
        total += f[0] * weight
        f = f[1:]
        alive = np.flatnonzero(f > NEGLIGIBLE)
        if not alive.size:
            break
        f = f[: alive[-1] + 1]
    return min(total, 1.0)


def _poisson(mean):
    """Poisson probabilities of 0, 1, ... up to where they are negligible."""
    k = np.arange(int(mean + 17 * math.sqrt(mean)) + 60)
    return np.exp(k * math.log(mean) - mean - gammaln(k + 1))
