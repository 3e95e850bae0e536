"""The Beta law of the false-alarm rate: exact for held-out scores, broken for scores that g was trained on.

Given n scores, the region {g < g^(m)} has some false-alarm rate. Held out, it is Beta(m, n + 1 - m) whatever
the detector. It is observed through the number of alarms among fresh nominal points, which is then
beta-binomial: a test of that law has no error from the finite number of fresh points.
"""

from __future__ import annotations

import warnings

import numpy as np

from ..bounds import order
from ..detector import RankAD
from .claim import Claim
from .statistics import LEVEL, alarm_pit, mean_interval, uniformity, verdict_of_laws

ALPHA = 0.05
FRESH = 1000


class _BetaLaw(Claim):
    location = "Sec. 5.2, the decision region R_alpha, and Theorem 3"
    assumes = "any density: P has no atoms, so scores have no ties"
    ladder = "number n of scores that the threshold is one of"
    ns = (40, 100)
    repetitions = 120
    fewest = 20
    sizes = 1

    def _measure(self, density, n, rng, broken):
        held_out = (self.expected == "holds") != broken
        m = order(ALPHA, n, split=True)
        X, fresh = density.sample(2 * n if held_out else n, rng), density.sample(FRESH, rng)
        detector = RankAD(
            calibration="split" if held_out else "in-sample", random_state=int(rng.integers(2**31))
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # alpha of predict is not used here
            detector.fit(X)
        scores = detector.calibration_scores_
        alarms = int(np.sum(detector.score_samples(fresh) < scores[m - 1]))
        return {
            "m": m,
            "alarms": alarms,
            "false_alarm": alarms / FRESH,
            "predicted_mean": m / (n + 1),
            "pit": alarm_pit(alarms, FRESH, m, n, rng),
            "pit_other": alarm_pit(alarms, FRESH, m + 1, n, rng),
        }

    def _judge(self, frame, density, broken):
        groups = list(frame.groupby("n"))
        claimed = [uniformity(rows["pit"]) for _, rows in groups]
        other = [uniformity(rows["pit_other"]) for _, rows in groups]
        level = 1 - (1 - LEVEL) / len(groups)
        means = {n: mean_interval(rows["false_alarm"], level) for n, rows in groups}
        predicted = {n: rows["predicted_mean"].iloc[0] for n, rows in groups}
        shifts = "; ".join(f"{means[n]} at n = {n}, where the law has {predicted[n]:.3g}" for n in means)
        return (
            verdict_of_laws(claimed, other),
            f"Smallest p-value of the test of Beta(m, n + 1 - m) over n: {min(claimed):.2g}; of Beta(m + 1, "
            f"n - m): {min(other):.2g}. Mean false-alarm rate {shifts}.",
            [(f"mean false-alarm rate, n = {n}", means[n], predicted[n]) for n in means],
        )


class BetaLawHeldOut(_BetaLaw):
    """Scores of points that g was not trained on."""

    name = "beta_law_held_out"
    statement = "P{g < g^(m)}, given n held-out scores, ~ Beta(m, n + 1 - m) (correction of Sec. 5.2)"
    refuted_if = "the Kolmogorov-Smirnov test rejected the law at some n"
    broken_by = "the scores of the points that g was trained on"


class BetaLawInSample(_BetaLaw):
    """Scores of the training points themselves, as the paper counts them."""

    name = "beta_law_in_sample"
    statement = "P{g_n < g_n^(m)} ~ Beta(m, n + 1 - m) for the n points that g_n was trained on"
    refuted_if = "the Kolmogorov-Smirnov test rejected the law at some n"
    broken_by = "the scores of held-out points, which do follow the law"
    expected = "refuted"
