"""Confidence intervals and exact tests that verdicts rest on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

LEVEL = 0.99
"""Confidence of every interval that a verdict rests on, all sizes of the ladder together."""


class Interval(NamedTuple):
    """An estimate with its confidence limits."""

    estimate: float
    low: float
    high: float

    def __str__(self):
        return f"{self.estimate:.3g} [{self.low:.3g}, {self.high:.3g}]"


def mean_interval(values, level=LEVEL):
    """Student's t interval for the mean of independent values, shape (repetitions,), at least two."""
    values = np.asarray(values, dtype=float)
    k, mean = len(values), float(np.mean(values))
    half = stats.t.ppf((1 + level) / 2, k - 1) * np.std(values, ddof=1) / np.sqrt(k)
    return Interval(mean, float(mean - half), float(mean + half))


def slope_interval(frame, y, x="n", level=LEVEL):
    """Student's t interval for the slope of log y on log x, one least-squares slope a repetition.

    Repetitions are independent, whatever is shared by the sizes within one, so their slopes are too.

    Parameters
    ----------
    frame : pandas.DataFrame
        With columns `x`, `y` and ``repetition``; x and y positive.
    y, x : str
    level : float

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If a value is not positive and finite, so that it has no logarithm.
    """
    values = frame[[x, y]].to_numpy(dtype=float)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"A slope needs {x} and {y} positive and finite, got {values.min():g} to {values.max():g}. "
            "The density or the sizes are outside what the claim assumes."
        )
    slopes = [
        np.polyfit(np.log(rows[x].to_numpy(float)), np.log(rows[y].to_numpy(float)), 1)[0]
        for _, rows in frame.groupby("repetition")
    ]
    return mean_interval(slopes, level)


def verdict_of_decline(slope, boundary):
    """Verdict on convergence to 0 from the log-log slope of an error.

    "holds" if the slope is shown to be steeper than `boundary`, a negative number; "refuted" if it is shown
    to be flatter and no decline is shown at all; else "undecided", as where the error declines too slowly for
    this ladder to tell.
    """
    if slope.high < boundary:
        return "holds"
    return "refuted" if slope.low > boundary and slope.high >= 0 else "undecided"


def proportion_interval(count, total, level=LEVEL):
    """Clopper and Pearson's exact interval for a proportion, `count` of `total` trials."""
    limits = stats.binomtest(int(count), int(total)).proportion_ci(level, method="exact")
    return Interval(count / total, limits.low, limits.high)


def alarm_pit(count, total, m, n, rng):
    """Randomised probability integral transform of a number of alarms: uniform under the Beta law.

    If the false-alarm rate is Beta(m, n + 1 - m), the alarms among `total` fresh nominal points are
    beta-binomial, with distribution function F and mass function q. Then ``F(count - 1) + V q(count)``, V
    uniform, is exactly uniform on [0, 1], however small `total` is.
    """
    law = stats.betabinom(total, m, n + 1 - m)
    return float(law.cdf(count - 1) + rng.random() * law.pmf(count))


def uniformity(pit):
    """p-value of the exact Kolmogorov-Smirnov test that values are uniform on [0, 1]."""
    return float(stats.kstest(pit, "uniform").pvalue)


def verdict_of_laws(claimed, other, level=LEVEL):
    """Verdict from p-values of two laws on the same data, one value a size of the ladder.

    "refuted" if the claimed law is rejected at some size; "holds" if it is rejected at none while the other
    law is rejected at some, so that the data could tell; else "undecided". Bonferroni over the sizes.
    """
    threshold = (1 - level) / len(claimed)
    if min(claimed) < threshold:
        return "refuted"
    return "holds" if min(other) < threshold else "undecided"
