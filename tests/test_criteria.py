"""Criteria against closed forms, and what they must not be fooled by."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from workbench import criteria

SCORES = arrays(float, st.integers(1, 12), elements=st.integers(-3, 3).map(float))


@given(SCORES, SCORES)
def test_separation_pair_by_pair(nominal, anomalous):
    expected = np.mean([(a > b) + (a == b) / 2 for a in nominal for b in anomalous])
    assert criteria.separation(nominal, anomalous) == pytest.approx(expected)


@given(SCORES, SCORES)
def test_monotone_transforms_change_nothing(nominal, other):
    for criterion in (criteria.separation, criteria.mass_volume, criteria.excess_mass):
        assert criterion(nominal, other) == criterion(nominal**3 + 7, other**3 + 7)


def test_volumes_of_a_gaussian_in_closed_form():
    """On [-5, 5] the set of mass alpha of N(0, 1) is |x| <= z, z the (1 + alpha) / 2 quantile."""
    x = stats.norm.ppf((np.arange(5000) + 0.5) / 5000)
    u = np.linspace(-5, 5, 20_001)
    z = stats.norm.ppf((1 + criteria.MASSES) / 2)
    assert criteria.mass_volume(-np.abs(x), -np.abs(u)) == pytest.approx(np.mean(2 * z / 10), abs=1e-3)

    # EM(t) = P{|x| <= z} - t 2 z / 10 at z with 10 phi(z) = t, down to 0.9.
    t = np.linspace(0.01, 10 * stats.norm.pdf(0), 100_000)
    edge = np.sqrt(2 * np.log(stats.norm.pdf(0) * 10 / t))
    excess = 2 * stats.norm.cdf(edge) - 1 - t * 2 * edge / 10
    keep = excess >= 0.9
    expected = np.trapezoid(excess[keep], t[keep]) + t[0] * (1 + excess[0]) / 2
    assert criteria.excess_mass(-np.abs(x), -np.abs(u)) == pytest.approx(expected, rel=0.02)


def test_a_wrong_score_does_worse_by_every_criterion(rng):
    x, u = rng.standard_normal(2000), rng.uniform(-5, 5, 2000)
    for good, bad in (((-np.abs(x), -np.abs(u)), (x, u)), ((-np.abs(x), -np.abs(u)), (np.abs(x), np.abs(u)))):
        assert criteria.separation(*good) > criteria.separation(*bad) + 0.1
        assert criteria.mass_volume(*good) < criteria.mass_volume(*bad) - 0.1
        assert criteria.excess_mass(*good) > 1.1 * criteria.excess_mass(*bad)


def test_constant_scores():
    flat = np.zeros(10)
    assert criteria.separation(flat, flat) == 0.5
    assert criteria.mass_volume(flat, flat) == 1.0
    assert criteria.excess_mass(flat, flat) == pytest.approx((1 + 0.9) / 2 * 0.1)  # EM(t) = 1 - t
    assert criteria.excess_mass(flat + 1, flat) == np.inf


def test_redrawn_points_keep_the_other_features(rng):
    X = rng.normal(size=(50, 8))
    made = criteria.redraw(X, 200, random_state=0)
    kept = np.array([(row == X).sum(axis=1).max() for row in made])
    np.testing.assert_array_equal(kept, 6)
    reach = 0.1 * np.ptp(X, axis=0)
    assert np.all((made >= X.min(axis=0) - reach) & (made <= X.max(axis=0) + reach))
    uniform = criteria.redraw(X, 5000, share=1.0, random_state=0)
    place = (uniform - X.min(axis=0) + reach) / (1.2 * np.ptp(X, axis=0))
    assert stats.kstest(place[:, 3], "uniform").pvalue > 1e-3
    assert np.all((criteria.redraw(X[:, :1], 20, random_state=0) == X[0]).sum(axis=1) <= 1)


def test_four_kinds_reproducible_and_unharmed_by_constants_and_scale(rng):
    X = np.c_[rng.normal(size=(30, 2)), np.full(30, 7.0)]
    made = criteria.synthetic_anomalies(X, 40, random_state=1)
    again = criteria.synthetic_anomalies(X, 40, random_state=1)
    assert set(made) == {"redrawn", "uniform", "permuted", "noise"}
    for kind, points in made.items():
        assert points.shape == (40, 3)
        assert points.tobytes() == again[kind].tobytes()
        np.testing.assert_allclose(points[:, 2], 7.0)
    assert all(np.isin(made["permuted"][:, j], X[:, j]).all() for j in range(3))
    for scale in (1e-200, 1e300):
        scaled = criteria.synthetic_anomalies(X * scale, 40, random_state=1)
        for kind, points in made.items():
            np.testing.assert_allclose(scaled[kind] / scale, points, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_bad_numbers(n):
    with pytest.raises(ValueError, match="n must be a whole number of anomalies"):
        criteria.redraw([[0.0], [1.0]], n)


def test_bad_input():
    with pytest.raises(ValueError, match=r"share must be .* got 0"):
        criteria.redraw([[0.0], [1.0]], 3, share=0)
    with pytest.raises(ValueError, match="contains NaN"):
        criteria.redraw([[np.nan], [1.0]], 3)
    for criterion in (criteria.separation, criteria.mass_volume, criteria.excess_mass):
        with pytest.raises(ValueError, match="at least one"):
            criterion([], [1.0])
        with pytest.raises(ValueError, match="1 values that are not finite"):
            criterion([1.0], [np.inf])
