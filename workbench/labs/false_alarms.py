"""The experiment: realised false-alarm rates over many repetitions, next to what was promised."""

from __future__ import annotations

import os
from importlib.metadata import version

import numpy as np
import pooch
from joblib import Memory
from tqdm.auto import tqdm

from .. import bounds
from ..bounds.checks import check_count, check_probability
from ..pvalues import check_alpha
from .design import Design, repeat
from .promises import PROMISES, held_out_limits, trained_limits

ALPHAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Levels at which rates are written down."""


def experiment(
    density,
    n,
    *,
    k=20,
    sigma_over_DK=1.0,
    C_times_n=1.0,
    calibration="in-sample",
    alphas=ALPHAS,
    delta=0.05,
    repetitions=100,
    random_state=0,
    folder=None,
    progress=True,
):
    """Fit RankAD to fresh samples, and write down each detector's true false-alarm rate and its promises.

    Repetitions are kept on disk one by one, so that one that was finished, here or before an interruption
    (Ctrl-C), is not worked out again. They are found again by all parameters and the version of this package.

    Parameters
    ----------
    density, n, k, sigma_over_DK, C_times_n, calibration
        See :class:`workbench.labs.Design`.
    alphas : sequence of float
        Levels, each in (0, 1).
    delta : float
        Probability with which each promise may be broken.
    repetitions : int
        At least 1.
    random_state : int
        Seed, not negative. Repetition r is the same however many there are.
    folder : path, optional
        Where repetitions are kept: by default the folder named by WORKBENCH_CACHE, or the user's cache
        folder. Nothing is kept where that cannot be written.
    progress : bool, default True
        Whether to show a bar.

    Returns
    -------
    pandas.DataFrame
        A row for each repetition and alpha, with columns

        - ``repetition``, ``alpha``, and ``m`` of ``points``: the threshold's order statistic, 0 where no
          score alarms, and the number of scores it is one of;
        - ``false_alarm_rate``, the true one of this detector, given its sample;
        - one for each of :data:`PROMISES` that thresholds of this kind are made: the limit it sets.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    import pandas as pd

    design = Design(density, n, k, sigma_over_DK, C_times_n, calibration)
    alphas = tuple(check_alpha(alpha) for alpha in alphas)
    if not alphas:
        raise ValueError("alphas must hold at least one level, got none: for example [0.05].")
    delta = check_probability("delta", delta)
    repetitions = check_count("repetitions", repetitions)
    random_state = check_count("random_state", random_state, least=0)
    measure = kept(folder).cache(measure_one)
    m = orders(design, alphas)
    parts = []
    for repetition in tqdm(range(repetitions), disable=not progress, leave=False, unit="fit"):
        measured = measure(design, alphas, delta, repetition, random_state)
        about = {"repetition": repetition, "alpha": alphas, "m": m, "points": design.n_scores}
        parts.append(pd.DataFrame(about | measured))
    return pd.concat(parts, ignore_index=True)


def measure_one(design, alphas, delta, repetition, random_state):
    """Return the rates of one repetition at some levels, and the promises made there.

    Parameters
    ----------
    design : Design
    alphas : tuple of float
    delta : float
    repetition, random_state : int

    Returns
    -------
    dict from name to array of shape (len(alphas),)
    """
    done = repeat(design, repetition, random_state)
    m = orders(design, alphas)
    limits = (
        held_out_limits(design.n_scores, m, delta) if design.split else trained_limits(design, done, m, delta)
    )
    return {"false_alarm_rate": rates_at(done.rates, m)} | limits


def orders(design, alphas):
    """Return the order statistic that serves as threshold at each level, 0 where no score alarms."""
    return np.array([bounds.order(alpha, design.n_scores, split=design.split) for alpha in alphas])


def rates_at(rates, m):
    """Return the rates at some order statistics, 0 at m = 0."""
    return np.concatenate([[0.0], rates])[m]


def promises_kept(frame, confidence=0.95):
    """How often each promise was broken, with the exact interval for its probability.

    Parameters
    ----------
    frame : pandas.DataFrame
        From :func:`experiment`.
    confidence : float, default 0.95
        Of the interval of Clopper and Pearson.

    Returns
    -------
    pandas.DataFrame
        A row for each promise and alpha, and for those that hold at all levels at once one with alpha "any":
        ``broken`` of ``repetitions``, their share, and the interval from ``low`` to ``high``.
    """
    import pandas as pd

    rows = []
    for name in [name for name in PROMISES if name in frame]:
        fails = frame["false_alarm_rate"] > frame[name]
        counts = fails.groupby(frame["alpha"]).sum().to_dict()
        if PROMISES[name].simultaneous:
            counts["any"] = fails.groupby(frame["repetition"]).any().sum()
        total = frame["repetition"].nunique()
        for alpha, broken in counts.items():
            low, high = exact_interval(broken, total, confidence)
            rows.append((PROMISES[name].label, alpha, int(broken), total, broken / total, low, high))
    columns = ["promise", "alpha", "broken", "repetitions", "share", "low", "high"]
    return pd.DataFrame(rows, columns=columns).set_index(["promise", "alpha"])


def exact_interval(broken, total, confidence=0.95):
    """Clopper and Pearson's interval for a probability, from `broken` of `total`."""
    from scipy.stats import binomtest

    interval = binomtest(int(broken), int(total)).proportion_ci(confidence, method="exact")
    return interval.low, interval.high


def kept(folder=None):
    """Return the store of finished repetitions, or one that keeps nothing where nothing can be written.

    Parameters
    ----------
    folder : path, optional

    Returns
    -------
    joblib.Memory
    """
    folder = folder or os.environ.get("WORKBENCH_CACHE") or pooch.os_cache("rankad-workbench")
    try:
        return Memory(os.path.join(folder, "labs", version("rankad-workbench")), verbose=0)
    except OSError:
        return Memory(None, verbose=0)
