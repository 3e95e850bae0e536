"""From scores to p-values and decisions at any false-alarm level (Eq. 4; Algorithm 1, step 3).

Polarity: g is large where nominal, so a p-value counts the calibration scores *at or below* g(eta).
Print has the opposite sign in Eq. 4 and in step 3(b), which would alarm on the densest points.

In-sample, the paper's:  ``p(eta) = #{i: g(x_i) <= g(eta)} / n``.
Split, valid at finite n:  ``p(eta) = (1 + #{i: g(c_i) <= g(eta)}) / (n_cal + 1)`` for calibration points
c_i that g was not trained on: then ``P{p(eta) <= alpha} <= alpha`` for a nominal eta, and, given the
calibration set, the false-alarm rate of the region {g < j-th smallest g(c_i)} is Beta(j, n_cal + 1 - j).
"""

from __future__ import annotations

import numpy as np


def p_value(g, calibration, *, split=False):
    """p-value of each score by binary search in the calibration scores.

    Parameters
    ----------
    g : array of shape (q,)
        Scores to judge, large where nominal.
    calibration : array of shape (n,)
        Scores of the training sample, or of held-out nominal points with ``split=True``; ascending.
    split : bool, default False

    Returns
    -------
    array of shape (q,), in [0, 1]; small for anomalies
    """
    at_or_below = np.searchsorted(calibration, g, side="right")
    return (split + at_or_below) / (split + len(calibration))


def threshold(calibration, alpha, *, split=False):
    """Score below which an alarm is raised: ``g(eta) < threshold`` if and only if ``p(eta) <= alpha``.

    In-sample it is the order statistic ``g^(floor(alpha n) + 1)``; split, the one at
    ``floor(alpha (n_cal + 1))``, or minus infinity where n_cal is too small for any alarm at this alpha.

    Parameters
    ----------
    calibration : array of shape (n,), ascending
    alpha : float
        False-alarm level, in (0, 1).
    split : bool, default False

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If alpha is not in (0, 1).
    """
    alpha = check_alpha(alpha)
    n = len(calibration)
    # The p-values below alpha as p_value itself rounds them: floor(alpha n) alone is one short
    # where, say, 0.29 * 100 comes out as 28.999999999999996.
    alarming = np.flatnonzero((split + np.arange(n)) / (split + n) <= alpha)
    return float(calibration[alarming[-1]]) if len(alarming) else -np.inf


def check_alpha(alpha):
    """Return `alpha` as a float in (0, 1), or raise a ValueError that says what is wrong."""
    is_number = isinstance(alpha, (int, float, np.integer, np.floating)) and not isinstance(alpha, bool)
    if not (is_number and 0 < alpha < 1):
        raise ValueError(
            f"alpha must be a false-alarm level strictly between 0 and 1, got {alpha!r}. "
            "Use for example alpha=0.05."
        )
    return float(alpha)
