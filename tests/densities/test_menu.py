"""What every ready-made density must do, whatever its shape."""

import doctest
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from workbench.densities import DENSITIES, FIG1, HEAVY_TAIL, MOONS, RING, SQUARE, Density, Ring
from workbench.levelsets import Grid

EVERY = pytest.mark.parametrize("density", DENSITIES.values(), ids=DENSITIES.keys())
CONTINUOUS = pytest.mark.parametrize(
    "density", [density for density in DENSITIES.values() if density is not SQUARE]
)


def bin_fit(density, X, bins=12):
    """p-value of a chi-squared test of the sample's bin counts against integrals of the pdf."""
    lower, upper = density.bounds(1e-2)
    fine = Grid(*(np.linspace(low, high, 20 * bins + 1) for low, high in zip(lower, upper, strict=True)))
    # Midpoints of the fine cells, so that 20 x 20 of them fill a bin.
    shift = np.array([fine.x[1] - fine.x[0], fine.y[1] - fine.y[0]]) / 2
    f = density.pdf(fine.points + shift).reshape(fine.shape)[:-1, :-1]
    expected = f.reshape(bins, 20, bins, 20).sum(axis=(1, 3)) * fine.cell_area * len(X)
    edges = [fine.y[::20], fine.x[::20]]
    observed = np.histogram2d(X[:, 1], X[:, 0], bins=edges)[0]
    often = expected > 10
    rest = len(X) - observed[often].sum(), len(X) - expected[often].sum()
    total = np.sum((observed - expected)[often] ** 2 / expected[often])
    total += (rest[0] - rest[1]) ** 2 / max(rest[1], 1)
    return stats.chi2.sf(total, often.sum())


@EVERY
def test_sample_follows_the_pdf(density):
    assert bin_fit(density, density.sample(40_000, random_state=1)) > 1e-3


def test_sample_of_another_density_is_found_out():
    assert bin_fit(Ring(3.0, 0.52), RING.sample(40_000, random_state=1)) < 1e-4
    assert bin_fit(MOONS, MOONS.sample(40_000, random_state=1) * 1.01) < 1e-4


@EVERY
def test_mass_is_one(density):
    grid = Grid.covering(density, 300)
    mass = (grid.evaluate(density.pdf) * grid.cell_area).sum()
    assert mass == pytest.approx(1, abs=density.negligible + 1e-4)


@CONTINUOUS
def test_p_value_of_nominal_points_is_uniform(density):
    assert stats.kstest(density.p_value(density.sample(20_000, random_state=5)), "uniform").pvalue > 0.01


@CONTINUOUS
def test_more_volume_takes_in_mass_at_the_rate_of_the_level(density):
    """-dv/dalpha = 1 / c(alpha)."""
    for alpha in (0.05, 0.3, 0.7):
        slope = (density.volume(alpha - 1e-3) - density.volume(alpha + 1e-3)) / 2e-3
        assert slope == pytest.approx(1 / density.level(alpha), rel=3e-3)


@EVERY
def test_volume_against_counted_points(density):
    """The area of {f > c}, and for the plateau of the square a part of it, by random points of a box."""
    lower, upper = density.bounds(1e-2)
    P = np.random.default_rng(0).uniform(lower, upper, (100_000, 2))
    share = np.mean(density.p_value(P) > 0.2)
    area = share * np.prod(upper - lower) * (0.8 if density is SQUARE else 1)
    assert density.volume(0.2) == pytest.approx(area, rel=0.05)


@EVERY
def test_bounds_hold_all_but_the_tail(density):
    X = density.sample(100_000, random_state=0)
    for tail in (0.1, 1e-2, 1e-6):
        lower, upper = density.bounds(tail)
        assert np.mean(~np.all((lower <= X) & (upper >= X), axis=1)) <= tail
    assert (np.ptp(density.bounds(1e-6), axis=0) >= np.ptp(density.bounds(1e-2), axis=0)).all()


@EVERY
def test_pictures_are_a_few_units_wide(density):
    assert (np.ptp(density.bounds(3e-3), axis=0) < 30).all()
    assert (np.ptp(density.bounds(3e-3), axis=0) > 3).all()


@EVERY
def test_same_seed_same_bytes(density):
    X = density.sample(50, random_state=7)
    assert X.shape == (50, 2)
    assert X.tobytes() == density.sample(50, np.random.default_rng(7)).tobytes()
    assert not np.array_equal(X, density.sample(50, random_state=8))
    assert density.sample(1).shape == (1, 2)


@EVERY
def test_scalars_arrays_and_errors(density):
    for question in (density.level, density.volume):
        assert np.ndim(question(0.1)) == 0
        value, error = question(np.array([[0.1, 0.2, 0.3]]), return_error=True)
        assert value.shape == error.shape == (1, 3)
        np.testing.assert_array_equal(value[0, 0], question(0.1))
        assert (error <= 1e-2 * value).all()
    p, error = density.p_value(density.sample(5, 0), return_error=True)
    assert p.shape == error.shape == (5,)


@EVERY
@pytest.mark.filterwarnings("error")
def test_far_away_and_nothing(density):
    far = np.array([1e5, 1e160, 1.7e308])[:, None] * [1.0, -1.0]
    assert (density.logpdf(far) < -20).all()
    np.testing.assert_allclose(density.p_value(far), 0, atol=1e-12)
    for question in (density.pdf, density.logpdf, density.p_value):
        assert question(np.empty((0, 2))).shape == (0,)


@EVERY
def test_hostile_points(density):
    for question in (density.pdf, density.logpdf, density.p_value):
        with pytest.raises(ValueError, match=r"shape \(n, 2\), got \(2,\): one row a point"):
            question([1.0, 2.0])
        with pytest.raises(ValueError, match="finite, got nan: drop or impute"):
            question([[0.0, np.nan]])


@EVERY
@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, np.nan, [0.1, 1.0]])
def test_hostile_alpha(density, alpha):
    for question in (density.level, density.volume):
        with pytest.raises(ValueError, match=r"alpha must lie strictly between 0 and 1, got .*: 0\.05"):
            question(alpha)
    with pytest.raises(ValueError, match="tail must lie"):
        density.bounds(alpha)


@EVERY
@pytest.mark.parametrize("n", [0, -3, 2.5, "ten", None])
def test_hostile_sample_size(density, n):
    with pytest.raises(ValueError, match="n must be a whole number, at least 1, got"):
        density.sample(n)


def test_the_menu():
    assert DENSITIES["Fig. 1: two discs"] is FIG1
    tips, other = np.split(MOONS.means, 2)
    nearest = np.linalg.norm(tips[[0, -1], None] - other, axis=2).min()
    assert nearest / MOONS.width == pytest.approx(10 / 3, rel=0.05)
    X = HEAVY_TAIL.sample(200_000, random_state=0)
    q = np.einsum("ij,jk,ik->i", X, np.linalg.inv(HEAVY_TAIL.scatter), X)
    assert np.mean(q > 100) == pytest.approx(1 / 200, rel=0.1)
    assert all(isinstance(density, Density) and density.d == 2 for density in DENSITIES.values())


@pytest.mark.parametrize("name", ["mixture", "ring", "student", "uniform"])
def test_examples_in_the_docstrings(name):
    outcome = doctest.testmod(import_module(f"workbench.densities.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
