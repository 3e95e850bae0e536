import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from workbench import bounds, pvalues
from workbench.bounds.order_statistics import LARGEST_PLAIN_L, METHODS, upper_limit

NOTED_N = (200, 600, 1000, 2000)


def draws(repetitions, n, seed=0):
    return np.sort(np.random.default_rng(seed).random((repetitions, n)), axis=1)


def share_and_error(broken, delta):
    return np.mean(broken), 3.5 * np.sqrt(delta * (1 - delta) / len(broken))


# The order statistic that a level stands for


@given(st.floats(0.0005, 0.9995), st.integers(1, 3000), st.booleans())
def test_order_is_the_threshold_of_the_p_values(alpha, n, split):
    m = bounds.order(alpha, n, split=split)
    expected = pvalues.threshold(np.arange(1.0, n + 1), alpha, split=split)
    assert m == (0 if expected == -np.inf else expected)


@pytest.mark.parametrize("n", [1, 7, 100, 1000, 12345])
@pytest.mark.parametrize("split", [False, True])
def test_order_at_every_attainable_level(n, split):
    scores = np.arange(1.0, n + 1)
    p = pvalues.p_value(scores, scores, split=split)
    for alpha in p[(p > 0) & (p < 1)][:: max(1, n // 50)]:
        for near in (alpha, np.nextafter(alpha, 0), np.nextafter(alpha, 1)):
            threshold = pvalues.threshold(scores, near, split=split)
            assert bounds.order(near, n, split=split) == max(threshold, 0)


def test_order_in_words():
    assert bounds.order(0.05, 200) == 11  # floor(alpha n) + 1
    assert bounds.order(0.05, 200, split=True) == 10  # floor(alpha (n + 1))
    assert bounds.order(0.29, 100) == 30  # 0.29 * 100 is 28.999999999999996
    assert bounds.order(0.05, 18, split=True) == 0
    for alpha in np.linspace(0.01, 0.99, 99):
        assert bounds.order(alpha, 37) - bounds.order(alpha, 37, split=True) in (0, 1)


# One m


@given(st.integers(1, 400), st.data(), st.floats(1e-6, 0.999))
def test_clopper_pearson_inverts_the_binomial(n, data, delta):
    m = data.draw(st.integers(1, n))
    assert stats.binom.cdf(m - 1, n, bounds.clopper_pearson(m, n, delta)) == pytest.approx(delta, rel=1e-6)


def test_clopper_pearson_closed_forms():
    assert bounds.clopper_pearson(1, 50, 0.05) == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-12)
    assert bounds.clopper_pearson(50, 50, 0.05) == pytest.approx(0.95 ** (1 / 50), rel=1e-12)
    limits = bounds.clopper_pearson(np.arange(1, 51), 50, 0.05)
    truth = stats.binomtest(9, 50).proportion_ci(0.90, "exact").high  # two-sided 90% is one-sided 95%
    assert limits[9] == pytest.approx(truth, rel=1e-9)
    assert np.ndim(bounds.clopper_pearson(3, 50, 0.05)) == 0


def log_tail(m, n, u):
    """Logarithm of P{Bin(n, u) <= m - 1}, summed over its terms."""
    return special.logsumexp(stats.binom.logpmf(np.arange(m), n, u))


@pytest.mark.parametrize("n", [1, 2, 13, 1000, 20_000])
@pytest.mark.parametrize("L", [LARGEST_PLAIN_L, LARGEST_PLAIN_L * (1 + 1e-9), 400.0, 3640.0])
def test_quantiles_far_in_the_tail(n, L):
    for m in sorted({1, 1 + n // 20, 1 + n // 2, n}):
        u = upper_limit(m, n, L)
        slack = 1e-12 * u + 1e-15  # where u rounds to 1 the tail is known between its neighbours only
        assert log_tail(m, n, u - slack) >= -L * (1 + 1e-7)
        if u < 1 - 1e-9:
            assert log_tail(m, n, u) == pytest.approx(-L, rel=1e-6)


def test_quantiles_where_the_library_is_wrong():
    """The reason for a method of our own: at exp(-600) scipy's inverse is off, and in places NaN."""
    m, n, L = 39, 1000, 600.0
    assert log_tail(m, n, upper_limit(m, n, L)) == pytest.approx(-L, rel=1e-9)
    assert np.isfinite(bounds.clopper_pearson(np.arange(1, 1001), 1000, 1e-250)).all()


def test_both_ways_to_the_quantile_agree(monkeypatch):
    m = np.arange(1, 2001)[::7]
    plain = upper_limit(m, 2000, 20.0)
    monkeypatch.setattr("workbench.bounds.order_statistics.LARGEST_PLAIN_L", 1.0)
    np.testing.assert_allclose(upper_limit(m, 2000, 20.0), plain, rtol=1e-10)


def test_false_alarms_follow_the_beta_law():
    n, m = 60, 7
    rates = draws(4000, n)[:, m - 1]
    assert stats.kstest(rates, bounds.beta_law(m, n).cdf).pvalue > 0.01
    assert stats.kstest(rates, bounds.beta_law(m + 1, n).cdf).pvalue < 1e-6  # the test can tell its neighbour
    assert bounds.beta_law(m, n).mean() == pytest.approx(m / (n + 1))


# All m at once: exact coverage


@pytest.mark.parametrize("n", [1, 2, 3, 10, 51, 200, 1001])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.4])
def test_simes_and_ell_are_exact(n, delta):
    assert bounds.exceedance_probability(bounds.simes(n, delta)) == pytest.approx(delta, rel=1e-8)
    assert bounds.exceedance_probability(bounds.ell(n, delta)) == pytest.approx(delta, rel=1e-8)


def test_ell_at_five_thousand_and_at_a_tiny_delta():
    assert bounds.exceedance_probability(bounds.ell(5000, 0.05)) == pytest.approx(0.05, rel=1e-8)
    tiny = bounds.ell_level(300, 1e-15)
    assert 1e-15 / 300 < tiny < 1e-15
    assert bounds.ell_level(300, 1e-15) < bounds.ell_level(300, 1e-14)


def test_ell_of_two_by_hand():
    """b_1 = 1 - sqrt(eta), b_2 = sqrt(1 - eta): P{stay} = 2 b_1 b_2 - b_1^2."""
    eta = bounds.ell_level(2, 0.1)
    b = 1 - np.sqrt(eta), np.sqrt(1 - eta)
    assert 2 * b[0] * b[1] - b[0] ** 2 == pytest.approx(0.9, rel=1e-10)
    np.testing.assert_allclose(bounds.ell(2, 0.1), b, rtol=1e-12)


def test_simes_term_by_term():
    n, k, delta = 9, 4, 0.07
    limits = bounds.simes(n, delta)
    for i in range(1, n + 1):
        ratio = np.prod([(i - j) / (n - j) for j in range(k)]) if i >= k else 0
        assert limits[n - i] == pytest.approx(1 - (delta * ratio) ** (1 / k), rel=1e-12)
    assert bounds.simes(1, delta)[0] == pytest.approx(1 - delta)


@pytest.mark.parametrize("n", [1, 5, 50, 1000])
@pytest.mark.parametrize("delta", [0.01, 0.2, 0.5, 0.9])
def test_dkw_covers(n, delta):
    assert bounds.exceedance_probability(bounds.upper_limits(n, delta, "dkw")) <= min(delta, 0.5) * (1 + 1e-9)


# Coverage, simulated


@pytest.mark.parametrize("method", METHODS)
def test_coverage(method):
    n, m, delta = 80, 6, 0.1
    U = draws(6000, n)
    limits = bounds.upper_limits(n, delta, method)
    broken = U[:, m - 1] > limits[m - 1] if method == "clopper_pearson" else (limits < U).any(axis=1)
    share, error = share_and_error(broken, delta)
    assert share < delta + error
    if method != "dkw":
        assert share > delta - error  # exact
        assert np.mean((bounds.upper_limits(n, 2 * delta, method) < U).any(axis=1)) > delta + error  # control


def test_clopper_pearson_does_not_cover_all_m_at_once():
    share, error = share_and_error((draws(4000, 80) > bounds.upper_limits(80, 0.1)).any(axis=1), 0.1)
    assert share > 0.1 + 10 * error


@pytest.mark.parametrize("method", METHODS)
def test_coverage_with_ties(method):
    """Scores on a grid of ten values: P{s < s^(m)} is the value below."""
    n, m, delta = 80, 6, 0.1
    rates = np.floor(10 * draws(4000, n)) / 10
    limits = bounds.upper_limits(n, delta, method)
    broken = rates[:, m - 1] > limits[m - 1] if method == "clopper_pearson" else (rates > limits).any(axis=1)
    share, error = share_and_error(broken, delta)
    assert share < delta + error


# Numbers worked out before


def test_noted_values():
    """Split rule at alpha = .05, delta = .05: m = floor(alpha (n + 1)) = alpha n."""
    noted = {
        "clopper_pearson": (0.0772, 0.0653, 0.0618, 0.0582),
        "simes": (0.0899, 0.0763, 0.0735, 0.0715),
        "ell": (0.1046, 0.0804, 0.0732, 0.0662),
        "dkw": (0.1315, 0.0983, 0.0877, 0.0769),
    }
    for method, values in noted.items():
        for n, value in zip(NOTED_N, values, strict=True):
            m = bounds.order(0.05, n, split=True)
            assert bounds.upper_limits(n, 0.05, method)[m - 1] == pytest.approx(value, abs=6e-5)
    levels = [bounds.ell_level(n, 0.05) for n in NOTED_N]
    np.testing.assert_allclose(levels, [0.00192, 0.00139, 0.00122, 0.00104], atol=6e-6)


@pytest.mark.parametrize(
    ("method", "noted"),
    [
        ("clopper_pearson", (5, 21, 39, 84)),
        ("simes", (4, 18, 32, 68)),
        ("ell", (2, 15, 30, 71)),
        ("dkw", (0, 1, 12, 46)),
    ],
)
def test_largest_order_that_guarantees_five_per_cent(method, noted):
    assert tuple(bounds.largest_order(n, 0.05, 0.05, method) for n in NOTED_N) == noted


@given(st.integers(1, 60), st.floats(0.01, 0.99), st.floats(0.01, 0.5), st.sampled_from(METHODS))
def test_largest_order_is_the_largest(n, target, delta, method):
    m, limits = bounds.largest_order(n, target, delta, method), bounds.upper_limits(n, delta, method)
    assert (limits[:m] <= target).all()
    assert (limits[m:] > target).all()
    assert (np.diff(limits) >= 0).all()


def test_levels_that_give_the_largest_order():
    n = 600
    m = bounds.largest_order(n, 0.05, 0.05)
    assert bounds.order((m - 1) / n, n) == m
    assert bounds.order(m / (n + 1), n, split=True) == m


# What is refused


@pytest.mark.parametrize("m", [0, 11, -1, 2.0, "3", None, True, np.nan, [1, 11]])
def test_bad_order(m):
    with pytest.raises(ValueError, match="m must be the 1-based place of the threshold among n=10"):
        bounds.clopper_pearson(m, 10, 0.05)


@pytest.mark.parametrize("n", [0, -3, 2.5, None, True, np.inf])
def test_bad_n(n):
    with pytest.raises(ValueError, match="n must be an integer of at least 1, got"):
        bounds.simes(n, 0.05)


@pytest.mark.parametrize("delta", [0, 1, -0.1, np.nan, np.inf, "5%", None, True])
@pytest.mark.parametrize("method", METHODS)
def test_bad_delta(method, delta):
    with pytest.raises(ValueError, match="delta must be a number strictly between 0 and 1, got"):
        bounds.upper_limits(10, delta, method)


def test_other_refusals():
    with pytest.raises(ValueError, match="alpha must be a number strictly between 0 and 1, got 5"):
        bounds.order(5, 10)
    with pytest.raises(ValueError, match="target must be a number strictly between"):
        bounds.largest_order(10, 1.0, 0.05)
    with pytest.raises(ValueError, match="method must be one of clopper_pearson, dkw, ell, simes, got 'cp'"):
        bounds.largest_order(10, 0.1, 0.05, "cp")
    with pytest.raises(ValueError, match="delta must be at least 1e-30 for ELL, got 1e-40"):
        bounds.ell(10, 1e-40)


def test_every_public_name_exists_and_is_documented():
    for room in pkgutil.iter_modules(bounds.__path__):
        import_module(f"workbench.bounds.{room.name}")  # a room must not hide a function of its name
    for name in bounds.__all__:
        assert callable(getattr(bounds, name))
        assert inspect.getdoc(getattr(bounds, name))
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        bounds.missing  # noqa: B018
