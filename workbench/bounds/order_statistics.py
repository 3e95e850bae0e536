"""Held-out calibration: what n nominal scores that g was not trained on say about its false-alarm rate.

If the scores s_1, ..., s_n are independent with the law of a nominal point's score, the false-alarm rate of
``{s < s^(m)}`` given the scores is the m-th of n sorted uniforms, U_(m) (smaller if scores have ties).
That needs no assumption on g, dimension or distribution. Every bound here is an upper limit for U_(m),
broken with probability at most delta over the draw of the calibration scores.

Rules and order statistics: ``p = #{i: s_i <= s} / n <= alpha`` is ``s < s^(m)`` with m = floor(alpha n) + 1;
the split rule ``p = (1 + #{i: s_i <= s}) / (n + 1) <= alpha`` has m = floor(alpha (n + 1)), which is the same
m or one less. :func:`order` gives either, rounding as the p-values do.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import betainccinv, betaln, gammaln

from .checks import check_count, check_order, check_probability
from .crossing import exceedance_probability

LARGEST_PLAIN_L = 100.0  # scipy's inverse turns NaN or several per cent wrong from about exp(-300) on
SMALLEST_ELL_DELTA = 1e-30


def order(alpha, n, *, split=False):
    """Order statistic m for which ``p <= alpha`` is ``{s < s^(m)}``.

    Parameters
    ----------
    alpha : float
        False-alarm level, in (0, 1).
    n : int
        Number of calibration scores.
    split : bool, default False
        False: ``p = #{s_i <= s} / n`` and m = floor(alpha n) + 1, from 1 to n.
        True: ``p = (1 + #{s_i <= s}) / (n + 1)`` and m = floor(alpha (n + 1)), from 0 to n; 0 means that no
        score raises an alarm.

    Returns
    -------
    int
        The number of attainable p-values below 1 that are at most alpha, each rounded as floating point
        rounds it: where 0.29 * 100 comes out as 28.999999999999996, m is still 30.
    """
    alpha, n = check_probability("alpha", alpha), check_count("n", n)
    total = n + split
    below = int(alpha * total)  # the floor, or next to it
    below += (below + 1) / total <= alpha
    below -= below / total > alpha
    return below if split else below + 1


def beta_law(m, n):
    """Law of the false-alarm rate of ``{s < s^(m)}`` given n held-out scores: Beta(m, n + 1 - m).

    Exact if scores have no ties; with ties the rate is stochastically smaller. Mean m / (n + 1).

    Returns
    -------
    frozen ``scipy.stats.beta``
    """
    from scipy.stats import beta

    m, n = check_order(m, n)
    return beta(m, n + 1 - m)


def clopper_pearson(m, n, delta):
    """Upper limit for one m chosen before the scores are seen: the (1 - delta)-quantile of Beta(m, n+1-m).

    Assumes held-out scores and a fixed m. Exact without ties: the limit is broken with probability delta.

    Parameters
    ----------
    m : int or int array
        1-based order statistic of the threshold.
    n : int
    delta : float
        Probability of being wrong, in (0, 1).

    Returns
    -------
    float or array of the shape of m

    Raises
    ------
    ValueError
        If m is not in 1..n, n not a positive integer, or delta not in (0, 1).

    Notes
    -----
    ``P{U_(m) > u} = P{Bin(n, u) <= m - 1}``: the m-th smallest exceeds u iff fewer than m are below u.
    So it is also Clopper and Pearson's limit for m - 1 errors in n trials (Biometrika 26, 1934), and the test
    set bound of J. Langford, Tutorial on practical prediction theory for classification, JMLR 6, 2005.
    """
    m, n = check_order(m, n)
    return upper_limit(m, n, -np.log(check_probability("delta", delta)))[()]


def upper_limit(m, n, L):
    """``(1 - exp(-L))``-quantile of Beta(m, n + 1 - m), however small exp(-L).

    Parameters
    ----------
    m, n, L : arrays that broadcast together
        Checked integers 1 <= m <= n, and L > 0 in nats.

    Returns
    -------
    array

    Notes
    -----
    With ``t = -ln(1 - u)``, ``ln P{Bin(n, u) <= m - 1}`` is concave in t (order statistics of exponentials
    have increasing hazard) with slope ``-(n - m + 1) / S``, S the tail sum over its largest term. The union
    bound ``P{Bin(n, u) <= m - 1} <= C(n, m-1) (1-u)^(n-m+1)`` gives a t beyond the root, from which
    Newton's method falls monotonically: it errs to the safe side.
    """
    m, n, L = np.broadcast_arrays(np.asarray(m), np.asarray(n), np.asarray(L, dtype=float))
    limit = np.array(betainccinv(m, n + 1 - m, np.exp(-np.minimum(L, LARGEST_PLAIN_L))))
    far = L > LARGEST_PLAIN_L
    if not far.any():
        return limit
    m, n, L = m[far], n[far], L[far]
    above = n - m + 1.0
    log_choose = -betaln(above + 1, m) - np.log(n + 1.0)
    t = (L + log_choose) / above
    for _ in range(100):
        u = -np.expm1(-t)
        ratio = np.exp(-t) / u
        S = term = np.ones_like(t)
        step = 0
        while (term > 1e-17 * S).any():
            term = term * np.maximum(m - 1 - step, 0) * ratio / (above + 1 + step)
            S = S + term
            step += 1
        newton = (log_choose + (m - 1) * np.log(u) - above * t + np.log(S) + L) * S / above
        t = t + newton
        if (np.abs(newton) <= 1e-12 * t).all():
            break
    limit[far] = -np.expm1(-t)
    return limit


def dkw(m, n, delta):
    """Upper limit for all m at once from the Dvoretzky-Kiefer-Wolfowitz inequality.

    ``(m - 1) / n + sqrt(ln(1/delta) / (2n))``, with Massart's constant.

    Assumes held-out scores; ties allowed. May exceed 1, where it says nothing. For delta above 1/2, where
    Massart's one-sided inequality is not proved, delta = 1/2 is used.

    Parameters and errors as in :func:`clopper_pearson`.

    Notes
    -----
    ``P{sup_t F(t) - F_n(t) > e} <= exp(-2 n e^2)`` if the right side is at most 1/2, and just below s^(m)
    the empirical F_n is at most (m - 1) / n. P. Massart, The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality, Annals of Probability 18, 1990.
    """
    m, n = check_order(m, n)
    delta = min(check_probability("delta", delta), 0.5)
    return ((m - 1) / n + np.sqrt(np.log(1 / delta) / (2 * n)))[()]


def simes(n, delta):
    """Upper limits for all m at once from the generalised Simes inequality, k = n // 2 (1 if n = 1).

    ``b_{n+1-i} = 1 - (delta i (i-1) ... (i-k+1) / (n (n-1) ... (n-k+1)))^(1/k)``; 1 for m > n + 1 - k.
    Narrow at small m, where thresholds lie. Assumes held-out scores; exact without ties: some limit is
    broken with probability delta.

    Returns
    -------
    array of shape (n,), at index m - 1 the limit for the false-alarm rate of ``{s < s^(m)}``

    Notes
    -----
    With V = 1 - U and ``N(t) = #{V_i <= t}``, ``C(N(t), k) / t^k`` is a martingale as t falls from 1 to 0,
    starts at C(n, k), rises continuously and jumps only down. So it reaches C(n, k) / delta with probability
    delta exactly, and it does iff some ``U_(j) > b_j``. S. Bates, E. Candes, L. Lei, Y. Romano,
    M. Sesia, Testing for outliers with conformal p-values, Annals of Statistics 51, 2023; the
    inequality is Sarkar's (2008).
    """
    n, delta = check_count("n", n), check_probability("delta", delta)
    k = max(1, n // 2)
    i = np.arange(n, 0, -1.0)
    enough = np.maximum(i, k)
    log_ratio = gammaln(enough + 1) - gammaln(enough - k + 1) - gammaln(n + 1) + gammaln(n - k + 1)
    return np.where(i >= k, -np.expm1((np.log(delta) + log_ratio) / k), 1.0)


@lru_cache(maxsize=256)
def ell_level(n, delta):
    """Level eta at which all n limits of :func:`ell` hold together with probability 1 - delta exactly.

    Solves ``exceedance_probability(limits at eta) = delta``, between delta / n and delta. A second or two at
    n = 5000. Accepts delta down to 1e-30.
    """
    from scipy.optimize import brentq

    n, delta = check_count("n", n), check_probability("delta", delta)
    if delta < SMALLEST_ELL_DELTA:
        raise ValueError(f"delta must be at least {SMALLEST_ELL_DELTA:g} for ELL, got {delta!r}.")
    if n == 1:
        return delta

    def log_excess(log_eta):
        return np.log(exceedance_probability(clopper_pearson(m, n, np.exp(log_eta))) / delta)

    m = np.arange(1, n + 1)
    # Slightly wider than the bracket that theory gives, so that rounding cannot close it.
    return float(np.exp(brentq(log_excess, np.log(delta / n) - 1e-6, np.log(delta) + 1e-6 * (delta < 0.99))))


def ell(n, delta):
    """Upper limits for all m at once, each at the same level eta (equal local levels, Berk-Jones).

    ``b_m = (1 - eta)``-quantile of Beta(m, n + 1 - m), with :func:`ell_level` for eta. Assumes held-out
    scores; exact without ties: some limit is broken with probability delta.

    Returns
    -------
    array of shape (n,), at index m - 1 the limit for the false-alarm rate of ``{s < s^(m)}``

    Notes
    -----
    R. H. Berk, D. H. Jones, Goodness-of-fit test statistics that dominate the Kolmogorov statistics, 1979;
    one-sided here, with the level from the crossing recursion rather than from asymptotics.
    """
    eta = ell_level(n, delta)
    return clopper_pearson(np.arange(1, n + 1), n, eta)


METHODS = ("clopper_pearson", "dkw", "ell", "simes")


def upper_limits(n, delta, method="clopper_pearson"):
    """Return the n upper limits of a held-out bound, nondecreasing in m.

    Parameters
    ----------
    n : int
    delta : float
    method : {"clopper_pearson", "dkw", "ell", "simes"}
        The first holds for one m chosen beforehand, the others for all m at once.

    Returns
    -------
    array of shape (n,), at index m - 1 the limit for the false-alarm rate of ``{s < s^(m)}``
    """
    n = check_count("n", n)
    if method in ("clopper_pearson", "dkw"):
        return {"clopper_pearson": clopper_pearson, "dkw": dkw}[method](np.arange(1, n + 1), n, delta)
    if method in ("ell", "simes"):
        return {"ell": ell, "simes": simes}[method](n, delta)
    raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}.")


def largest_order(n, target, delta, method="clopper_pearson"):
    """Largest m whose bound is at most `target`: the most alarms that still guarantee the rate.

    The region ``{s < s^(m)}`` then has a false-alarm rate of at most `target` with probability at least
    1 - delta over the calibration scores. In terms of a level to hand to ``predict``: the rule
    ``#{s_i <= s} / n <= alpha`` is that region for every alpha in [(m - 1)/n, m/n), the split rule
    ``(1 + #{s_i <= s}) / (n + 1) <= alpha`` for every alpha in [m/(n + 1), (m + 1)/(n + 1)).

    Parameters
    ----------
    n : int
    target : float
        False-alarm rate not to exceed, in (0, 1).
    delta : float
    method : {"clopper_pearson", "dkw", "ell", "simes"}

    Returns
    -------
    int
        0 if even the smallest score as threshold guarantees too little.
    """
    target = check_probability("target", target)
    return int(np.searchsorted(upper_limits(n, delta, method), target, side="right"))
