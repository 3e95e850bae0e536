"""Bounds for scores that g was trained on: covering numbers (Theorem 3), Rademacher averages, compression.

H is the reproducing kernel Hilbert space of a kernel with k(x, x) = 1, fixed before the sample is seen
(kernel and bandwidth too; for one of S fixed bandwidths divide delta by S). Only the direction of g
matters, since ``g < g^(m)`` does not change when g is multiplied by a constant: margins are ``2 rho |g|``,
with covering numbers of the *unit* ball at radius rho. The bounds hold for every g in H at once, however it
was learned from the n points. Radii rho must be fixed beforehand; a grid of them costs the logarithm of its
length.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from .checks import check_count, check_grid, check_order, check_positive, check_probability, check_unit_scores
from .order_statistics import clopper_pearson, upper_limit


def theorem3_printed(m, n, log_covering, delta):
    """Theorem 3 of the paper as printed, false for all m at once: ``(m-1)/n + (2/n) (k + log2(n/delta))``.

    Claimed for ``P{g < g^(m) - 2 gamma}``, all m and all g in a class F at once, with probability 1 -
    delta, where ``k = ceil(log2 N(gamma, F, 2n))``. It is true for m = 1. Kept to be compared with.

    Parameters
    ----------
    m : int or int array
        1-based order statistic.
    n : int
    log_covering : float or array
        ``ln N``, in nats. N is the covering number on 2n points; one of a set that holds them is no smaller.
    delta : float

    Returns
    -------
    float or array of the shape that m and log_covering broadcast to; may exceed 1

    Raises
    ------
    ValueError
        If m is not in 1..n, delta not in (0, 1), or log_covering negative or not finite.

    Notes
    -----
    For m = 1 it is Theorem 12 of B. Schoelkopf et al. (Neural Computation 13, 2001), logarithms to base 2.
    For m > 1 take F = {f} and f(X) uniform: N = 1, and ``P{f < f^(m)}`` is the m-th of n sorted uniforms,
    which exceeds m/n by the order of sqrt(m (n - m) / n^3), far more than log(n)/n. At n = 10^4, m = n/2
    and delta = 0.05 the printed bound fails with probability 0.24. The proof drops m - 1 after its
    symmetrisation step and then uses a swapping bound that needs an empty region (m = 1).
    """
    m, n = check_order(m, n)
    delta = check_probability("delta", delta)
    bits = check_positive("log_covering", log_covering, zero=True) / np.log(2)
    k = np.ceil(np.round(bits, 9))  # ln 8 / ln 2 must not become 4
    return ((m - 1) / n + 2 / n * (k + np.log2(n / delta)))[()]


def theorem3_corrected(m, n, log_covering, delta, *, radii=1, outside=None):
    """Theorem 3, corrected: upper limit for ``P{g < g^(m) - 2 rho |g|}``, all g in H and all m at once.

    ``U(m, L)``, the (1 - exp(-L))-quantile of Beta(m, n + 1 - m), with

        L = ln N(rho) + ln(n/delta) + ln(radii).

    Assumes independent points in a fixed set D with P(D) = 1; N(rho) is the covering number of the unit
    ball of H in the sup norm on D. With probability 1 - delta it holds for every radius of the grid too.

    Parameters
    ----------
    m : int or int array
        1-based order statistic.
    n : int
    log_covering : float or array
        ``ln N(rho)``, in nats.
    delta : float
    radii : int, default 1
        Length of the grid of radii that rho was chosen from.
    outside : int, optional
        Number of the n points that fell outside D, where P(D) = 1 is not known. Then half of delta goes to
        ``P(outside D)``, bounded by Clopper and Pearson's limit, and the rest is counted inside D.

    Returns
    -------
    float or array of the shape that m and log_covering broadcast to

    Raises
    ------
    ValueError
        If m is not in 1..n, delta not in (0, 1), or log_covering negative or not finite.

    Notes
    -----
    Scale g to |g| = 1 and take h in the cover with ``sup_D |g - h| <= rho``. Order statistics move by at
    most rho, so ``g(x) < g^(m) - 2 rho`` implies ``h(x) <= g(x) + rho < g^(m) - rho <= h^(m)``. For one h
    and one m, ``P{h < h^(m)}`` is at most Beta(m, n + 1 - m) in law; add up over N functions and n values
    of m.
    """
    m, n = check_order(m, n)
    delta = check_probability("delta", delta)
    L = check_positive("log_covering", log_covering, zero=True) + np.log(check_count("radii", radii))
    if outside is None:
        return upper_limit(m, n, L + np.log(n / delta))[()]
    inside = n - check_count("outside", outside, least=0)
    if inside < 0:
        raise ValueError(f"outside={outside} points are more than the n={n} there are.")
    if inside == 0:
        return np.ones(np.broadcast_shapes(m.shape, L.shape))[()]
    limit = upper_limit(np.minimum(m, inside), inside, L + np.log(2 * n / delta))
    beyond = clopper_pearson(outside + 1, n, delta / 2)
    return np.where(m <= inside, np.minimum(limit + beyond, 1), 1.0)[()]


def theorem3_rule(scores, m, norm, rho, log_covering, delta):
    """Upper limit for the rule actually used, ``P{g < g^(m)}`` with no margin, all g in H and all m at once.

    ``min_j U(m_j, ln N(rho_j) + ln(n/delta) + ln J)`` with ``m_j = 1 + #{i: g(x_i) < g^(m) + 2 rho_j
    |g|}``, over a grid of J radii fixed beforehand; 1 where m_j = n + 1. Assumes what
    :func:`theorem3_corrected` does.

    Parameters
    ----------
    scores : array of shape (n,)
        ``g(x_i)`` of the training points, in any order.
    m : int or int array
        1-based order statistic.
    norm : float
        ``|g| = sqrt(beta' K beta)``, or anything larger.
    rho, log_covering : float or array of shape (J,)
        The grid and ``ln N(rho_j)`` in nats.
    delta : float

    Returns
    -------
    float or array of the shape of m

    Raises
    ------
    ValueError
        If scores are not finite or larger than the norm allows, rho is not positive, or rho and
        log_covering differ in length; and as in :func:`theorem3_corrected`.

    Notes
    -----
    ``g^(m_j) >= g^(m) + 2 rho_j |g|`` by the choice of m_j, so ``{g < g^(m)}`` lies in
    ``{g < g^(m_j) - 2 rho_j |g|}``, and the corrected theorem holds for all m and j at once.
    """
    g = check_unit_scores(scores, norm)
    m, n = check_order(m, len(g))
    delta = check_probability("delta", delta)
    rho, log_covering = check_grid(rho, log_covering)
    m_j = 1 + np.searchsorted(g, g[m - 1][..., None] + 2 * rho, side="left")
    limit = upper_limit(np.minimum(m_j, n), n, log_covering + np.log(n * len(rho) / delta))
    return np.where(m_j <= n, limit, 1.0).min(axis=-1)[()]


def rademacher(m, n, rho, delta):
    """Upper limit for ``P{g < g^(m) - 2 rho |g|}`` from Rademacher averages, in any dimension.

    ``(m-1)/n + 2 / (rho sqrt(n)) + sqrt(ln(1/delta) / (2n))``.

    Assumes independent points and rho fixed beforehand. All g in H and all m at once. May
    exceed 1, where it says nothing.

    Parameters
    ----------
    m : int or int array
    n : int
    rho : float or array
        Margin in units of 2 |g|; positive.
    delta : float

    Returns
    -------
    float or array of the shape that m and rho broadcast to

    Notes
    -----
    With |g| = 1, put a ramp of slope 1 / (2 rho) between the region's indicator and that of ``g < s``,
    s = g^(m) in [-1, 1]. The Rademacher averages of the unit ball and of the thresholds s are at most
    1 / sqrt(n) each; contraction by the slope, symmetrisation (factor 2) and McDiarmid's inequality give
    the rest. P. Bartlett, S. Mendelson, Rademacher and Gaussian complexities, JMLR 3, 2002.
    """
    m, n = check_order(m, n)
    delta, rho = check_probability("delta", delta), check_positive("rho", rho)
    return ((m - 1) / n + 2 / (rho * np.sqrt(n)) + np.sqrt(np.log(1 / delta) / (2 * n)))[()]


def sample_compression(m, n, support_vectors, delta, *, levels=3):
    """Upper limit for ``P{g < g^(m)}`` when g is determined by few training points, all m at once.

    With s' = support_vectors + 1, ``U`` for m in n - s' trials: the (1 - exp(-L))-quantile of
    Beta(m, n - s' + 1 - m) with ``L = ln C(n, s') + ln n + s' ln(levels) + ln s' + ln(1/delta)``; 1 where
    m > n - s'.

    Parameters
    ----------
    m : int or int array
    n : int
    support_vectors : int
        Number of points in a preference pair (or anchor pair) with a non-zero dual weight. With three
        levels or more these can be more than the points with non-zero coefficient: weights can cancel in
        ``beta``.
    delta : float
    levels : int, default 3
        Number of quantisation levels, which are told about each of the s' points.

    Returns
    -------
    float or array of the shape of m

    Raises
    ------
    ValueError
        If m is not in 1..n, delta not in (0, 1), or support_vectors not in 0..n.

    Notes
    -----
    Assumes independent points, and kernel, C and anchor fixed beforehand. Train again on s' points with
    the levels they had: the support vectors and the point whose score is the threshold (any other point if
    that is a support vector itself). The old dual weights, box and margins still satisfy the optimality
    conditions, so g is the same. Given which points, their levels and which one is the threshold, the
    others are a test set on which the rule makes at most m - 1 errors; add up over all descriptions.
    S. Floyd, M. Warmuth, Sample compression, learnability, and the Vapnik-Chervonenkis dimension, Machine
    Learning 21, 1995.
    """
    m, n = check_order(m, n)
    delta, levels = check_probability("delta", delta), check_count("levels", levels)
    s = check_count("support_vectors", support_vectors, least=0) + 1
    if s > n + 1:
        raise ValueError(f"support_vectors={support_vectors} are more than the n={n} points there are.")
    rest = n - s
    if rest < 1:
        return np.ones(m.shape)[()]
    log_sets = -betaln(rest + 1, s + 1) - np.log(n + 1)
    L = log_sets + np.log(n) + s * np.log(levels) + np.log(s) - np.log(delta)
    return np.where(m <= rest, upper_limit(np.minimum(m, rest), rest, L), 1.0)[()]
