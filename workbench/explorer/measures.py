"""What the learned sets are worth: false alarms, p-values and distances from the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from .. import bounds
from .settings import VIEW

LADDER = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9)
"""Levels of the curves drawn, and of the distances."""

ALPHAS = np.linspace(0.005, 0.5, 100)
"""Levels of the false-alarm curve."""

LIMIT_ALPHAS = np.array([0.01, 0.05, 0.1, 0.2, 0.3])
"""Levels at which a limit of the false-alarm rate is worked out."""

DELTA = 0.05
"""With probability 1 - DELTA the limits hold at all levels at once."""


@dataclass(frozen=True, eq=False)
class Measures:
    """How one fit does; arrays are empty, and numbers NaN, where nothing can be known.

    Attributes
    ----------
    false_alarms : array of shape (100,)
        False-alarm rate at each of ALPHAS: the density's mass outside the set, or the share of held-out
        nominal points, where no density is known.
    p : array of shape (q,)
        Learned p-values of fresh nominal points.
    true_p : array of shape (q,)
        Their true ones.
    tau : float
        Kendall's tau of the two.
    rank_tau : float
        That of the training points' ranks, which the detector learned from, and their true p-values.
    distances : list of SetDistance
        At each level of LADDER.
    limits : array of shape (5,)
        What the false-alarm rate keeps below at each of LIMIT_ALPHAS, with probability 1 - DELTA at all of
        them: by ELL where scores were held out, else by PAC-Bayes, which takes sigma, C and the anchor as
        fixed before the sample was seen. NaN in a first answer.
    """

    false_alarms: np.ndarray
    p: np.ndarray
    true_p: np.ndarray
    tau: float
    rank_tau: float
    distances: list
    limits: np.ndarray


def measure(fit, limits=True):
    """Work out all measures of a fit that do not depend on the level chosen.

    Parameters
    ----------
    fit : Fit
    limits : bool
        Whether to take the time for limits of the false-alarm rate.

    Returns
    -------
    Measures
    """
    sample, truth = fit.sample, fit.sample.truth
    nothing = np.empty(0)
    p = fit.p_value(fit.detector.score_samples(sample.fresh)) if len(sample.fresh) else nothing
    promised = _limits(fit) if limits else np.full(len(LIMIT_ALPHAS), np.nan)
    if truth is None:
        rates = np.mean(p[:, None] <= ALPHAS, axis=0) if len(p) else nothing
        return Measures(rates, p, nothing, np.nan, np.nan, [], promised)
    thresholds = np.array([fit.threshold(alpha) for alpha in ALPHAS])
    true_p = truth.density.p_value(sample.fresh)
    trained = truth.density.p_value(sample.X[fit.detector.train_index_])
    return Measures(
        false_alarms=truth.false_alarm_rate(fit.values, thresholds),
        p=p,
        true_p=true_p,
        tau=_tau(p, true_p),
        rank_tau=_tau(fit.detector.ranks_, trained),
        distances=[truth.distance(alpha, _margin(fit, alpha)) for alpha in LADDER],
        limits=promised,
    )


def frame(settings, fits):
    """All measures as a tidy data frame: a row for each side and level, settings included.

    Parameters
    ----------
    settings : Settings
    fits : dict from side to Fit

    Returns
    -------
    pandas.DataFrame
    """
    rows = []
    chosen = {name: value for name, value in settings.values().items() if name not in (*VIEW, "points")}
    for side, fit in fits.items():
        measures, solution = measure(fit, limits=False), fit.detector.solution_
        about = {
            "side": side,
            "levels": fit.title,
            "D_K": fit.D_K,
            "sigma": fit.detector.sigma_,
            "C": fit.detector.C_,
            "pairs": solution.n_pairs,
            "gap": solution.gap,
            "seconds": solution.seconds,
            "support": len(fit.detector.support_),
            "kendall_tau": measures.tau,
            "kendall_tau_of_ranks": measures.rank_tau,
        }
        for alpha in sorted({*LADDER, settings.alpha}):
            row = about | {"alpha": alpha, **at_level(fit, alpha)}
            rows.append(row | chosen)
    table = pd.DataFrame(rows)
    return table.loc[:, ~table.columns.duplicated()]


def at_level(fit, alpha):
    """Return what is known of one set: its false-alarm rate, and its distance from the true set.

    Parameters
    ----------
    fit : Fit
    alpha : float

    Returns
    -------
    dict from name to float, NaN where nothing can be known
    """
    sample = fit.sample
    if sample.truth is None:
        rate = np.nan
        if len(sample.fresh):
            rate = float(np.mean(fit.p_value(fit.detector.score_samples(sample.fresh)) <= alpha))
        return {"false_alarm_rate": rate, "symmetric_difference_mass": np.nan, "volume_ratio": np.nan}
    distance = sample.truth.distance(alpha, _margin(fit, alpha))
    return {
        "false_alarm_rate": distance.false_alarm_rate,
        "symmetric_difference_mass": distance.symmetric_difference_mass,
        "volume_ratio": distance.volume_ratio,
    }


def _limits(fit):
    scores = fit.detector.calibration_scores_
    m = np.array([bounds.order(alpha, len(scores), split=fit.split) for alpha in LIMIT_ALPHAS])
    if not fit.split:
        solution = fit.detector.solution_
        return bounds.pac_bayes(solution.scores, m, solution.norm, DELTA)
    # The region {g < g^(m)} is empty, and never alarms, where m is 0.
    return np.concatenate([[0.0], bounds.ell(len(scores), DELTA)])[m]


def _margin(fit, alpha):
    """Return g less its threshold, positive where nominal: everywhere, if there can be no alarm at alpha."""
    cut = fit.threshold(alpha)
    return fit.values - cut if np.isfinite(cut) else np.ones_like(fit.values)


def _tau(a, b):
    return float(kendalltau(a, b).statistic)
