"""Theorem 1 and Lemma 1: the rank R of a point by its average k-NN distance estimates its p-value."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ..neighbors import knn_statistic, rank
from .claim import Claim
from .statistics import slope_interval, verdict_of_decline

FIXED = {"K = 5": 5, "K = 20": 20}
GROWING = {"K = n^(1/2)": 1 / 2, "K = n^(2/3)": 2 / 3}
POINTS = 400
BLOCKS = 4
SHARE = 1 / 4
"""Convergence is denied where a slope is shown to be flatter than this share of the theoretical exponent."""


def rate(kappa, d):
    """Exponent of the error of R_n with K = n^kappa, the larger of its noise and its bias.

    The noise of G is K^(-1/2) of its size, and its bias (K/n)^(2/d) where f is smooth, so the error is of
    order n^(-min(kappa/2, 2 (1 - kappa)/d)): -1/4 and -1/3 at kappa = 1/2 and 2/3 in the plane.
    """
    return -min(kappa / 2, 2 * (1 - kappa) / d)


class _RankConsistency(Claim):
    location = "Sec. 5.1, Theorem 1"
    assumes = (
        "no flat regions, P{|f(y) - f(x)| < s} <= M s; f bounded. Rates: f twice differentiable, and the "
        "layer at the edge of the support small"
    )
    ns = (250, 500, 1000, 2000)
    repetitions = 16

    def _measure(self, density, n, rng, broken):
        eta, X = density.sample(POINTS, rng), density.sample(n, rng)
        p = density.p_value(eta)
        rows = []
        for rule in FIXED | GROWING:
            K = min(n - 1, FIXED[rule] if rule in FIXED else round(n ** GROWING[rule]))
            R = rank(knn_statistic(X, eta, k=K), knn_statistic(X, k=K))
            if broken and self.expected == "holds":
                R = 1 - R
            errors = {"rmse": np.sqrt(np.mean((R - p) ** 2)), "largest": np.abs(R - p).max()}
            rows.append({"rule": rule, "K": K} | errors)
        return rows

    def _slopes(self, frame, density):
        slopes = {rule: slope_interval(rows, "rmse") for rule, rows in frame.groupby("rule", sort=False)}
        rates = {rule: rate(GROWING[rule], density.d) if rule in GROWING else 0.0 for rule in slopes}
        return slopes, rates, [(f"slope, {rule}", slopes[rule], rates[rule]) for rule in slopes]


class Theorem1(_RankConsistency):
    """R_n converges where K does what it must."""

    name = "theorem_1"
    statement = "R_n(eta) -> p(eta) if K -> infinity and K/n -> 0 (corrected; print has K = O(n^0.5))"
    refuted_if = (
        "for K = n^(1/2) or n^(2/3), the log-log slope of the RMSE of R_n - p over n was shown to lie above "
        "a quarter of the theoretical exponent and not shown to be negative"
    )
    broken_by = "R_n counts the training points that are denser, the sign the other way round"

    def _judge(self, frame, density, broken):
        slopes, rates, quantities = self._slopes(frame, density)
        verdicts = {verdict_of_decline(slopes[rule], SHARE * rates[rule]) for rule in GROWING}
        verdict = next(each for each in ("refuted", "undecided", "holds") if each in verdicts)
        words = " and ".join(f"{slopes[rule]} for {rule} (theory {rates[rule]:.3g})" for rule in GROWING)
        return verdict, f"The RMSE of R_n - p goes as n to the power {words}.", quantities


class Theorem1Printed(_RankConsistency):
    """K = O(n^0.5) allows a constant K, and with that R_n does not converge."""

    name = "theorem_1_printed"
    statement = "with K = O(n^0.5), lim R_n(eta) = p(eta) (as printed: O allows K = 5)"
    refuted_if = (
        "at K = 5 the log-log slope of the RMSE of R_n - p over n was shown to lie above a quarter of the "
        "exponent of K = n^(1/2) and not shown to be negative"
    )
    broken_by = "K = n^(1/2), with which the printed limit is right"
    expected = "refuted"

    def _judge(self, frame, density, broken):
        slopes, _, quantities = self._slopes(frame, density)
        rule = "K = n^(1/2)" if broken else "K = 5"
        boundary = SHARE * rate(1 / 2, density.d)
        slope = slopes[rule]
        verdict = verdict_of_decline(slope, boundary)
        last = frame[(frame["n"] == frame["n"].max()) & (frame["rule"] == rule)]
        return (
            verdict,
            f"With {rule} the RMSE of R_n - p goes as n to the power {slope} and is "
            f"{last['rmse'].mean():.3g} at n = {last['n'].iloc[0]}; the verdict turns at a "
            f"quarter of the exponent of K = n^(1/2), {boundary:.3g}.",
            quantities,
        )


def weighted_statistic(D, queries, l):
    """G of the appendix: ``(1/l) sum_i (l/i)^(1/d) D_(i)``, i from l - floor((l-1)/2) to l + floor(l/2).

    Parameters
    ----------
    D : array of shape (m, d)
        The block, disjoint from the queries.
    queries : array of shape (q, d)
    l : int
        With l + floor(l/2) <= m.

    Returns
    -------
    array of shape (q,)
    """
    i = np.arange(l - (l - 1) // 2, l + l // 2 + 1)
    distances, _ = NearestNeighbors(n_neighbors=i[-1], algorithm="kd_tree").fit(D).kneighbors(queries)
    return distances[:, i - 1] @ (l / i) ** (1 / D.shape[1]) / l


class Lemma1(Claim):
    """The expected rank of the appendix, its neighbours from a block that holds neither point."""

    name = "lemma_1"
    location = "Appendix, proof of Theorem 1, first lemma"
    statement = "|E R(u) - p(u)| -> 0 with l = m_2^a, (d+4)/(2d+4) < a < 1"
    assumes = _RankConsistency.assumes + (
        "; balls of mass l/m_2, which falls slowly, small against the structure of f"
    )
    refuted_if = (
        "the log-log slope over m_2 of the root mean square of E R(u) - p(u) over points u was "
        "shown to lie above a quarter of the exponent -(1 - a) 2/d of its bias and not shown to be negative"
    )
    broken_by = "l = m_2/2 (a = 1), so that l/m_2 does not vanish"
    ladder = "block size m_2"
    ns = (125, 250, 500, 1000)
    repetitions = 8

    @staticmethod
    def exponent(d):
        """Return the a used: a fifth of the way from (d+4)/(2d+4) to 1."""
        return 0.8 * (d + 4) / (2 * d + 4) + 0.2

    def _measure(self, density, n, rng, broken):
        l = n // 2 if broken else round(n ** self.exponent(density.d))
        l = min(l, 2 * n // 3)
        u = density.sample(100, rng)
        R = 0.0
        for _ in range(BLOCKS):
            D, x = density.sample(n, rng), density.sample(n, rng)
            R = R + rank(weighted_statistic(D, u, l), weighted_statistic(D, x, l)) / BLOCKS
        return {"l": l, "rms_bias": np.sqrt(np.mean((R - density.p_value(u)) ** 2))}

    def _judge(self, frame, density, broken):
        predicted = -(1 - self.exponent(density.d)) * 2 / density.d
        slope = slope_interval(frame, "rms_bias")
        boundary = SHARE * predicted
        verdict = verdict_of_decline(slope, boundary)
        last = frame.loc[frame["n"] == frame["n"].max(), "rms_bias"].mean()
        return (
            verdict,
            f"The root mean square of E R(u) - p(u) goes as m_2 to the power {slope} (theory "
            f"{predicted:.3g}) and is {last:.3g} at m_2 = {frame['n'].max()}.",
            [("slope", slope, predicted)],
        )
