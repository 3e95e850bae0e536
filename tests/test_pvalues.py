import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from workbench.pvalues import p_value, threshold

few_values = st.integers(0, 4).map(float)
calibrations = arrays(float, st.integers(1, 20), elements=few_values).map(np.sort)


@given(calibrations, arrays(float, 5, elements=few_values))
def test_p_values_count(calibration, g):
    n = len(calibration)
    counts = np.array([sum(c <= value for c in calibration) for value in g])
    np.testing.assert_array_equal(p_value(g, calibration), counts / n)
    np.testing.assert_array_equal(p_value(g, calibration, split=True), (1 + counts) / (n + 1))


@given(calibrations, st.floats(0.001, 0.999), st.booleans())
def test_alarm_if_and_only_if_p_at_most_alpha(calibration, alpha, split):
    g = np.concatenate([[-1.0, 9.0], calibration, calibration + 0.5])
    alarm = g < threshold(calibration, alpha, split=split)
    np.testing.assert_array_equal(alarm, p_value(g, calibration, split=split) <= alpha)


@pytest.mark.parametrize("n", [1, 7, 100, 1000, 12345])
@pytest.mark.parametrize("split", [False, True])
def test_alarm_agrees_with_p_at_every_attainable_alpha(n, split):
    """alpha = j / n as the computer rounds it: floor(alpha n) would often be j - 1."""
    calibration = np.arange(n, dtype=float)
    p = p_value(calibration, calibration, split=split)
    for alpha in p[p < 1][:: max(1, n // 200)]:
        np.testing.assert_array_equal(calibration < threshold(calibration, alpha, split=split), p <= alpha)


def test_threshold_is_the_order_statistic_of_the_paper():
    calibration = np.arange(1.0, 101)
    assert threshold(calibration, 0.05) == 6  # g^(floor(alpha n) + 1)
    assert threshold(calibration, 0.29) == 30  # 0.29 * 100 is 28.999999999999996
    assert threshold(calibration, 0.055) == 6
    assert threshold(np.arange(1.0, 100), 0.05, split=True) == 5  # floor(alpha (n + 1))
    assert threshold(np.arange(18.0), 0.05, split=True) == -np.inf  # 1 / 19 > alpha: no alarm is possible
    assert threshold(np.arange(19.0), 0.05, split=True) == 0.0


@given(
    calibrations,
    arrays(float, 5, elements=few_values),
    st.sampled_from([np.exp, np.arctan, lambda g: 3 * g - 7]),
)
def test_only_the_order_of_scores_matters(calibration, g, transform):
    np.testing.assert_array_equal(p_value(transform(g), transform(calibration)), p_value(g, calibration))


@given(st.floats(0.001, 0.998), st.integers(1, 30))
def test_more_alarms_at_a_larger_alpha(alpha, n):
    calibration = np.arange(n, dtype=float)
    assert threshold(calibration, alpha) <= threshold(calibration, alpha + 0.001)


def test_split_false_alarm_rate_follows_the_beta_law():
    """Given n_cal calibration scores the false-alarm rate of {g < j-th} is Beta(j, n_cal + 1 - j)."""
    rng = np.random.default_rng(0)
    n, alpha = 99, 0.1
    rates = [
        threshold(np.sort(rng.random(n)), alpha, split=True) for _ in range(3000)
    ]  # g uniform: P{g < t} = t
    j = 10
    assert stats.kstest(rates, stats.beta(j, n + 1 - j).cdf).pvalue > 0.01
    assert stats.kstest(rates, stats.beta(j + 1, n - j).cdf).pvalue < 1e-6  # the test can tell its neighbour


def test_split_p_values_are_valid_and_in_sample_ones_too_small():
    """P{p <= alpha} <= alpha holds with the +1 and fails without it."""
    rng = np.random.default_rng(0)
    alpha, n, repetitions = 0.12, 9, 20_000
    calibration = np.sort(rng.random((repetitions, n)), axis=1)
    g = rng.random(repetitions)
    alarms = {
        split: np.mean([p_value(x, c, split=split) <= alpha for x, c in zip(g, calibration, strict=True)])
        for split in (False, True)
    }
    error = 3 * np.sqrt(alpha * (1 - alpha) / repetitions)
    assert alarms[True] <= alpha + error
    assert alarms[True] == pytest.approx(0.1, abs=error)  # floor(alpha (n + 1)) / (n + 1)
    assert alarms[False] > alpha + error


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, np.nan, "5%", None, True])
def test_bad_alpha(alpha):
    with pytest.raises(ValueError, match="alpha must be a false-alarm level strictly between 0 and 1, got"):
        threshold(np.arange(3.0), alpha)
