import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from workbench import densities
from workbench.theorems import distances, ranks, surrogates
from workbench.theorems.balls import BallMass, unit_ball
from workbench.theorems.statistics import (
    Interval,
    alarm_pit,
    mean_interval,
    proportion_interval,
    slope_interval,
    uniformity,
    verdict_of_decline,
    verdict_of_laws,
)


def gaussian(d):
    return densities.GaussianMixture([1.0], [np.zeros(d)], [np.eye(d)])


def test_mean_interval_is_the_t_interval(rng):
    values = rng.normal(2, 3, 12)
    limits = stats.ttest_1samp(values, 0).confidence_interval(0.99)
    assert mean_interval(values) == pytest.approx((values.mean(), limits.low, limits.high))


def test_mean_interval_covers_as_often_as_it_says(rng):
    intervals = [mean_interval(values, 0.9) for values in rng.normal(1, 1, (2000, 4))]
    covered = sum(low < 1 < high for _, low, high in intervals)
    assert stats.binomtest(covered, 2000, 0.9).pvalue > 1e-4


def test_slope_of_a_power_law(rng):
    n = np.tile([10, 100, 1000], 4)
    frame = pd.DataFrame({"n": n, "repetition": np.repeat(range(4), 3), "y": 7 * n**-0.3})
    assert slope_interval(frame, "y") == pytest.approx((-0.3, -0.3, -0.3))
    with pytest.raises(ValueError, match="positive and finite"):
        slope_interval(frame.assign(y=0.0), "y")


def test_slopes_are_one_a_repetition():
    frame = pd.DataFrame({"n": [1, 10, 1, 10], "repetition": [0, 0, 1, 1], "y": [1, 10, 1, 1000]})
    expected = mean_interval([1.0, 3.0])
    assert slope_interval(frame, "y") == pytest.approx(expected)


@pytest.mark.parametrize(("count", "total"), [(0, 60), (3, 60), (60, 60)])
def test_proportion_interval_is_clopper_and_pearsons(count, total):
    interval = proportion_interval(count, total, 0.98)
    low = stats.beta.ppf(0.01, count, total - count + 1) if count else 0
    high = stats.beta.ppf(0.99, count + 1, total - count) if count < total else 1
    assert interval == pytest.approx((count / total, low, high))


def test_alarm_pit_is_uniform_under_the_beta_law_only(rng):
    rates = np.sort(rng.random((600, 40)), axis=1)
    for order, uniform in ((2, True), (3, False)):
        counts = rng.binomial(50, rates[:, order - 1])
        p = uniformity([alarm_pit(count, 50, 2, 40, rng) for count in counts])
        assert p > 1e-3 if uniform else p < 1e-6


def test_alarm_pit_stays_within_its_step(rng):
    law = stats.betabinom(30, 2, 9)
    for count in (0, 4, 30):
        assert law.cdf(count - 1) <= alarm_pit(count, 30, 2, 10, rng) <= law.cdf(count) + 1e-12


@pytest.mark.parametrize(
    ("claimed", "other", "verdict"),
    [
        ([0.5, 0.4], [1e-9, 0.5], "holds"),
        ([0.5, 0.4], [0.3, 0.5], "undecided"),
        ([0.5, 0.004], [1e-9, 0.5], "refuted"),
        ([0.5, 0.006], [1e-9, 0.5], "holds"),  # Bonferroni: 0.01 for two sizes together
    ],
)
def test_verdict_of_laws(claimed, other, verdict):
    assert verdict_of_laws(claimed, other) == verdict


@pytest.mark.parametrize(("d", "accuracy"), [(1, 1e-9), (2, 3e-4), (5, 0.02)])
def test_mass_of_a_ball_under_a_gaussian(d, accuracy):
    x = np.full(d, 0.6)
    ball = BallMass(gaussian(d), x, 0.3)
    law = stats.ncx2(d, np.sum(x**2))
    radii = np.sqrt(law.ppf([0.001, 0.01, 0.1, 0.3]))
    mass = ball.mass(radii)
    assert mass == pytest.approx([0.001, 0.01, 0.1, 0.3], rel=accuracy)
    assert ball.radius_of_flat(mass) * ball.ratio(mass) == pytest.approx(radii, rel=1e-5)


@pytest.mark.parametrize("d", [2, 5])
def test_first_departure_of_the_mass_is_the_laplacians(d):
    x = np.full(d, 0.2)
    ball, r = BallMass(gaussian(d), x, 0.1), 0.02
    departure = ball.mass([r])[0] / (unit_ball(d) * ball.f * r**d) - 1
    assert departure == pytest.approx(r**2 * (np.sum(x**2) - d) / (2 * (d + 2)), rel=1e-3)


def test_unit_ball():
    assert [unit_ball(d) for d in (1, 2, 3)] == pytest.approx([2, np.pi, 4 * np.pi / 3])


@pytest.mark.parametrize(("l", "m", "d"), [(1, 5, 1), (3, 50, 2), (7, 20, 5)])
def test_flat_mean_is_the_moment_of_the_beta_law(l, m, d):
    law = stats.beta(l, m + 1 - l)
    moment = integrate.quad(lambda p: law.pdf(p) * p ** (1 / d), 0, 1)[0]
    assert distances.flat_mean(l, m, d) == pytest.approx(moment / (l / m) ** (1 / d))


def test_tails_are_binomial_and_as_noted():
    m, l, delta = 200, 15, 0.2
    k = np.arange(m + 1)
    lower = stats.binom.pmf(k, m, 0.8 * l / m)[l:].sum()
    upper = stats.binom.pmf(k, m, 1.2 * l / m)[:l].sum()
    assert distances.log_tail(l, m, delta, lower=True) == pytest.approx(np.log(lower))
    assert distances.log_tail(l, m, delta, lower=False) == pytest.approx(np.log(upper))
    assert distances.log_tail(1000, 10**6, 0.3, lower=True) == pytest.approx(-59.9, abs=0.05)


def test_tails_against_simulation(rng):
    m, l, delta, repetitions = 400, 20, 0.2, 20_000
    P = rng.beta(l, m + 1 - l, repetitions)  # the mass of the ball that reaches to D_(l)
    for lower, hits in ((True, 0.8 * l / m > P), (False, 1.2 * l / m < P)):
        p = np.exp(distances.log_tail(l, m, delta, lower=lower))
        assert stats.binomtest(int(hits.sum()), repetitions, p).pvalue > 1e-4


@pytest.mark.parametrize("l", [1, 2, 5, 8])
def test_statistic_of_the_appendix_by_loops(l, rng):
    D, queries = rng.normal(size=(15, 3)), rng.normal(size=(4, 3))
    first, last = l - (l - 1) // 2, l + l // 2
    assert last - first + 1 == l  # l terms, as its factor 1/l says
    for query, value in zip(queries, ranks.weighted_statistic(D, queries, l), strict=True):
        sorted_distances = np.sort([np.linalg.norm(y - query) for y in D])
        terms = [(l / i) ** (1 / 3) * sorted_distances[i - 1] for i in range(first, last + 1)]
        assert value == pytest.approx(sum(terms) / l)


def test_rates():
    assert ranks.rate(1 / 2, 2) == pytest.approx(-1 / 4)
    assert ranks.rate(2 / 3, 2) == pytest.approx(-1 / 3)
    best = max((-ranks.rate(kappa, 3), kappa) for kappa in np.linspace(0, 1, 7001))[1]
    assert best == pytest.approx(4 / (3 + 4), abs=1e-3)


@pytest.mark.parametrize("c", [0.5, 1, 4, 100])
def test_risk_of_uniform_scores(c):
    def inner(t):
        return max(0, 1 - c * t) * 2 * (1 - t)  # |U - V| has density 2 (1 - t)

    expected = integrate.quad(inner, 0, min(1, 1 / c))[0]
    assert surrogates.uniform_risk(c) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.3, -0.2, "holds"),
        (-0.05, 0.05, "refuted"),
        (0.01, 0.05, "refuted"),
        (-0.08, -0.02, "undecided"),  # declines, but slowly
        (-0.3, -0.05, "undecided"),
        (-0.3, 0.3, "undecided"),
    ],
)
def test_verdict_of_decline(low, high, verdict):
    assert verdict_of_decline(Interval((low + high) / 2, low, high), -0.1) == verdict
