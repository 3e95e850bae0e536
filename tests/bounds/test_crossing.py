from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workbench.bounds import exceedance_probability


def exact(limits):
    """By integration: G_n(x) = b_n - x, G_j(x) = int_x^b_j G_{j+1}, P{stay} = n! G_1(0)."""
    n = len(limits)
    polynomial = [Fraction(1)]  # coefficients in x
    for b in reversed(limits):
        integral = [Fraction(0), *(c / (k + 1) for k, c in enumerate(polynomial))]
        at_b = sum(c * b**k for k, c in enumerate(integral))
        polynomial = [at_b, *(-c for c in integral[1:])]
    return 1 - factorial(n) * polynomial[0]


@given(st.lists(st.integers(0, 64), min_size=1, max_size=9))
def test_against_exact_integration(numerators):
    limits = sorted(Fraction(k, 64) for k in numerators)
    truth = float(exact(limits))
    assert exceedance_probability([float(b) for b in limits]) == pytest.approx(truth, rel=1e-11)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_small_probabilities_keep_their_relative_accuracy(n):
    limits = [1 - Fraction(1, 10**6) ** (n + 1 - j) * Fraction(n + 1 - j, n + 1) for j in range(1, n + 1)]
    rounded = [Fraction(float(b)) for b in limits]  # exactly what the function is given
    assert 0 < exact(rounded) < 1e-5
    assert exceedance_probability([float(b) for b in limits]) == pytest.approx(
        float(exact(rounded)), rel=1e-9
    )


def test_closed_forms():
    assert exceedance_probability([1.0, 1.0]) == 0
    assert exceedance_probability([2.0]) == 0
    assert exceedance_probability([0.3]) == pytest.approx(0.7, rel=1e-14)
    assert exceedance_probability([-0.1, 1.0]) == 1
    assert exceedance_probability([0.0, 1.0]) == pytest.approx(1)
    n, b = 3000, 0.001
    assert exceedance_probability([b] + [1.0] * (n - 1)) == pytest.approx((1 - b) ** n, rel=1e-10)
    last = np.r_[np.full(n - 1, 1.0), 1 - b / n]
    assert exceedance_probability(last) == pytest.approx(-np.expm1(n * np.log1p(-b / n)), rel=1e-9)


def test_a_later_smaller_limit_counts_for_earlier_ones():
    assert exceedance_probability([0.9, 0.5]) == pytest.approx(exceedance_probability([0.5, 0.5]))


@pytest.mark.parametrize("n", [1, 2, 30, 300, 5000])
@pytest.mark.parametrize("c", [0.2, 1.2, 3.0])
def test_one_sided_kolmogorov_statistic(n, c):
    """b_j = (j - 1)/n + c/sqrt(n) is P{D_n^- > c/sqrt(n)}, which scipy knows."""
    limits = np.arange(n) / n + c / np.sqrt(n)
    truth = stats.ksone.sf(c / np.sqrt(n), n) if c < np.sqrt(n) else 0
    assert exceedance_probability(limits) == pytest.approx(truth, rel=1e-9)


def test_curved_limits_against_simulation():
    n, repetitions = 300, 4000
    limits = (np.arange(1, n + 1) / n) ** 0.8 + 0.01
    broken = (np.sort(np.random.default_rng(0).random((repetitions, n)), axis=1) > limits).any(axis=1)
    p = exceedance_probability(limits)
    assert abs(broken.mean() - p) < 4 * np.sqrt(p * (1 - p) / repetitions)
    assert abs(broken.mean() - exceedance_probability(limits - 0.005)) > 5 * np.sqrt(
        p * (1 - p) / repetitions
    )


@pytest.mark.parametrize("limits", [[], [[0.5]], [0.2, np.nan]])
def test_bad_limits(limits):
    with pytest.raises(ValueError, match="limits must be n numbers without NaN, got"):
        exceedance_probability(limits)
