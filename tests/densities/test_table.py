"""The numerical law of f(Z), which any density falls back on, against closed forms."""

import numpy as np
import pytest
from oracles import Square, ThroughItsBox
from scipy import stats

from workbench.densities import FIG1, FIG2, RING, SQUARE, GaussianMixture, Ring, StudentT
from workbench.densities.base import CELLS
from workbench.densities.levels import LevelTable

ALPHAS = np.array([1e-3, 0.01, 0.05, 0.1, 0.3, 0.5, 0.8, 0.95, 0.99])
LINE = GaussianMixture([0.3, 0.7], [[0.0], [4.0]], [[[1.0]], [[2.0]]])
NESTED = GaussianMixture([0.5, 0.5], [[0, 0], [0, 0]], [np.eye(2), 9 * np.eye(2)])
TAILED = StudentT(8.0, [1.0, -2.0], [[2.0, 0.5], [0.5, 1.0]])


class Disc(Square):
    """Uniform on the unit disc: f falls to zero inside the box."""

    def logpdf(self, X):
        return np.where(np.square(X).sum(axis=1) <= 1, -np.log(np.pi), -np.inf)


class Pyramid(Square):
    """f(x) = 3/4 (1 - max|x_j|) on [-1, 1]^2: {f >= c} is a square, and u = 1 - 4c/3 its half side."""

    def logpdf(self, X):
        with np.errstate(divide="ignore"):
            return np.log(0.75) + np.log(np.maximum(1 - np.abs(X).max(axis=1), 0))


@pytest.mark.parametrize("density", [FIG1, FIG2, LINE])
def test_gaussians(density):
    X = density.sample(500, random_state=2)
    boxed = ThroughItsBox(density)
    np.testing.assert_allclose(boxed.p_value(X), density.p_value(X), atol=2e-4)
    np.testing.assert_allclose(boxed.volume(ALPHAS), density.volume(ALPHAS), rtol=2e-4)
    with pytest.raises(ValueError, match=r"holds mass 0\.\d+ instead of 1: widen the bounds"):
        ThroughItsBox(density, density.bounds() / 4).p_value(X)


def test_student():
    X = TAILED.sample(2000, random_state=2)
    boxed = ThroughItsBox(TAILED)
    np.testing.assert_allclose(boxed.p_value(X), TAILED.p_value(X), atol=1e-3)
    np.testing.assert_allclose(boxed.volume(ALPHAS), TAILED.volume(ALPHAS), rtol=1e-3)
    np.testing.assert_allclose(boxed.level(ALPHAS), TAILED.level(ALPHAS), rtol=1e-3)


@pytest.mark.parametrize("density", [RING, Ring(1.0, 2.0)])
def test_ring(density):
    """On the crest of a ridge p is good only to the mass of a row of cells."""
    X = density.sample(2000, random_state=2)
    boxed = ThroughItsBox(density)
    p, truth = boxed.p_value(X), density.p_value(X)
    np.testing.assert_allclose(p[truth < 0.95], truth[truth < 0.95], atol=2e-4)
    np.testing.assert_allclose(p, truth, atol=5e-3)
    np.testing.assert_allclose(boxed.volume(ALPHAS), density.volume(ALPHAS), rtol=1e-3)
    np.testing.assert_allclose(boxed.level(ALPHAS), density.level(ALPHAS), rtol=1e-3)


def test_pyramid():
    """The mass beyond half side u is the integral of 8 u 3/4 (1 - u): 1 - 3 u^2 + 2 u^3."""
    u = np.linspace(0, 1, 200)
    density = Pyramid()
    truth = 1 - 3 * u**2 + 2 * u**3
    np.testing.assert_allclose(density.p_value(np.column_stack([u, u / 3])), truth, atol=3e-4)
    some = slice(20, -20)
    np.testing.assert_allclose(density.volume(truth[some]), 4 * u[some] ** 2, rtol=1e-3)
    np.testing.assert_allclose(density.level(truth[some]), 0.75 * (1 - u[some]), rtol=2e-3)


@pytest.mark.parametrize("density", [Square(), Disc()])
def test_uniform(density):
    area = 1 / density.pdf(np.zeros((1, 2)))[0]
    np.testing.assert_array_equal(density.p_value([[0.0, 0.0], [-0.5, 0.7], [1.5, 0.0]]), [1, 1, 0])
    assert density.volume(0.25) == pytest.approx(0.75 * area, rel=1e-3)
    assert density.level(0.25) == pytest.approx(1 / area, rel=1e-6)


def test_uniform_square_by_both_ways():
    boxed = ThroughItsBox(SQUARE, [SQUARE.lower, SQUARE.upper])
    X = SQUARE.sample(100, random_state=0) * 1.3
    np.testing.assert_array_equal(boxed.p_value(X), SQUARE.p_value(X))
    np.testing.assert_allclose(boxed.volume(ALPHAS), SQUARE.volume(ALPHAS), rtol=1e-6)
    np.testing.assert_allclose(boxed.level(ALPHAS), SQUARE.level(ALPHAS), rtol=1e-8)


@pytest.mark.parametrize(
    "density", [StudentT(3.0, np.zeros(3), np.diag([1.0, 4.0, 9.0])), StudentT(6.0, np.zeros(5), np.eye(5))]
)
def test_monte_carlo_within_its_standard_error(density):
    drawn = ThroughItsBox(density)
    X = density.sample(300, random_state=1)
    p, error = drawn.p_value(X, return_error=True)
    assert np.abs((p - density.p_value(X)) / np.maximum(error, 1e-5)).max() < 5
    assert 1e-4 < error.max() < 2e-3
    volume, error = drawn.volume(ALPHAS, return_error=True)
    assert np.abs((volume - density.volume(ALPHAS)) / error).max() < 5


@pytest.mark.parametrize("density", [FIG1, NESTED, LINE])
def test_quadrature_error_is_small_and_honest(density):
    X = density.sample(3000, random_state=2)
    p, error = density.p_value(X, return_error=True)
    fine = LevelTable(*density._cells(3 * CELLS, 0)).mass_below(density.logpdf(X))
    assert np.abs(p - fine).max() < 5e-5
    assert np.abs(p - fine).max() < error.max() < 2e-4
    volume, error = density.volume(ALPHAS, return_error=True)
    assert (error < 1e-5 * volume).all()
    assert density.level(0.05, return_error=True)[1] < 1e-4 * density.level(0.05)


def test_quadrature_error_is_honest_on_a_ridge():
    X = RING.sample(3000, random_state=2)
    p, error = ThroughItsBox(RING).p_value(X, return_error=True)
    truth = RING.p_value(X)
    for below in (0.1, 0.5, 0.9, 1.0):
        assert np.abs(p - truth)[truth < below].max() < 1.5 * error[truth < below].max()


def test_a_wrong_law_is_found_out():
    """The comparisons above can fail: a ring a hundredth too wide is no match."""
    X = RING.sample(2000, random_state=2)
    wider = Ring(RING.radius, 1.01 * RING.width)
    p, truth = ThroughItsBox(RING).p_value(X), wider.p_value(X)
    assert np.abs(p - truth)[truth < 0.95].max() > 2e-3
    assert stats.kstest(ThroughItsBox(RING).p_value(RING.sample(20_000, 3)), "uniform").pvalue > 0.01
