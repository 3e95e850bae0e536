"""Calibration without a separate sample: a half split, CV+ and jackknife+.

CV+ splits n points into K folds and scores each point with the g trained on the other folds. For a new
point eta it counts ``#{i: g_{-k(i)}(x_i) <= g_{-k(i)}(eta)}``, every comparison by the g that saw neither,
and alarms iff the count is at most m - 1: iff the cross-conformal p-value ``(1 + count) / (n + 1)`` is at
most m / (n + 1). Jackknife+ is K = n.
"""

from __future__ import annotations

import numpy as np

from .checks import check_count, check_order, check_probability
from .order_statistics import order, upper_limits


def half_split(alpha, n, delta, method="clopper_pearson", *, split=False):
    """Upper limit when half of n points trains g and the other n // 2 calibrate it at level alpha.

    Assumes that g saw nothing of the calibration half, and what `method` assumes.

    Parameters
    ----------
    alpha : float
    n : int
        Points in all, at least 2.
    delta : float
    method : {"clopper_pearson", "dkw", "ell", "simes"}
    split : bool, default False
        Which p-value alpha refers to; see :func:`order`.

    Returns
    -------
    float
        0 if alpha is below every attainable p-value, so that nothing raises an alarm.
    """
    half = check_count("n", n, least=2) // 2
    m = order(alpha, half, split=split)
    return float(upper_limits(half, delta, method)[m - 1]) if m else 0.0


def cv_plus(m, n, folds):
    """Bound on the average false-alarm rate of CV+, over samples.

    With ``a = m / (n + 1)`` and K folds,

        2a + min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1)).

    Assumes n + 1 exchangeable points and a learner that does not depend on the order of its points; nothing
    is said about a single sample. The second term of the minimum needs equal folds and is left out where K
    does not divide n. May exceed 1, where it says nothing.

    Parameters
    ----------
    m : int or int array
        An alarm is raised iff at most m - 1 scores are at or below that of the new point.
    n : int
        At least 2.
    folds : int
        K, from 2 to n.

    Returns
    -------
    float or array of the shape of m

    Notes
    -----
    First term: the p-values of single folds are valid, and twice an average of p-values is a p-value.
    Second: a tournament among K + 1 folds of n/K points, of which one holds the new point; points that
    score below a share 1 - a of the others are at most a share 2a, up to rounding by fold. R. F. Barber,
    E. Candes, A. Ramdas, R. Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 49,
    2021, Theorem 4.
    """
    m, n, K = _checked_folds(m, n, folds)
    excess = 2 * (1 - 1 / K) / (n / K + 1)
    if n % K == 0:
        excess = min(excess, (1 - K / n) / (K + 1))
    return (2 * m / (n + 1) + excess)[()]


def jackknife_plus(m, n):
    """Bound on the average false-alarm rate of jackknife+: ``2 m / (n + 1)``, which is CV+ with K = n.

    Assumptions, parameters and reference as in :func:`cv_plus` (Theorem 1 there). Without stability of the
    learner nothing holds given the sample: M. Bian, R. F. Barber, Electronic Journal of Statistics 17,
    2023.
    """
    return cv_plus(m, n, n)


def cv_plus_conditional(m, n, folds, delta):
    """Upper limit for the false-alarm rate of CV+ given the sample, for all m at once.

    ``2 m / (n + 1) + sqrt(2 ln(K/delta) / (n/K))``. Assumes independent points; broken with probability at
    most delta over the sample. May exceed 1.

    Parameters and errors as in :func:`cv_plus`, and delta in (0, 1).

    Notes
    -----
    DKW in each fold, at delta/K, bounds the mean over folds of the true ``P{g_{-k} <= g_{-k}(eta)}`` on an
    alarm by ``(m - 1) / n + sqrt(ln(K/delta) / (2 n/K))``; an average of p-values is below t with
    probability at most 2t. Holds for unequal folds by concavity. M. Bian, R. F. Barber, Training-conditional
    coverage for distribution-free predictive inference, Electronic Journal of Statistics 17, 2023, Theorem 2.
    """
    m, n, K = _checked_folds(m, n, folds)
    delta = check_probability("delta", delta)  # delta / K <= 1/2, as Massart's inequality asks
    return (2 * m / (n + 1) + np.sqrt(2 * np.log(K / delta) / (n / K)))[()]


def _checked_folds(m, n, folds):
    m, n = check_order(m, check_count("n", n, least=2))
    K = check_count("folds", folds, least=2)
    if n < K:
        raise ValueError(f"folds={K} are more than the n={n} points. Use 2 to {n} folds.")
    return m, n, K
