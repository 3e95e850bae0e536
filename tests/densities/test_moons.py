from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from workbench.densities import MOONS, Density, GaussianMixture, TwoMoons
from workbench.densities.base import CELLS
from workbench.densities.levels import LevelTable

ALPHAS = np.array([1e-3, 0.01, 0.05, 0.3, 0.8])


def pdf_by_integral(density, x):
    """The arcs convolved with a Gaussian, by adaptive quadrature along each."""
    R, s = density.radius, density.width
    total = 0.0
    for sign in (1, -1):

        def along(theta, sign=sign):
            m = sign * R * np.array([np.cos(theta) - 0.5, np.sin(theta) - 0.25])
            return np.exp(-np.sum((x - m) ** 2) / (2 * s**2)) / (2 * np.pi * s**2)

        cuts = np.linspace(0, np.pi, 25)
        total += sum(integrate.quad(along, a, b, epsabs=0)[0] for a, b in pairwise(cuts))
    return total / (2 * np.pi)


@pytest.mark.parametrize("density", [MOONS, TwoMoons(2.0, 0.1), TwoMoons(1.0, 1.0), TwoMoons(1.0, 5.0)])
def test_density_is_the_blurred_arc(density):
    X = np.concatenate([density.sample(30, random_state=0), density.means[[0, 5, -1]] * 1.3])
    X = X[density.pdf(X) > 1e-6 * density.pdf(density.means).max()]
    assert len(X) > 25
    np.testing.assert_allclose(density.pdf(X), [pdf_by_integral(density, x) for x in X], rtol=1e-6)


def test_moons_are_alike_under_a_half_turn():
    X = MOONS.sample(200, random_state=0)
    np.testing.assert_allclose(MOONS.pdf(-X), MOONS.pdf(X), rtol=1e-12)
    np.testing.assert_allclose(MOONS.weights.sum(), 1)
    arcs = np.split(MOONS.means, 2)
    for arc, centre in zip(arcs, ([-1.0, -0.5], [1.0, 0.5]), strict=True):
        np.testing.assert_allclose(np.hypot(*(arc - centre).T), MOONS.radius)


def test_grid_by_factors_is_the_grid_by_points():
    axes = [np.linspace(low, high, 40) for low, high in MOONS.bounds(1e-7).T]
    np.testing.assert_allclose(
        MOONS._logpdf_on_grid(axes), Density._logpdf_on_grid(MOONS, axes), rtol=1e-9, atol=1e-9
    )


def test_truth_against_polar_grids_around_every_component():
    """The quadrature of a general mixture shares no point and no formula with the box."""
    X = MOONS.sample(1000, random_state=0)
    polar = GaussianMixture(MOONS.weights, MOONS.means, MOONS.covariances)
    reference = LevelTable(*polar._cells(CELLS // 2, 0))
    p, truth = MOONS.p_value(X), reference.mass_below(MOONS.logpdf(X))
    np.testing.assert_allclose(p[truth < 0.5], truth[truth < 0.5], atol=5e-4)
    np.testing.assert_allclose(p, truth, atol=5e-3)
    np.testing.assert_allclose(MOONS.volume(ALPHAS), reference.volume_above(ALPHAS), rtol=1e-3)
    np.testing.assert_allclose(MOONS.level(ALPHAS), reference.level(ALPHAS), rtol=3e-3)


def test_error_is_small_and_honest():
    X = MOONS.sample(2000, random_state=1)
    p, error = MOONS.p_value(X, return_error=True)
    fine = LevelTable(*Density._cells(MOONS, 4 * CELLS, 0)).mass_below(MOONS.logpdf(X))
    for below, most in ((0.1, 1e-4), (0.95, 3e-4), (1.0, 5e-3)):
        departure = np.abs(p - fine)[fine < below].max()
        assert departure < error[fine < below].max() < most


def test_hostile_parameters():
    for bad in (0, -1.0, np.nan, np.inf, None):
        with pytest.raises(ValueError, match="radius must be a positive"):
            TwoMoons(bad, 1.0)
        with pytest.raises(ValueError, match="width must be a positive"):
            TwoMoons(1.0, bad)
    with pytest.raises(ValueError, match=r"width must be at least radius / 20 = 0\.1, got 0\.09: choose"):
        TwoMoons(2.0, 0.09)
