"""Theorem 2: the learned g orders points as the density does, so R_hat estimates the p-value.

The paper's way there has gaps (see the surrogate lemma), but a short one is sound: the hinge is at least the
indicator of a wrong order, so the share of wrongly ordered pairs is at most the risk, and the infimum of the
risk is 0. With lambda_n -> 0 slowly enough the risk of the learned g goes to 0, and disagreement with it.
"""

from __future__ import annotations

import numpy as np

from ..detector import RankAD
from ..neighbors import knn_statistic
from ..preferences import disagreement
from ..pvalues import p_value
from .claim import Claim
from .statistics import mean_interval, slope_interval

POINTS = 400


def bandwidth(density):
    """Return sigma, the same at every n: 1.5 times the mean distance to the 20 nearest of 400 points."""
    return float(1.5 * knn_statistic(density.sample(400, np.random.default_rng(2015)), k=20).mean())


def fit(X, sigma):
    """Train as Theorem 2 has it, its sequences chosen so that they converge.

    K = n^(2/3), levels m = n^(1/2) (a fixed m leaves the order within levels open), no anchor, and
    C = n^(-5/4): lambda_n = 1/(2 C |P|) is of order n^(-3/4), which goes to 0 while n lambda_n grows as
    n^(1/4), faster than the entropy of a ball of H, a power of log n.
    """
    n = len(X)
    return RankAD(
        k=min(n - 1, round(n ** (2 / 3))),
        m=round(n**0.5),
        sigma=sigma,
        C=n**-1.25,
        anchor=False,
        resamples=0,
        tol=1e-4,
    ).fit(X)


class Theorem2(Claim):
    """The learned order and p-values approach those of the density."""

    name = "theorem_2"
    location = "Sec. 5.1, Theorem 2"
    statement = (
        "R_hat_n(eta) -> p(eta), and the order of g_n -> that of f (K -> infinity, K/n -> 0, levels m -> "
        "infinity, lambda_n -> 0 slowly)"
    )
    assumes = "no flat regions; f bounded and continuous; in practice sigma of the size of f's structure"
    refuted_if = (
        "more than half of the fresh pairs were ordered wrongly at the largest n, or the share of wrong "
        "pairs or the mean |R_hat - p| over fresh points was shown to grow with n (lower confidence limit of "
        "the slope)"
    )
    broken_by = "the sign of g turned round"
    ns = (50, 100, 200, 400, 800)
    repetitions = 10

    def _measure(self, density, n, rng, broken):
        eta, X = density.sample(POINTS, rng), density.sample(n, rng)
        p, detector = density.p_value(eta), fit(X, bandwidth(density))
        g, calibration = detector.score_samples(eta), detector.calibration_scores_
        if broken:
            g, calibration = -g, -calibration[::-1]
        wrong = disagreement(g, np.unique(p, return_inverse=True)[1])
        errors = np.abs(p_value(g, calibration) - p)
        return {
            "kendall_tau": 1 - 2 * wrong,  # where no two p-values are equal
            "disagreement": wrong,
            "sup_error": errors.max(),
            "mean_error": errors.mean(),
            "gap": detector.solution_.gap,
        }

    def _judge(self, frame, density, broken):
        slopes = {y: slope_interval(frame, y) for y in ("disagreement", "mean_error", "sup_error")}
        last = frame[frame["n"] == frame["n"].max()]
        wrong, mean, sup = (mean_interval(last[y]) for y in ("disagreement", "mean_error", "sup_error"))
        judged = slopes["disagreement"], slopes["mean_error"]  # the theorem is pointwise: sup is reported
        if wrong.low > 0.5 or any(slope.low > 0 for slope in judged):
            verdict = "refuted"
        else:
            verdict = "holds" if all(slope.high < 0 for slope in judged) else "undecided"
        return (
            verdict,
            f"At n = {frame['n'].max()} a share {wrong} of fresh pairs is ordered wrongly (Kendall's tau "
            f"{1 - 2 * wrong.estimate:.3g}); the mean and largest |R_hat - p| are {mean} and {sup}. Over n "
            f"they go with powers {', '.join(map(str, slopes.values()))}.",
            [
                *((f"slope, {y}", slope, np.nan) for y, slope in slopes.items()),
                ("disagreement at the largest n", wrong, 0.0),
                ("mean_error at the largest n", mean, 0.0),
                ("sup_error at the largest n", sup, 0.0),
            ],
        )
