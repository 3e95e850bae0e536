"""The surrogate lemma and the order lemma: what survives of them.

Over all pairs with f(x) > f(y) the risk ``E L(g(x) - g(y))`` of the hinge has infimum 0: for g = c p(.), p
the p-value, p(X) is uniform and the risk is ``E (1 - c |U - V|)_+ = 1/c - 1/(3 c^2)`` for c >= 1 (p is not in
H, but functions of H come as close to c p as wanted on a compact set). It is attained by no continuous g: a
risk of 0 needs a gap of 1 between points however close. So "the minimiser over H" of the surrogate lemma is
not there. What survives is that the hinge is at least the indicator of a wrong order: the share of wrongly
ordered pairs is at most the risk, for every g, and that goes to 0 along any minimising sequence.
"""

from __future__ import annotations

import numpy as np

from ..pvalues import p_value
from .claim import Claim
from .statistics import LEVEL, mean_interval, slope_interval, verdict_of_decline

PAIRS = 20_000
GAP = 1 / 4


def uniform_risk(c):
    """``E (1 - c |U - V|)_+`` for independent uniform U, V: 1/c - 1/(3 c^2) for c >= 1, else 1 - c/3."""
    c = np.asarray(c, dtype=float)
    return np.where(c >= 1, 1 / c - 1 / (3 * c**2), 1 - c / 3)[()]


def _ordered_pairs(density, count, rng):
    """Draw pairs of points, the denser first; returns the points and their p-values, shape (count,) each."""
    X = density.sample(2 * count, rng)
    p = density.p_value(X).reshape(2, count)
    swap = p[0] < p[1]
    X = X.reshape(2, count, -1)
    X, p = np.where(swap[:, None], X[::-1], X), np.where(swap, p[::-1], p)
    return X, p


class SurrogateMinimum(Claim):
    """The minimiser that the lemma reasons about does not exist."""

    name = "surrogate_minimum_printed"
    location = "Appendix, proof of Theorem 2, surrogate lemma"
    statement = "there is g* = argmin_{g in H} E R_{L,T}(g), L the hinge, all pairs with f(x_i) > f(x_j)"
    assumes = "no flat regions, so that p(X) is uniform"
    refuted_if = (
        "doubling g = c p(.) lowered the risk at every c (upper confidence limit of the difference below 0), "
        "while the risk stayed above 0"
    )
    broken_by = f"only pairs whose p-values are {GAP:g} apart: the minimum 0 is attained at c = {1 / GAP:g}"
    expected = "refuted"
    ladder = "factor c"
    ns = (4, 16, 64, 256)
    smallest = 4
    repetitions = 6

    def _measure(self, density, n, rng, broken):
        _, p = _ordered_pairs(density, PAIRS, rng)
        gap = p[0] - p[1]
        if broken:
            gap = gap[gap >= GAP]
        risk, doubled = (np.maximum(0, 1 - c * gap).mean() for c in (n, 2 * n))
        return {"risk": risk, "gain_of_doubling": doubled - risk, "closed_form": uniform_risk(n)}

    def _judge(self, frame, density, broken):
        groups = list(frame.groupby("n"))
        level = 1 - (1 - LEVEL) / len(groups)
        gains = {c: mean_interval(rows["gain_of_doubling"], level) for c, rows in groups}
        risks = {c: mean_interval(rows["risk"], level) for c, rows in groups}
        predicted = {c: 0.0 if broken else uniform_risk(2 * c) - uniform_risk(c) for c in gains}
        falls = all(gains[c].high < 0 < risks[c].low for c in gains)
        attained = any(gain.high >= 0 >= gain.low and gain.high - gain.low < 1e-12 for gain in gains.values())
        largest = max(gains)
        return (
            "refuted" if falls else "holds" if attained else "undecided",
            f"At c = {largest} the risk of c p(.) is {risks[largest]} and doubling c changes it by "
            f"{gains[largest]}"
            + (": the minimum is attained." if attained else f" (computed: {predicted[largest]:.3g})."),
            [(f"gain of doubling, c = {c}", gains[c], predicted[c]) for c in gains],
        )


class SurrogateBound(Claim):
    """The risk bounds the disagreement: all that the proof of Theorem 2 needs."""

    name = "surrogate_bound"
    location = SurrogateMinimum.location + " (what survives of it)"
    statement = "P{g(x_i) <= g(x_j) | f(x_i) > f(x_j)} <= E L(g(x_i) - g(x_j)) for every g, L the hinge"
    assumes = "nothing but a density"
    refuted_if = "the share of wrongly ordered pairs exceeded the mean loss of the same pairs for some g"
    broken_by = "the hinge without its margin, max(0, -z)"
    ladder = "number of pairs"
    ns = (100, 1000, 10_000)
    repetitions = 10
    sizes = 1

    def _measure(self, density, n, rng, broken):
        X, p = _ordered_pairs(density, n, rng)
        noise = X @ rng.standard_normal(density.d) / np.abs(X).max()
        margin = 0 if broken else 1
        rows = []
        for c in (0.1, 1.0, 10.0, 100.0):
            g = c * (p + 0.3 * noise)
            z = g[0] - g[1]
            risk = np.maximum(0, margin - z).mean()
            rows.append({"c": c, "disagreement": np.mean(z <= 0), "risk": risk})
        return rows

    def _judge(self, frame, density, broken):
        excess = frame["disagreement"] - frame["risk"]
        worst = frame.loc[excess.idxmax()]
        by_repetition = mean_interval(excess.groupby(frame["repetition"]).max())
        return (
            "refuted" if excess.max() > 1e-12 else "holds",
            f"Nearest to failing, or failing most, at c = {worst['c']:g}: a share "
            f"{worst['disagreement']:.4g} is ordered wrongly and the mean loss is {worst['risk']:.4g}.",
            [("largest disagreement - risk", by_repetition, np.nan)],
        )


class OrderLemma(Claim):
    """For a fixed G in the order of f, empirical ranks converge, uniformly."""

    name = "order_lemma"
    location = "Appendix, end of the proof of Theorem 2, last lemma"
    statement = (
        "(1/n) sum 1{G(x_i) <= G(eta)} -> p(eta) for a fixed G with G(x) > G(y) if and only if f(x) > f(y)"
    )
    assumes = "no flat regions; G may not depend on the sample"
    refuted_if = (
        "the log-log slope over n of the largest |R - p| over points eta was shown to lie "
        "above -1/4 and not shown to be negative"
    )
    broken_by = "G that has the order of f on the sample only, and is lowest of all elsewhere"
    ns = (250, 1000, 4000)
    repetitions = 30

    def _measure(self, density, n, rng, broken):
        eta = density.sample(1000, rng)
        G = np.sort(density.logpdf(density.sample(n, rng)))
        at_eta = np.full(len(eta), -np.inf) if broken else density.logpdf(eta)
        return {"sup_error": np.abs(p_value(at_eta, G) - density.p_value(eta)).max()}

    def _judge(self, frame, density, broken):
        slope = slope_interval(frame, "sup_error")
        last = mean_interval(frame.loc[frame["n"] == frame["n"].max(), "sup_error"])
        return (
            verdict_of_decline(slope, -1 / 4),
            f"The largest |R - p| goes as n to the power {slope} (Glivenko and Cantelli: -1/2) and is {last} "
            f"at n = {frame['n'].max()}.",
            [("slope", slope, -0.5)],
        )
