"""PAC-Bayes bounds with a Gaussian process as prior: no domain, no dimension, no covering number.

Prior: the Gaussian process of covariance k, k(x, x) = 1. Posterior: the same, shifted by ``a g / |g|``; its
divergence from the prior is a^2 / 2 (Cameron-Martin). A draw h has ``P{h(x) < a t} = Phi(a (t -
g(x)/|g|))``. Maurer's form of the PAC-Bayes theorem says for one (a, t), with probability 1 - delta', for
all g at once,

    kl(mean_i Phi(a (t - g(x_i)/|g|)) || E Phi(a (t - g(X)/|g|))) <= (a^2/2 + ln(2 sqrt(n) / delta')) / n,

and where ``g/|g| < t - u`` the function under E is at least Phi(a u). The bounds take the best (a, t) of
one grid fixed beforehand, ``a = 2^(i/4)``, i = 0..39, and t from -1 to 1 in steps of 0.05 / a: each of the
40 values of a gets delta / 40, shared evenly by its values of t. So they hold for all m, all margins and
all g in H at once.

A. Maurer, A note on the PAC Bayesian theorem, arXiv:cs/0411099, 2004 (from n = 8; for smaller n, P. Germain
et al., Risk bounds for the majority vote, JMLR 16, 2015); J. Langford, J. Shawe-Taylor, PAC-Bayes and
margins, NIPS 2002.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr, rel_entr

from .checks import check_order, check_positive, check_probability, check_unit_scores

A = 2.0 ** (np.arange(40) / 4)
STEP = 0.05  # of the thresholds, in units of 1 / a
STEPS = np.ceil(2 * A / STEP)  # from t = -1 to t = 1 or just beyond
REACH = np.arange(0, 4, 0.1)  # thresholds tried above that of the rule, in units of 1 / a


def pac_bayes(scores, m, norm, delta):
    """Upper limit for the rule actually used, ``P{g < g^(m)}``, from the training scores.

    All g in H and all m at once. Assumes independent points and a kernel fixed beforehand with k(x, x) = 1.
    May exceed 1, where it says nothing.

    Parameters
    ----------
    scores : array of shape (n,)
        ``g(x_i)`` of the training points, in any order.
    m : int or int array
        1-based order statistic.
    norm : float
        ``|g| = sqrt(beta' K beta)``, or anything larger.
    delta : float

    Returns
    -------
    float or array of the shape of m

    Raises
    ------
    ValueError
        If scores are not finite or larger than the norm allows, m is not in 1..n, or delta not in (0, 1).
    """
    g = check_unit_scores(scores, norm)
    m, n = check_order(m, len(g))
    budget = _budget(n, check_probability("delta", delta))
    limits = [_best_threshold(g, s, budget) for s in g[m.ravel() - 1]]
    return np.reshape(limits, m.shape)[()]


def pac_bayes_margin(m, n, rho, delta):
    """Upper limit for ``P{g < g^(m) - 2 rho |g|}``, known before the scores are.

    All g in H, all m and all rho at once:

    ``min_a kl^-1(e, (a^2/2 + ln(2 sqrt(n) / delta')) / n) / Phi(a rho')`` with ``a rho' = a rho - 0.025``
    and ``e = (m-1)/n + (1 - (m-1)/n) Phi(-a rho')``. Assumes what :func:`pac_bayes` does; may exceed 1.

    Parameters
    ----------
    m : int or int array
        1-based order statistic.
    n : int
    rho : float or array
        Margin in units of 2 |g|; positive.
    delta : float

    Returns
    -------
    float or array of the shape that m and rho broadcast to

    Notes
    -----
    Some t of the grid lies within half a step of ``g^(m)/|g| - rho``. At most m - 1 points lie below
    g^(m), and each other one counts Phi(-a rho') at most.
    """
    m, n = check_order(m, n)
    budget = _budget(n, check_probability("delta", delta))
    below = ((m - 1) / n)[..., None]
    reach = A * check_positive("rho", rho)[..., None] - STEP / 2
    below, reach = np.broadcast_arrays(below, reach)
    loss = below + (1 - below) * ndtr(-reach)
    return (_kl_inverse(loss, budget) * np.exp(-log_ndtr(reach))).min(axis=-1)[()]


def _budget(n, delta):
    """``(a^2/2 + ln(2 sqrt(n) / delta')) / n`` for each a, with delta' its share of delta."""
    share = delta / len(A) / (STEPS + 1)
    return (A**2 / 2 + np.log(2 * np.sqrt(n) / share)) / n


def _best_threshold(g, s, budget):
    """Smallest bound on ``P{g < s}`` over the grid, for g of norm 1."""
    best = np.inf
    for a, steps, allowed in zip(A, STEPS, budget, strict=True):
        j = np.unique(np.clip(np.ceil(((s + 1) * a + REACH) / STEP), 0, steps))
        t = -1 + j * STEP / a
        loss = ndtr(a * (t[:, None] - g)).mean(axis=1)
        best = min(best, (_kl_inverse(loss, allowed) / ndtr(a * (t - s))).min())
    return best


def _kl_inverse(q, budget):
    """Largest p with ``kl(q || p) <= budget``, from above, by bisection."""
    q, budget = np.broadcast_arrays(q, budget)
    low, high = q, np.ones(q.shape)
    for _ in range(60):
        p = (low + high) / 2
        within = rel_entr(q, p) + rel_entr(1 - q, 1 - p) <= budget
        low, high = np.where(within, p, low), np.where(within, high, p)
    return high
