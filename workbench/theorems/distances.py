"""Lemma 2: the expected distance to the l-th nearest of m points, and the tails its proof uses.

``P(B(x, D_(l)(x)))`` is the l-th of m sorted uniforms, Beta(l, m + 1 - l), whatever the density f. So with
r(p) the radius of the ball of mass p about x, ``E D_(l)(x) = E r(P)`` for P of that law: one integral, no
simulation. Were f constant about x, it would be

    E_0 = (c_d f(x))^(-1/d) Gamma(l + 1/d) Gamma(m + 1) / (Gamma(l) Gamma(m + 1 + 1/d)),

and since P^(1/d) times the law of P is Beta(l + 1/d, m + 1 - l) up to a constant,

    E D_(l)(x) / E_0 = E [r(P') / (P' / (c_d f(x)))^(1/d)],    P' ~ Beta(l + 1/d, m + 1 - l).
"""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.special import gammaln
from sklearn.neighbors import NearestNeighbors

from .balls import BallMass
from .claim import Claim
from .statistics import LEVEL, Interval, slope_interval, uniformity, verdict_of_laws

SMOOTH = "f twice continuously differentiable about the points, and positive there"
POINTS = 8
QUANTILES = (np.arange(200) + 0.5) / 200


def flat_mean(l, m, d):
    """``E_0 / A(x)``: the expected l-NN distance where f is constant over A(x) = (l / (m c_d f))^(1/d)."""
    ratio = gammaln(l + 1 / d) + gammaln(m + 1) - gammaln(l) - gammaln(m + 1 + 1 / d)
    return float(np.exp(ratio) * (m / l) ** (1 / d))


def dense_points(density, count, rng):
    """Draw `count` points from the denser 70% of the density's mass."""
    points = density.sample(20 * count, rng)
    return points[density.p_value(points) >= 0.3][:count]


class Lemma2Law(Claim):
    """The exact law of D_(l), by which its mean can be computed."""

    name = "lemma_2_law"
    location = "Appendix, Lemma 2 (bound on E D_(l)); the exact form that its proof approximates"
    statement = "P(B(x, D_(l)(x))) ~ Beta(l, m + 1 - l), hence E D_(l)(x) = E r(P)"
    assumes = SMOOTH
    refuted_if = "the Kolmogorov-Smirnov test rejected the Beta law of the mass of the ball at some m"
    broken_by = "D_(l + 1) in place of D_(l)"
    ladder = "number m of points"
    ns = (100, 400)
    repetitions = 150
    fewest = 20
    sizes = 1
    l = 3  # so few that one order more or less shows

    def _measure(self, density, n, rng, broken):
        l = self.l
        x = dense_points(density, 1, rng)
        neighbors = NearestNeighbors(n_neighbors=l + 1).fit(density.sample(n, rng))
        D = neighbors.kneighbors(x)[0][0]
        ball = BallMass(density, x[0], min(0.9, 5 * l / n), rng)
        mass, law = ball.mass(D[l - 1 : l + 1]), stats.beta(l, n + 1 - l)
        P = stats.beta(l + 1 / ball.d, n + 1 - l).ppf(QUANTILES)
        expected = ball.ratio(P).mean() * flat_mean(l, n, ball.d) * ball.radius_of_flat(l / n)
        own, next_one = law.cdf(np.minimum(mass, 1))
        return {
            "l": l,
            "D": D[l - 1 + broken],
            "expected_D": expected,
            "pit": next_one if broken else own,
            "pit_other": own if broken else next_one,
        }

    def _judge(self, frame, density, broken):
        claimed = [uniformity(rows["pit"]) for _, rows in frame.groupby("n")]
        other = [uniformity(rows["pit_other"]) for _, rows in frame.groupby("n")]
        ratio = frame["D"] / frame["expected_D"]
        half = stats.norm.ppf((1 + LEVEL) / 2) * ratio.std() / np.sqrt(len(ratio))
        mean = Interval(ratio.mean(), ratio.mean() - half, ratio.mean() + half)
        return (
            verdict_of_laws(claimed, other),
            f"Smallest p-value of the test of the Beta law over m: {min(claimed):.2g}; of the law one order "
            f"off: {min(other):.2g}. Mean of D_(l) over the computed E D_(l): {mean}.",
            [("mean of D_(l) / E D_(l)", mean, 1.0)],
        )


class Lemma2Rate(Claim):
    """The relative bias in the interior is of order (l/m)^(2/d), better than the printed (l/m)^(1/d)."""

    name = "lemma_2_rate"
    location = "Appendix, Lemma 2 (bound on E D_(l))"
    statement = "E D_(l)(x) / E_0 - 1 = O((l/m)^(2/d)) in the interior (print: A(x) O((l/m)^(1/d)))"
    assumes = SMOOTH
    refuted_if = (
        "the log-log slope over l/m, l = m^(1/2), of the root mean square relative bias over points lay "
        "below 1.5/d: nearer to the printed exponent 1/d than to 2/d"
    )
    broken_by = "A(x) with f overstated by a tenth, a bias that does not vanish"
    ladder = "number m of points"
    ns = (1000, 10_000, 100_000, 1_000_000)
    repetitions = 6

    def _measure(self, density, n, rng, broken):
        l = round(n**0.5)
        # The frames and points are those of the repetition, the same at every m.
        d = density.d
        balls = [BallMass(density, x, min(0.9, 5 * l / n), rng) for x in dense_points(density, POINTS, rng)]
        P = stats.beta(l + 1 / d, n + 1 - l).ppf(QUANTILES)
        ratio = np.array([ball.ratio(P).mean() for ball in balls]) * (1.1 ** (1 / d) if broken else 1)
        rms = np.sqrt(np.mean((ratio - 1) ** 2))
        printed = np.sqrt(np.mean((ratio * flat_mean(l, n, d) - 1) ** 2))
        return {"l": l, "share": l / n, "rms_relative_bias": rms, "rms_relative_bias_of_A": printed}

    def _judge(self, frame, density, broken):
        d = density.d
        slope = slope_interval(frame, "rms_relative_bias", "share")
        of_A = slope_interval(frame, "rms_relative_bias_of_A", "share")
        verdict = "holds" if slope.low > 1.5 / d else "refuted" if slope.high < 1.5 / d else "undecided"
        return (
            verdict,
            f"The relative bias of E D_(l) goes as l/m to the power {slope} (2/d = {2 / d:.3g}, printed "
            f"1/d = {1 / d:.3g}); against A(x), with the moment factor left in, {of_A}.",
            [("slope", slope, 2 / d), ("slope against A(x)", of_A, 2 / d)],
        )


def log_tail(l, m, delta, *, lower):
    """Exact ln P{D_(l) < r((1 - delta) l/m)} (lower) or ln P{D_(l) > r((1 + delta) l/m)} (upper).

    The first is P{Bin(m, (1 - delta) l/m) >= l}, the second P{Bin(m, (1 + delta) l/m) < l}.
    """
    law = stats.binom(m, (1 - delta if lower else 1 + delta) * l / m)
    return float(law.logsf(l - 1) if lower else law.logcdf(l - 1))


class _Tail(Claim):
    location = "Appendix, proof of Lemma 2, bounds on P{D_(l) > r_1} and below"
    assumes = "a density; the tails do not depend on which"
    ladder = "number m of points"
    ns = (10_000, 100_000, 1_000_000)
    repetitions = 1
    fewest = 1
    sizes = 1
    smallest = 100
    deltas = (0.1, 0.2, 0.3, 0.4)

    def _measure(self, density, n, rng, broken):
        rows = []
        for l in (round(n**0.5), round(n**0.6), round(n**0.7)):
            for delta in self.deltas:
                log_p, log_bound = self._sides(l, n, delta, broken)
                rows.append({"l": l, "delta": delta, "log_p": log_p, "log_bound": log_bound})
        return rows

    def _judge(self, frame, density, broken):
        finite = frame[np.isfinite(frame["log_p"])]  # below exp(-745) a probability is 0 in double precision
        excess = finite["log_p"] - finite["log_bound"]
        worst = finite.loc[excess.idxmax()]
        verdict = "refuted" if excess.max() > 1e-6 * abs(worst["log_bound"]) else "holds"
        return (
            verdict,
            f"Exact, no sampling: at m = {worst['n']:.0f}, l = {worst['l']:.0f}, delta = {worst['delta']:g}, "
            f"where it is nearest to failing or fails most, ln P = {worst['log_p']:.4g} and the bound is "
            f"{worst['log_bound']:.4g}.",
            [("largest ln P - ln bound", Interval(*[float(excess.max())] * 3), 0.0)],
        )


class Lemma2Tail(_Tail):
    """The lower tail with its constant right."""

    name = "lemma_2_tail"
    statement = "P{D_(l) < r(x, (1 - delta) l/m)} <= exp(-delta^2 l / (2 - delta)) (corrected)"
    refuted_if = "the exact probability exceeded the bound anywhere on the grid of m, l, delta"
    broken_by = "the bound as printed, exp(-delta^2 l / (2 (1 - delta)))"

    def _sides(self, l, m, delta, broken):
        scale = 2 * (1 - delta) if broken else 2 - delta
        return log_tail(l, m, delta, lower=True), -(delta**2) * l / scale


class Lemma2TailPrinted(_Tail):
    """The lower tail as printed, by analogy with the upper one; false."""

    name = "lemma_2_tail_printed"
    statement = "P{D_(l) < r(x, (1 - delta) l/m)} <= exp(-delta^2 l / (2 (1 - delta))) (as printed)"
    refuted_if = "the exact probability exceeded the bound somewhere on the grid of m, l, delta"
    broken_by = "the upper tail, exp(-delta^2 l / (2 (1 + delta))), which print has right"
    expected = "refuted"

    def _sides(self, l, m, delta, broken):
        sign = 1 if broken else -1
        return log_tail(l, m, delta, lower=not broken), -(delta**2) * l / (2 * (1 + sign * delta))
